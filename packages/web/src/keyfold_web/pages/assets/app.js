/* Pages for people: who is here, calls of the service, what changes meanwhile, forms, toasts.
   A page's own script imports what it needs: import { rest, subscribe } from "../../assets/app.js" */
import { $, $$, current, day, face, h, released } from "./drawing.js";

export { $, $$, count, day, face, h, list, redraw, when } from "./drawing.js";

const root = document.documentElement;
const here = new URL(".", location.href);
const service = new URL("..", here);
const top = new URL("..", service);
const development = "development" in root.dataset;
const offered = JSON.parse(root.dataset.people || "[]");

/* ---------- saying something ---------- */

/** A few words at the bottom of the page; `bad` for what did not work. */
export function say(words, { bad = false } = {}) {
  const place = $("#toasts");
  const toast = h(bad ? "div.toast.bad" : "div.toast", { role: bad ? "alert" : null }, words);
  place.append(toast);
  // Above an open dialog too.
  if (place.showPopover) { if (place.matches(":popover-open")) place.hidePopover(); place.showPopover(); }
  while (place.children.length > 3) place.firstChild.remove();
  setTimeout(() => { toast.remove(); if (!place.children.length && place.hidePopover) place.hidePopover(); }, bad ? 6000 : 3000);
}

/* ---------- who is here ---------- */

const KEY = `keyfold-person:${service.pathname}`;
const kept = () => sessionStorage.getItem(KEY) || localStorage.getItem(KEY);
let person = JSON.parse(kept() || "null"), hasAccount = false;
const told = [];

/** Who is signed in: { id, name, token }, or null. A tab may have a person of its own. */
export const me = () => person;

/** Call `tell` with who is signed in, now and whenever that changes. */
export function onPerson(tell) {
  told.push(tell);
  return tell(person);
}

/** Go on as this person: { id, name, groups, token }; null signs out. */
export function become(one) {
  const same = one && one.id === person?.id && one.name === person.name;
  person = one;
  if (one) for (const place of [sessionStorage, localStorage]) place.setItem(KEY, JSON.stringify(one));
  else for (const place of [sessionStorage, localStorage]) place.removeItem(KEY);
  showPerson();
  changes.restart();
  // Who only has a new token goes on where they are, with what they typed.
  if (!same) for (const tell of told) tell(person);
}

/* Signed out in another tab: what stands here stays, and nothing is sent before they sign in again. */
addEventListener("storage", ({ key, oldValue, newValue }) => {
  if (key !== KEY || newValue || !person || JSON.parse(oldValue || "null")?.id !== person.id) return;
  sessionStorage.removeItem(KEY);
  person = { ...person, token: "" };
  showPerson();
  say("You signed out in another tab.", { bad: true });
});

/** Get a token of a development server. */
async function token(id, groups = []) {
  const answer = await fetch(new URL("sign-in", top), {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ user: id, groups }),
  });
  if (!answer.ok) throw await problem(answer);
  return (await answer.json()).token;
}

/** Sign in as somebody, on a development server. */
export async function signIn({ id, name = id, groups = [] }) {
  become({ id, name, groups, token: await token(id, groups) });
  say(`You are ${name}`);
}

/** Let somebody choose who they are. */
export function chooseWho() {
  if (!$("#people").open) $("#people").showModal();
  return undefined;
}

/** What somebody sees who has not signed in: what this is, the way in, and what one does here. */
export const welcome = (title, words, points = [], ways = [h("button.btn.main", { type: "button", onclick: chooseWho }, "Sign in")]) => h("section.welcome",
  h("h1", title), h("p", words), h(".acts", ways),
  h("ul", points.map(([name, more]) => h("li", h("b", name), h("span", more)))));

