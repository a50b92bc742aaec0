import { examples } from "./examples.js";
import { classified, innermost as named, lineOf, operationAt, placeOf, pretty } from "./query-text.js";

const at = (id) => document.getElementById(id);
const kept = `keyfold-query:${location.pathname}`;
const past = `keyfold-history:${location.pathname}`;
const REMEMBERED = 30;
const SCHEMA = `{ __schema { queryType { name } mutationType { name } subscriptionType { name } types { name kind description
  fields { name description deprecationReason args { name description defaultValue type { ...T } } type { ...T } }
  inputFields { name description defaultValue type { ...T } } enumValues { name description }
  possibleTypes { name } interfaces { name } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;
let types = new Map();
let roots = {};
let known = {};

at("token").value = localStorage.getItem("keyfold-token") || "";
const shared = new URLSearchParams(location.hash.slice(1));
at("query").value = shared.get("query") || localStorage.getItem(kept) || "{\n  __typename\n}\n";
if (shared.get("variables")) at("variables").value = shared.get("variables");

const made = (tag, words, more = {}) => Object.assign(document.createElement(tag), { textContent: words }, more);

let listening = new AbortController();

function post(query, variables, more = {}, operationName = undefined) {
  const headers = { "content-type": "application/json", ...asked("headers"), ...more };
  const token = at("token").value.trim();
  if (token) headers.authorization = `Bearer ${token}`;
  const body = JSON.stringify({ query, variables, operationName });
  return fetch(location.pathname, { method: "POST", headers, body, signal: listening.signal });
}

// What stands in a box of JSON; nothing where it is empty.
function asked(id) {
  try {
    return JSON.parse(at(id).value.trim() || "{}");
  } catch (error) {
    throw new Error(`${id === "headers" ? "Headers" : "Variables"} are not valid JSON: ${error.message}`);
  }
}

async function send(query, variables, operationName) {
  const begun = performance.now();
  const answer = await post(query, variables, {}, operationName);
  const text = await answer.text();
  at("took").textContent = `${answer.status}, ${Math.round(performance.now() - begun)} ms, ${text.length.toLocaleString()} characters`;
  return JSON.parse(text);
}

// The answers of a subscription one by one, the newest first, until another query runs.
async function listen(query, variables, operationName) {
  const answer = await post(query, variables, { accept: "text/event-stream" }, operationName);
  if (!answer.headers.get("content-type").startsWith("text/event-stream")) return answer.json();
  at("answer").textContent = "Listening ...";
  at("stop").hidden = false;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const heard = [];
  for (let text = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return heard;
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const line = part.split("\n").find((one) => one.startsWith("data: {"));
      if (!line) continue;
      heard.unshift(JSON.parse(line.slice(6)));
      showAnswer(heard.slice(0, 50));
    }
  }
}

async function run() {
  localStorage.setItem(kept, at("query").value);
  localStorage.setItem("keyfold-token", at("token").value.trim());
  stop();
  const mine = listening = new AbortController();
  const query = at("query").value;
  const ask = /^\s*subscription\b/m.test(query) ? listen : send;
  try {
    const variables = asked("variables");
    remember(query, at("variables").value);
    const found = await ask(query, variables, operationAt(query, at("query").selectionStart) || undefined);
    showAnswer(found);
    if (query === at("query").value) told(found.errors || []);
  } catch (error) {
    if (error.name !== "AbortError") at("answer").textContent = error.message;
  }
  if (mine === listening) at("stop").hidden = true;
}

// An answer with its names, texts and numbers told apart.
function showAnswer(found) {
  const text = JSON.stringify(found, null, 2), shown = [];
  let end = 0;
  for (const one of text.matchAll(/"(?:[^"\\]|\\.)*"(:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g)) {
    const kind = one[1] ? "field" : one[0][0] === '"' ? "string" : "argument";
    shown.push(text.slice(end, one.index), made("span", one[0].slice(0, one[1] ? -1 : undefined), { className: `q-${kind}` }), one[1] || "");
    end = one.index + one[0].length;
  }
  at("answer").replaceChildren(...shown, text.slice(end));
}

function stop() {
  listening.abort();
  at("stop").hidden = true;
  at("took").textContent = "";
}

// What ran in this browser, kept here only; tokens and headers are not.
const history = () => { try { return JSON.parse(localStorage.getItem(past)) || []; } catch { return []; } };
function remember(query, variables) {
  const others = history().filter((one) => one.query !== query || one.variables !== variables);
  localStorage.setItem(past, JSON.stringify([{ query, variables, at: new Date().toLocaleString() }, ...others].slice(0, REMEMBERED)));
  showHistory();
}
function showHistory() {
  const all = history();
  at("past").hidden = !all.length;
  at("runs").replaceChildren(...all.map((one) => {
    const line = one.query.replace(/\s+/g, " ").trim().slice(0, 90);
    return made("button", line, { type: "button", title: `${one.at}\n${one.query}`, onclick: () => fill(one.query, one.variables) });
  }));
}
function fill(query, variables) {
  at("query").value = query;
  at("variables").value = variables;
  refused = [];
  paint();
}

// The colours of the query lie behind the box, whose own letters are not seen.
let refused = [];
function paint() {
  const box = at("query"), shown = [], wrong = [];
  let end = 0;
  for (const { token, at: place, kind, says } of classified(box.value, types, roots)) {
    const words = says || refused.find((one) => one.place === place)?.says;
    if (words) wrong.push({ place, says: words });
    const look = words ? "unknown" : kind;
    shown.push(box.value.slice(end, place), look ? made("span", token, { className: `q-${look}` }) : token);
    end = place + token.length;
  }
  showProblems(wrong);
  at("paint").replaceChildren(...shown, `${box.value.slice(end)}\n`);
  at("paint").scrollTop = box.scrollTop;
  at("paint").scrollLeft = box.scrollLeft;
}
at("query").addEventListener("scroll", () => { at("paint").scrollTop = at("query").scrollTop; at("paint").scrollLeft = at("query").scrollLeft; });

// What is wrong with the query, each a way to its place.
function showProblems(wrong) {
  const box = at("query");
  at("problems").hidden = !wrong.length;
  at("problems").replaceChildren(...wrong.map(({ place, says }) => {
    const { line, column } = lineOf(box.value, place), item = document.createElement("li");
    const go = () => { box.focus(); box.setSelectionRange(place, place); };
    item.append(made("button", `${line}:${column}`, { type: "button", onclick: go }), ` ${says}`);
    return item;
  }));
}
// What the service says is wrong, until the query changes.
function told(errors) {
  const text = at("query").value;
  refused = errors.flatMap((one) => (one.locations || []).slice(0, 1).map((where) => ({ place: placeOf(text, where), says: one.message })));
  paint();
}

function layOut() {
  try {
    fill(pretty(at("query").value), JSON.stringify(asked("variables"), null, 2));
  } catch (error) {
    at("answer").textContent = `This cannot be laid out: ${error.message}`;
  }
}

async function copyLink() {
  const link = new URL(location.href);
  link.hash = new URLSearchParams({ query: at("query").value, variables: at("variables").value });
  try {
    await navigator.clipboard.writeText(link.href);
    at("took").textContent = "The link is copied; it holds no token.";
  } catch { at("took").textContent = "The browser did not allow copying."; }
}
function written(type) {
  if (type.kind === "NON_NULL") return `${written(type.ofType)}!`;
  if (type.kind === "LIST") return `[${written(type.ofType)}]`;
  return type.name;
}

// Values, and what is inside of them as deep as a page's nodes; edges hold the nodes once more.
function selection(typeName, depth) {
  const type = types.get(typeName);
  if (!type || !type.fields) return "";
  const pad = "  ".repeat(depth);
  const lines = [];
  for (const field of type.fields) {
    const inner = types.get(named(field.type));
    if (!inner || !inner.fields) lines.push(`${pad}${field.name}`);
    else if (depth < 4 && field.name !== "edges") {
      const within = selection(inner.name, depth + 1);
      if (within) lines.push(`${pad}${field.name}${within}`);
    }
  }
  return lines.length ? ` {\n${lines.join("\n")}\n${"  ".repeat(depth - 1)}}` : "";
}

// What a person fills in: an enum's first value, an input's required fields.
function blank(type) {
  if (type.kind === "NON_NULL") return blank(type.ofType);
  if (type.kind === "LIST") return [blank(type.ofType)];
  const { enumValues, inputFields } = types.get(type.name) || {};
  if (enumValues) return enumValues[0].name;
  if (!inputFields) return "";
  const required = inputFields.filter((one) => one.type.kind === "NON_NULL");
  return Object.fromEntries(required.map((one) => [one.name, blank(one.type)]));
}

function compose(kind, field) {
  const required = field.args.filter((arg) => arg.type.kind === "NON_NULL");
  const declared = required.map((arg) => `$${arg.name}: ${written(arg.type)}`).join(", ");
  const passed = required.map((arg) => `${arg.name}: $${arg.name}`).join(", ");
  const values = known[field.name] || {};
  const variables = Object.fromEntries(required.map((arg) => [arg.name, values[arg.name] ?? blank(arg.type)]));
  const query = `${kind}${declared ? ` (${declared})` : ""} {
  ${field.name}${passed ? `(${passed})` : ""}${selection(named(field.type), 2)}
}
`;
  fill(query, JSON.stringify(variables, null, 2));
}

// A type by its name: what it has, and the way on and back.
const trail = [];
function opener(type) {
  const name = named(type);
  const known = types.get(name);
  if (!known || (known.kind === "SCALAR" && !known.description)) return made("code", written(type));
  return made("button", written(type), { type: "button", className: "type", onclick: () => openType(name) });
}
function openType(name) {
  trail.push(name);
  showType(name);
}
function showType(name) {
  const type = types.get(name), box = document.createElement("div");
  const back = () => { trail.pop(); if (trail.length) showType(trail.at(-1)); else showRoots(); };
  const before = trail.length > 1 ? trail.at(-2) : "Schema";
  box.append(made("button", `‹ ${before}`, { type: "button", className: "back", onclick: back }));
  box.append(made("h3", name), made("p", [type.kind.toLowerCase().replace("_", " "), type.description].filter(Boolean).join(". "), { className: "quiet" }));
  for (const one of type.fields || type.inputFields || []) {
    const line = document.createElement("div");
    line.append(made("code", one.name));
    (one.args || []).forEach((arg, place) => line.append(place ? ", " : "(", `${arg.name}: `, opener(arg.type), arg.defaultValue ? ` = ${arg.defaultValue}` : ""));
    line.append(one.args?.length ? "): " : ": ", opener(one.type), one.defaultValue ? ` = ${one.defaultValue}` : "");
    const told = [one.description, one.deprecationReason && `Deprecated: ${one.deprecationReason}`].filter(Boolean).join(" ");
    if (told) line.append(made("small", told));
    box.append(line);
  }
  for (const one of type.enumValues || []) box.append(made("div", one.name + (one.description ? `: ${one.description}` : "")));
  for (const [words, all] of [["Implements", type.interfaces], ["Is one of", type.possibleTypes]]) {
    if (!all?.length) continue;
    const line = made("p", `${words} `);
    all.forEach((one, place) => line.append(place ? ", " : "", opener({ name: one.name })));
    box.append(line);
  }
  at("schema").replaceChildren(box);
  box.querySelector("button").focus({ preventScroll: true });
}

function listing(kind, typeName, wanted) {
  const details = document.createElement("details");
  details.open = true;
  details.append(Object.assign(document.createElement("summary"), { textContent: kind }));
  for (const field of types.get(typeName)?.fields || []) {
    if (wanted && !field.name.toLowerCase().includes(wanted)) continue;
    const button = document.createElement("button");
    const args = field.args.map((arg) => `${arg.name}: ${written(arg.type)}`).join(", ");
    button.textContent = `${field.name}${args ? `(${args})` : ""}: ${written(field.type)}`;
    button.title = field.description || "";
    button.addEventListener("click", () => compose(kind, field));
    const line = document.createElement("div");
    line.append(button);
    if (types.get(named(field.type))?.fields) {
      line.append(made("button", "?", { type: "button", className: "about", title: `About ${named(field.type)}`, ariaLabel: `About ${named(field.type)}`, onclick: () => openType(named(field.type)) }));
    }
    details.append(line);
  }
  return details;
}

async function showSchema() {
  const [answer, values] = await Promise.all([post(SCHEMA, {}).then((one) => one.json()), examples()]);
  known = values;
  if (!answer.data) {
    at("schema").textContent = "The schema is shown in development mode only.";
    return;
  }
  const schema = answer.data.__schema;
  types = new Map(schema.types.map((type) => [type.name, type]));
  roots = {};
  for (const kind of ["query", "mutation", "subscription"]) {
    if (schema[`${kind}Type`]) roots[kind] = schema[`${kind}Type`].name;
  }
  at("filter").addEventListener("input", showRoots);
  showRoots();
  paint();
}

function showRoots() {
  trail.length = 0;
  const wanted = at("filter").value.toLowerCase();
  const lists = Object.entries(roots).map(([kind, name]) => listing(kind, name, wanted));
  const others = [...types.values()].filter((type) => wanted && !type.name.startsWith("__") && type.name.toLowerCase().includes(wanted));
  const found = others.map((type) => { const line = document.createElement("div"); line.append(opener({ name: type.name })); return line; });
  at("schema").replaceChildren(...lists, ...found);
}

// Completion: what can stand where the caret is, by the schema and the text before it.
const fieldOf = (type, name) => type?.fields?.find((one) => one.name === name);
function around(text) {
  const stack = [];
  let last = null, fragment = null, after = "";
  for (const [token] of text.matchAll(/#[^\n]*|"(?:[^"\\\n]|\\.)*"?|\$?\w+|[{}():]/g)) {
    const top = stack.at(-1);
    if (token[0] === "#" || token[0] === '"') continue;
    if (token === "{" && top?.kind === "args") stack.push({ kind: "value" });
    else if (token === "{") {
      const field = top && fieldOf(top.type, last);
      const name = fragment || (field ? named(field.type) : roots[last] || roots.query);
      stack.push({ kind: "fields", type: types.get(name) });
      fragment = null;
    } else if (token === "(") stack.push({ kind: "args", name: last, field: fieldOf(top?.type, last) });
    else if (token === "}" || token === ")") last = stack.pop()?.name ?? null;
    else if (token === ":") after = last;
    else {
      if (last === "on") fragment = token;
      last = token;
    }
    if (token !== ":") after = "";
  }
  return { ...stack.at(-1), after };
}

function offered(text) {
  const given = text.match(/(\w+)\s*:\s*"([^"\n]*)$/);
  if (given) {
    const values = new Set(Object.values(known).map((one) => one[given[1]]).filter(Boolean));
    const fit = [...values].filter((one) => one.startsWith(given[2]) && one !== given[2]);
    return { word: given[2], fit: fit.slice(0, 8).map((one) => [`${one}"`, "stored"]) };
  }
  const word = text.match(/\w*$/)[0];
  const place = around(text.slice(0, text.length - word.length));
  let found = [];
  if (place.kind === "fields") found = (place.type?.fields || []).map((one) => [one.name, written(one.type)]);
  else if (place.kind === "args") {
    const given = place.field?.args.find((one) => one.name === place.after);
    const values = given && types.get(named(given.type))?.enumValues;
    if (values) found = values.map((one) => [one.name, ""]);
    else if (!given) found = (place.field?.args || []).map((one) => [`${one.name}: `, written(one.type)]);
  } else if (!place.kind) found = Object.keys(roots).map((name) => [name, ""]);
  const low = word.toLowerCase();
  const fit = found.filter(([name]) => name.toLowerCase().startsWith(low) && name !== word);
  return { word, fit: fit.slice(0, 8) };
}

