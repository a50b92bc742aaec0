"use strict";
const at = (id) => document.getElementById(id);
const kept = `keyfold-query:${location.pathname}`;
const SCHEMA = `{ __schema { queryType { name } mutationType { name } subscriptionType { name } types { name kind description
  fields { name description args { name type { ...T } } type { ...T } }
  inputFields { name type { ...T } } enumValues { name } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;
let types = new Map();
let roots = {};

at("token").value = localStorage.getItem("keyfold-token") || "";
at("query").value = localStorage.getItem(kept) || "{\n  __typename\n}\n";

let listening = new AbortController();

function post(query, variables, more = {}) {
  const headers = { "content-type": "application/json", ...more };
  const token = at("token").value.trim();
  if (token) headers.authorization = `Bearer ${token}`;
  const body = JSON.stringify({ query, variables });
  return fetch(location.pathname, { method: "POST", headers, body, signal: listening.signal });
}

const send = async (query, variables) => (await post(query, variables)).json();

// The answers of a subscription one by one, the newest first, until another query runs.
async function listen(query, variables) {
  const answer = await post(query, variables, { accept: "text/event-stream" });
  if (!answer.headers.get("content-type").startsWith("text/event-stream")) return answer.json();
  at("answer").textContent = "Listening ...";
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
      at("answer").textContent = JSON.stringify(heard.slice(0, 50), null, 2);
    }
  }
}

async function run() {
  localStorage.setItem(kept, at("query").value);
  localStorage.setItem("keyfold-token", at("token").value.trim());
  let variables;
  try {
    variables = JSON.parse(at("variables").value || "{}");
  } catch (error) {
    at("answer").textContent = `Variables are no JSON: ${error.message}`;
    return;
  }
  listening.abort();
  listening = new AbortController();
  const query = at("query").value;
  const ask = /^\s*subscription\b/m.test(query) ? listen : send;
  try {
    at("answer").textContent = JSON.stringify(await ask(query, variables), null, 2);
  } catch (error) {
    if (error.name !== "AbortError") at("answer").textContent = `No answer: ${error.message}`;
  }
}

const named = (type) => (type.ofType ? named(type.ofType) : type.name);
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
  const variables = Object.fromEntries(required.map((arg) => [arg.name, blank(arg.type)]));
  at("query").value = `${kind}${declared ? ` (${declared})` : ""} {
  ${field.name}${passed ? `(${passed})` : ""}${selection(named(field.type), 2)}
}
`;
  at("variables").value = JSON.stringify(variables, null, 2);
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
    details.append(button);
  }
  return details;
}

async function showSchema() {
  const answer = await send(SCHEMA, {});
  if (!answer.data) {
    at("schema").textContent = "The schema is shown in development mode only.";
    return;
  }
  const schema = answer.data.__schema;
  types = new Map(schema.types.map((type) => [type.name, type]));
  roots = { query: schema.queryType.name, mutation: schema.mutationType?.name };
  const show = () => {
    const wanted = at("filter").value.toLowerCase();
    at("schema").replaceChildren(listing("query", schema.queryType.name, wanted));
    for (const kind of ["mutation", "subscription"]) {
      const type = schema[`${kind}Type`];
      if (type) at("schema").append(listing(kind, type.name, wanted));
    }
  };
  at("filter").addEventListener("input", show);
  show();
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
  const word = text.match(/\w*$/)[0];
  const place = around(text.slice(0, text.length - word.length));
  let found = [];
  if (place.kind === "fields") found = (place.type?.fields || []).map((one) => [one.name, written(one.type)]);
  else if (place.kind === "args") {
    const given = place.field?.args.find((one) => one.name === place.after);
    const values = given && types.get(named(given.type))?.enumValues;
    if (values) found = values.map((one) => [one.name, ""]);
    else if (!given) found = (place.field?.args || []).map((one) => [`${one.name}: `, written(one.type)]);
  } else if (!place.kind) found = [["query", ""], ["mutation", ""]].filter(([name]) => roots[name]);
  const low = word.toLowerCase();
  const fit = found.filter(([name]) => name.toLowerCase().startsWith(low) && name !== word);
  return { word, fit: fit.slice(0, 8) };
}

let chosen = -1;
function offer(asked) {
  const box = at("query"), list = at("offers");
  const { word, fit } = offered(box.value.slice(0, box.selectionStart));
  const show = (asked || word) && fit.length > 0;
  list.hidden = !show;
  box.setAttribute("aria-expanded", String(Boolean(show)));
  list.replaceChildren(...(show ? fit : []).map(([name, kind], number) => {
    const item = Object.assign(document.createElement("li"), { id: `offer-${number}`, textContent: name.trim() });
    item.setAttribute("role", "option");
    item.append(Object.assign(document.createElement("small"), { textContent: ` ${kind}` }));
    item.dataset.text = name;
    item.addEventListener("mousedown", (event) => { event.preventDefault(); take(item); });
    return item;
  }));
  mark(show ? 0 : -1);
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
  offer(item.dataset.text.endsWith(" "));
}
at("query").addEventListener("input", () => offer(false));
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
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
showSchema();