function showPerson() {
  const button = $("#who"), here = person?.token;
  button.replaceChildren(here ? face(person.name, { size: "small" }) : "", h("span.clip", here ? person.name : "Sign in"));
  button.title = here ? `${person.name}: change` : "Sign in";
  for (const one of $$("#people [data-id]")) one.setAttribute("aria-current", String(one.dataset.id === person?.id));
  $("#people-title").textContent = here ? person.name : "Who are you?";
  $("#sign-out").hidden = !here;
  $("#own").hidden = !here || !hasAccount;
  // Only a development server lets one become somebody else without signing out.
  for (const one of $$("#people form :is(.field, .main)")) one.hidden = Boolean(here) && !development;
}

function setUpPeople() {
  const dialog = $("#people");
  $(".rows", dialog).replaceChildren(...offered.map((one) => h("button", {
    type: "button", dataset: { id: one.id },
    onclick: () => { dialog.close(); signIn(one).catch(show); },
  }, face(one.name), h("span.what", h("b", one.name), h("small", [one.id, ...one.groups.map((group) => group.replaceAll("_", " "))].join(" · "))))));
  form($("form", dialog), async ({ id, token: given }) => {
    if (development) await signIn({ id });
    else become({ id: id || "you", name: id || "You", token: given });
    dialog.close();
  });
  $("#sign-out").addEventListener("click", doing(() => {
    dialog.close();
    become(null);
  }));
  $("#own").addEventListener("click", () => dialog.close());
  $("#who").addEventListener("click", () => (person?.token ? dialog.showModal() : chooseWho()));
}

/* ---------- calling the service ---------- */

/** What went wrong, as the service says it: status, code, message, errors by field. */
export class Problem extends Error {
  constructor({ status = 0, code = "", title = "", detail = "", errors = [], retryAfter }) {
    super(detail || title || "Something went wrong.");
    Object.assign(this, { status, code, title, errors: errors || [], retryAfter });
  }
}

async function problem(answer) {
  const body = await answer.json().catch(() => ({}));
  const [first] = body.errors || [];
  if (first?.extensions) return new Problem({ ...first.extensions, detail: first.message });
  return new Problem({ status: answer.status, title: answer.statusText, ...body });
}

/** Show an error in a toast; a page's last resort. */
export function show(error) {
  if (error.status === 401) {
    if (person) say("Sign in again to go on. What you typed stays.", { bad: true });
    return chooseWho();
  }
  // A moment that the service names, in the reader's words.
  return say(error.message.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => day(at, { timeStyle: "short" })), { bad: true });
}

/* A place of which there is nothing to show. Its address stays, so that a reload says the same. */
function lost(words) {
  $("#lost").replaceChildren(h(".panel", h(".empty", h("h1", "Not found"), h("p", words), h("a.btn", { href: "#/" }, "Back to start"))));
  $("#main").dataset.lost = "";
}

/** What was asked for is not there, or not for them: say so in its place. */
export function gone(error) {
  if (![403, 404].includes(error.status) && !["NOT_ALLOWED", "NOT_FOUND"].includes(error.code)) return show(error);
  // A refusal does not tell what is not there from what is not for them.
  return lost(error.code === "NOT_ALLOWED" ? "It was deleted, or it is not shared with you." : error.message);
}

async function send(url, options, again = true) {
  const headers = { ...options.headers };
  if (person?.token) headers.authorization = `Bearer ${person.token}`;
  let answer;
  try {
    answer = await fetch(new URL(url, service), { ...options, headers });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    // Sent once more: reads may be, and a write has its key, so that it happens once.
    if (again) return new Promise((done) => setTimeout(done, 400)).then(() => send(url, options, false));
    throw new Problem({ code: "OFFLINE", detail: "The server cannot be reached. Try again." });
  }
  if (answer.status === 401 && person?.token && development && again) {
    // A development server that was started anew knows none of its old tokens.
    become({ ...person, token: await token(person.id, person.groups) });
    return send(url, options, false);
  }
  return answer;
}

/** path`/groups/${id}/feed`: what is put in is escaped. */
export const path = (texts, ...values) => texts.reduce((made, text, at) => made + encodeURIComponent(values[at - 1]) + text);