let chosen = -1;
function offer(asked) {
  const box = at("query"), list = at("offers");
  const { word, fit } = offered(box.value.slice(0, box.selectionStart));
  const show = (asked || word || /"$/.test(box.value.slice(0, box.selectionStart))) && fit.length > 0;
  list.hidden = !show;
  list.replaceChildren(...(show ? fit : []).map(([name, kind], number) => {
    const item = Object.assign(document.createElement("li"), { id: `offer-${number}`, textContent: name.trim() });
    item.setAttribute("role", "option");
    item.append(Object.assign(document.createElement("small"), { textContent: ` ${kind}` }));
    item.dataset.text = name;
    item.addEventListener("mousedown", (event) => { event.preventDefault(); take(item); });
    return item;
  }));
  if (show) placeOffers(box, list, word);
  mark(show ? 0 : -1);
}
// Under the word that is typed: every letter has one width.
function placeOffers(box, list, word) {
  const before = box.value.slice(0, box.selectionStart - word.length).split("\n");
  const style = getComputedStyle(box), measure = document.createElement("canvas").getContext("2d");
  measure.font = style.font;
  const left = parseFloat(style.paddingLeft) + measure.measureText("0").width * before.at(-1).length - box.scrollLeft;
  const down = parseFloat(style.paddingTop) + parseFloat(style.lineHeight) * before.length - box.scrollTop;
  list.style.left = `${Math.max(0, Math.min(left, box.clientWidth - list.offsetWidth))}px`;
  list.style.top = `${down}px`;
}
function mark(number) {
  chosen = number;
  [...at("offers").children].forEach((item, place) => item.setAttribute("aria-selected", String(place === number)));
  if (number >= 0) at("query").setAttribute("aria-activedescendant", `offer-${number}`);
  else at("query").removeAttribute("aria-activedescendant");
}
function take(item) {
  const box = at("query"), end = box.selectionStart;
  const { word } = offered(box.value.slice(0, end));
  box.setRangeText(item.dataset.text, end - word.length, end, "end");
  refused = [];
  paint();
  offer(item.dataset.text.endsWith(" "));
}
at("query").addEventListener("input", () => { refused = []; paint(); offer(false); });
at("query").addEventListener("blur", () => { at("offers").hidden = true; });
at("query").addEventListener("keydown", (event) => {
  if (event.key === " " && event.ctrlKey) { event.preventDefault(); offer(true); return; }
  const items = [...at("offers").children];
  if (at("offers").hidden || !items.length) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) mark((chosen + step + items.length) % items.length);
  else if (event.key === "Tab" || (event.key === "Enter" && !event.ctrlKey && !event.metaKey)) take(items[chosen]);
  else if (event.key === "Escape") at("offers").hidden = true;
  else return;
  event.preventDefault();
});

at("run").addEventListener("click", run);
at("stop").addEventListener("click", stop);
at("prettify").addEventListener("click", layOut);
at("copy-link").addEventListener("click", copyLink);
at("forget").addEventListener("click", () => { localStorage.removeItem(past); showHistory(); });
document.addEventListener("keydown", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  if (event.key === "Enter") run();
  else if (event.shiftKey && event.key.toLowerCase() === "p") { event.preventDefault(); layOut(); }
});
showHistory();
paint();
showSchema();