/* How many writes of this page were answered, when the last one was, and the work of buttons that is not done. */
let written = 0, wroteAt = -Infinity;
const atWork = new Set();
const MOST_READS = 4;

async function call(method, url, body, { headers = {}, signal } = {}, turn = 1) {
  const before = written, sent = { method, signal, headers: { accept: "application/json", ...headers } };
  if (method !== "GET") sent.headers = { "idempotency-key": crypto.randomUUID(), ...sent.headers };
  if (body !== undefined) {
    sent.body = JSON.stringify(body);
    sent.headers["content-type"] = "application/json";
  }
  const answer = await send(url.replace(/^\//, ""), sent);
  if (method !== "GET") { written += 1; wroteAt = performance.now(); }
  if (!answer.ok) throw await problem(answer);
  const found = answer.status === 204 ? null : await answer.json();
  await released();
  // It was on its way while something was written: it may be older than what stands here already.
  if (method === "GET" && before !== written && turn < MOST_READS) return call(method, url, body, { headers, signal }, turn + 1);
  return found;
}

/** The service's REST operations: await rest.post("/groups", { name }). */
export const rest = {
  get: (url, options) => call("GET", url, undefined, options),
  post: (url, body, options) => call("POST", url, body, options),
  put: (url, body, options) => call("PUT", url, body, options),
  patch: (url, body, options) => call("PATCH", url, body, options),
  delete: (url, options) => call("DELETE", url, undefined, options),
};

/** A GraphQL request; the first error is thrown as a Problem. */
export async function graphql(query, variables = {}) {
  const answer = await send("graphql", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query, variables }),
  });
  if (!answer.ok) throw await problem(answer);
  const { data, errors } = await answer.json();
  if (errors) throw new Problem({ ...errors[0].extensions, detail: errors[0].message });
  return data;
}

/* ---------- what changes meanwhile ---------- */

const pause = (tries) => new Promise((done) => setTimeout(done, Math.min(15000, 500 * 2 ** tries) * (0.5 + Math.random() / 2)));

/* A stream of events for each subscription, where the server has no WebSockets (graphql-sse). */
const streams = {
  open: new Map(),

  add(one) {
    this.begin(one);
    return () => { this.open.get(one)?.abort(); this.open.delete(one); };
  },
  begin(one) {
    const control = new AbortController();
    this.open.set(one, control);
    this.follow(one, control).catch((error) => { if (!control.signal.aborted) throw error; });
  },
  async follow(one, control) {
    for (let tries = 0; !control.signal.aborted; tries += 1) {
      try {
        const answer = await send("graphql", {
          method: "POST", signal: control.signal, body: JSON.stringify({ query: one.query, variables: one.variables }),
          headers: { "content-type": "application/json", accept: "text/event-stream" },
        });
        if (!answer.ok) return one.error(await problem(answer));
        $("#offline").hidden = true;
        tries = 0;
        one.open();
        if (await this.read(one, answer.body)) return undefined;
      } catch (error) {
        if (control.signal.aborted) return undefined;
        $("#offline").hidden = tries < 1;
      }
      await pause(tries);
    }
    return undefined;
  },
  /* Whether the server said that it is over. */
  async read(one, body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return false;
      const parts = (text + value).split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        if (part.startsWith("event: complete")) return true;
        const line = part.split("\n").find((each) => each.startsWith("data: "));
        if (line) heard(one, JSON.parse(line.slice(6)));
      }
    }
  },
  restart() { for (const [one, control] of [...this.open]) { control.abort(); this.begin(one); } },
};

async function heard(one, { data, errors }) {
  await released();
  if (data) return one?.next(data);
  return one?.error(new Problem({ ...errors[0].extensions, detail: errors[0].message }));
}

/* One socket for all subscriptions of the page (graphql-transport-ws). It comes back by itself. */
const socket = {
  wanted: new Map(), socket: null, ready: false, tries: 0, number: 0,

  add(one) {
    const id = String(++this.number);
    this.wanted.set(id, one);
    if (this.ready) this.start(id); else this.connect();
    return () => {
      if (!this.wanted.delete(id)) return;
      if (this.ready) this.send({ id, type: "complete" });
      if (!this.wanted.size) this.close();
    };
  },
  send(message) { this.socket.send(JSON.stringify(message)); },
  start(id) {
    const { query, variables } = this.wanted.get(id);
    this.send({ id, type: "subscribe", payload: { query, variables } });
    // Answered behind the subscription: from then on no change is missed.
    this.send({ type: "ping", payload: { id } });
  },
  connect() {
    if (this.socket || !this.wanted.size) return;
    const url = new URL("graphql", service);
    url.protocol = url.protocol.replace("http", "ws");
    const made = this.socket = new WebSocket(url, "graphql-transport-ws");
    made.onopen = () => this.send({ type: "connection_init", payload: person?.token ? { authorization: `Bearer ${person.token}` } : {} });
    made.onmessage = ({ data }) => { if (made === this.socket) this.take(JSON.parse(data)); };
    made.onclose = async () => {
      if (made !== this.socket) return;
      this.socket = null;
      this.ready = false;
      if (!this.wanted.size) return;
      $("#offline").hidden = this.tries < 1;
      await pause(this.tries++);
      this.connect();
    };
  },
  take({ id, type, payload }) {
    const one = this.wanted.get(id ?? payload?.id);
    if (type === "connection_ack") {
      this.ready = true;
      this.tries = 0;
      $("#offline").hidden = true;
      for (const known of this.wanted.keys()) this.start(known);
    } else if (type === "ping") this.send({ type: "pong" });
    else if (type === "pong") one?.open();
    else if (type === "next") heard(one, payload);
    else if (type === "error") { this.wanted.delete(id); heard(one, { errors: payload }); }
    else if (type === "complete") this.wanted.delete(id);
  },
  close() { const was = this.socket; this.socket = null; this.ready = false; was?.close(1000); },
  restart() { this.close(); this.tries = 0; this.connect(); },
};

const changes = "sockets" in root.dataset ? socket : streams;

/**
 * Hear of changes: subscribe("subscription ($id: String!) { said(roomId: $id) { text } }", { id },
 * { open: load, next: ({ said }) => add(said) }). `open` is called whenever the subscription has
 * begun, also after a lost connection: load what is there now. `error` is told what fails, also in
 * `open` and `next`; nothing is called once it has ended. Returns what ends it.
 */
export function subscribe(query, variables, { next, open, error = show } = {}) {
  let over = false;
  const failed = (problem) => { if (!over) error(problem); };
  const calling = (work) => async (...given) => { try { if (!over) await work?.(...given); } catch (problem) { failed(problem); } };
  const end = changes.add({ query, variables, next: calling(next), open: calling(open), error: failed });
  return () => { over = true; end(); };
}

const BEHIND = [1000, 3000];

/** What was just written may be missing in an index for a while: read it again then. `.end()` stops it. */
export function afterwards(read) {
  let timers = [];
  const go = () => { go.end(); timers = BEHIND.map((time) => setTimeout(read, time)); };
  go.end = () => timers.forEach(clearTimeout);
  return go;
}

/**
 * Load now, and whenever one of these subscriptions, [query, variables], tells of something; once at
 * a time. `load` may return further subscriptions that what it found asks for. Returns what ends it.
 */
export function live(load, ...wanted) {
  let running = false, again = false, left = false;
  const ends = new Map(), at = location.hash;
  const turn = async () => {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again && !left) { again = false; follow([...wanted, ...((await load()) || [])]); }
    } catch (error) { failed(error); } finally { running = false; }
  };
  // Who deletes what is shown here is led elsewhere when that is done: it is not lost.
  const failed = async (error) => {
    while (atWork.size) await Promise.allSettled(atWork);
    if (!left && (location.hash === at || !location.hash.startsWith("#/"))) gone(error);
  };
  const later = afterwards(turn), heard = () => { later(); return turn(); };
  const open = () => (performance.now() - wroteAt < BEHIND.at(-1) ? heard() : turn());
  function follow(all) {
    const known = new Map(left ? [] : all.map((one) => [JSON.stringify(one), one]));
    for (const [key, end] of ends) if (!known.has(key)) { end(); ends.delete(key); }
    for (const [key, [query, variables]] of known) if (!ends.has(key)) ends.set(key, subscribe(query, variables, { open, next: heard, error: failed }));
  }
  follow(wanted);
  turn();
  return () => { left = true; later.end(); follow([]); };
}

/* ---------- forms ---------- */

/* What is around words is not meant; a token is taken as it is. */
const typed = ({ type, value }) => (type === "password" ? value : value.trim());

/* A limit is told, not enforced: what is pasted is never cut. */
addEventListener("focusin", ({ target }) => {
  const most = target.maxLength;
  if (!(most > 0)) return;
  target.removeAttribute("maxlength");
  target.addEventListener("input", () => {
    const long = typed(target).length;
    target.setCustomValidity(long > most ? `At most ${most} characters; these are ${long}.` : "");
  });
});

/** What is wrong with what is typed in a field, if anything. */
function wrongAt(field) {
  if (!field.validity.valid) return field.validationMessage;
  if (!field.required || field.type === "checkbox" || typed(field)) return "";
  return "Please fill out this field.";
}

function valueOf(field) {
  const { type } = field, value = typed(field);
  if (type === "checkbox") return field.value === "on" ? field.checked : field.checked ? value : undefined;
  if (type === "select-multiple") return [...field.selectedOptions].map((one) => one.value);
  if (value === "") return "empty" in field.dataset ? (field.dataset.empty === "null" ? null : field.dataset.empty) : undefined;
  if (type === "number" || type === "range") return Number(value);
  if (type === "datetime-local") return new Date(value).toISOString();
  return value;
}

/** The values of a form by name: numbers are numbers, times have their zone, what is empty is left out. */
export function valuesOf(element) {
  const values = {};
  for (const field of element.elements) {
    if (!field.name || field.disabled || (field.type === "radio" && !field.checked) || field.tagName === "BUTTON") continue;
    const value = valueOf(field);
    const several = "many" in field.dataset;
    if (several && !(field.name in values)) values[field.name] = [];
    if (value === undefined) continue;
    if (several) values[field.name].push(...[value].flat());
    else values[field.name] = value;
  }
  return values;
}

function clearErrors(element) {
  for (const one of $$(".err", element)) one.remove();
  for (const field of $$("[aria-invalid]", element)) { field.removeAttribute("aria-invalid"); field.removeAttribute("aria-describedby"); }
}

function showAt(element, name, message) {
  const wanted = name.split(".");
  const field = [...element.elements].find((one) => one.name && (one.name === name || wanted.includes(one.name)));
  if (!field || field.type === "hidden") return false;
  const said = h("p.err", { id: `err-${Math.random().toString(36).slice(2)}` }, message);
  (field.closest(".field") || field.parentElement).append(said);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", said.id);
  return field;
}

/** Carry out `submit(values, element)` when a form is sent; errors stand at their fields, what was typed stays. */
export function form(element, submit, { done = "" } = {}) {
  element.noValidate = true;
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (element.ariaBusy === "true") return;
    clearErrors(element);
    const wrong = [...element.elements].filter((one) => one.name && !one.disabled && wrongAt(one));
    for (const one of wrong) showAt(element, one.name, wrongAt(one));
    if (wrong.length) return wrong[0].focus();
    const buttons = $$("button:not([type=button])", element).filter((one) => !one.disabled);
    element.ariaBusy = "true";
    for (const one of buttons) one.disabled = true;
    try {
      await submit(valuesOf(element), element);
      if ("reset" in element.dataset) current(element).reset();
      if (done) say(done);
    } catch (error) {
      const errors = error.errors || [];
      const shown = errors.map((one) => showAt(current(element), one.path, one.message)).filter(Boolean);
      if (shown.length) shown[0].focus();
      if (shown.length < errors.length || !errors.length) show(error);
      if (!(error instanceof Problem)) console.error(error);
    } finally {
      element.ariaBusy = "false";
      for (const one of buttons) one.disabled = false;
    }
  });
  return element;
}

/** A button's work: not twice at once, and its errors are shown. It is not disabled: that would take its focus. */
export const doing = (work) => async (event) => {
  const button = event.currentTarget;
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  const done = (async () => work(event))();
  atWork.add(done);
  try { await done; } catch (error) { show(error); } finally { atWork.delete(done); button.ariaBusy = "false"; }
};

/* ---------- places within a page ---------- */

/**
 * Views by the address behind "#/": route({ "": home, "groups/:id": ({ id }, view) => group(id, view) }).
 * A view draws into the element that it is given: a new #view for each visit, so that the late answer
 * of a view that was left draws over nothing. What a view throws is shown in its place. It may
 * return what to do when it is left (ending its subscriptions). A link of the bar is current also for
 * places that begin with one of its `data-also`. A view at "you" is somebody's own account: the button
 * with their name leads to it.
 */
export function route(views) {
  let leave = null, turn = 0, shown = null;
  hasAccount = "you" in views;
  showPerson();
  const go = async () => {
    // Another "#" is a place within the view.
    if (location.hash && !location.hash.startsWith("#/")) return;
    const mine = ++turn;
    shown = location.hash;
    leave?.();
    leave = null;
    delete $("#main").dataset.lost;
    $("#lost").replaceChildren();
    const at = location.hash.replace(/^#\/?/, "");
    for (const link of $$(".tabbar a")) {
      const own = link.hash.replace(/^#\/?/, ""), also = link.dataset.also?.split(" ") ?? [];
      if (at === own || [own, ...also].some((one) => one && at.startsWith(`${one}/`))) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    for (const [pattern, view] of Object.entries(views)) {
      const names = [];
      const fits = at.match(new RegExp(`^${pattern.replace(/:(\w+)/g, (_, name) => { names.push(name); return "([^/]+)"; })}$`));
      if (!fits) continue;
      const before = $("#view"), place = before?.cloneNode(false);
      before?.replaceWith(place);
      try {
        const left = await view(Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(fits[index + 1])])), place);
        if (mine === turn) leave = typeof left === "function" ? left : null;
        else if (typeof left === "function") left();
      } catch (error) { if (mine === turn) gone(error); }
      return;
    }
    lost("This page does not exist.");
  };
  addEventListener("hashchange", () => {
    // Two changes at once are told one after the other: the second finds its view, and perhaps a dialog, there already.
    if (location.hash === shown) return;
    // The way back leads out of a dialog too.
    for (const one of $$("dialog[open]")) one.close();
    go();
  });
  told.push(go);
  return go();
}

/* ---------- the frame ---------- */

for (const one of $$("dialog")) {
  // Who opens a form begins to type; else the button that closes it would have the focus.
  if (one.id !== "people") $("form :is(input, textarea, select)", one)?.setAttribute("autofocus", "");
  one.addEventListener("click", (event) => { if (event.target === one) one.close(); });
  for (const button of $$("[data-close]", one)) button.addEventListener("click", () => one.close());
}
for (const one of $$("[data-open]")) one.addEventListener("click", () => $(one.dataset.open).showModal());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const wanted = $(`[data-key-press="${CSS.escape(event.key)}"]`);
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("input, textarea, select")) wanted.focus(); else wanted.click();
});
setUpPeople();
showPerson();
