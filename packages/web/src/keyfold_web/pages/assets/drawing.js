/* Drawing: elements, lists that keep what is unchanged, faces, times. Nobody who is at work in
   something that is drawn again loses their place, their words or their click. */

export const $ = (query, at = document) => at.querySelector(query);
export const $$ = (query, at = document) => [...at.querySelectorAll(query)];

/* ---------- making elements ---------- */

/** h("button.btn.main", { onclick, ariaLabel: "Like" }, "Like ", h("b", 3)): text is never HTML. */
export function h(kind, ...rest) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag || "div");
  if (classes.length) made.className = classes.join(" ");
  const given = rest[0];
  if (given && typeof given === "object" && !(given instanceof Node) && !Array.isArray(given)) {
    rest.shift();
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "dataset") Object.assign(made.dataset, value);
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      // What differs from it later was typed.
      else if (name === "value" && "defaultValue" in made) made.defaultValue = value;
      else if (name in made && !name.includes("-")) made[name] = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...rest.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

/* ---------- drawing again ---------- */

const PLACES = "a[href], button, input, textarea, select, summary, [tabindex]";
const TYPED = "textarea, input:not([type=checkbox], [type=radio], [type=file], [type=hidden])";
const called = (one) => one.id || one.name || one.ariaLabel || one.textContent;

/* Who was in something goes on in what is drawn in its place, with what was typed. */
function succeed(before, drawn) {
  const old = $$(PLACES, before), now = $$(PLACES, drawn);
  const heirOf = (one) => {
    const [kin, others] = [old, now].map((some) => some.filter((each) => each.tagName === one.tagName));
    return others.find((each) => called(each) === called(one)) || others[kin.indexOf(one)];
  };
  for (const one of old.filter((each) => each.matches(TYPED) && each.value !== each.defaultValue)) {
    const heir = heirOf(one);
    if (heir) heir.value = one.value;
  }
  const forms = $$("form", drawn);
  $$("form", before).forEach((one, at) => { one.heir = forms[at]; });
  const held = old.includes(document.activeElement) && document.activeElement, heir = held && heirOf(held);
  if (!heir) return undefined;
  return () => {
    heir.focus({ preventScroll: true });
    if (heir.setSelectionRange && held.selectionStart !== null) heir.setSelectionRange(held.selectionStart, held.selectionEnd);
  };
}

/** What stands in the place of an element that was drawn again meanwhile. */
export const current = (one) => (one.heir ? current(one.heir) : one);

/* What stays is not touched: an element that is taken out, if only for a moment, loses its focus. */
function place(container, nodes) {
  const held = document.activeElement, kept = new Set(nodes);
  for (const one of [...container.childNodes]) if (!kept.has(one)) one.remove();
  nodes.forEach((one, at) => { if (container.childNodes[at] !== one) container.insertBefore(one, container.childNodes[at] ?? null); });
  if (held !== document.activeElement && container.contains(held)) held.focus({ preventScroll: true });
}

/** Draw a container again, with other children. */
export function redraw(container, ...children) {
  const drawn = h("div", ...children), go = succeed(container, drawn);
  container.replaceChildren(...drawn.childNodes);
  go?.();
}

/** Show items in a container: nodes of unchanged items stay. */
export function list(container, items, key, make, empty = null) {
  const before = new Map($$(":scope > [data-key]", container).map((one) => [one.dataset.key, one]));
  const again = [];
  const nodes = items.map((item) => {
    const id = String(key(item)), text = JSON.stringify(item), known = before.get(id);
    if (known && known.shown === text) return known;
    const made = make(item);
    made.dataset.key = id;
    made.shown = text;
    if (known) again.push(succeed(known, made));
    else if (before.size) made.classList.add("fresh");
    return made;
  });
  if (!nodes.length && empty) nodes.push(empty());
  place(container, nodes);
  for (const go of again) go?.();
}

/* ---------- between press and release ---------- */

let pressed = null;
const LONGEST = 2000;

function press({ target, key }) {
  if (pressed || (key ?? " ") !== " " || !target.closest?.("a, button, label, summary, input[type=checkbox], input[type=radio]")) return;
  const now = pressed = {};
  now.over = new Promise((done) => { now.end = done; });
  setTimeout(release, LONGEST, now);
}
function release(one) {
  if (pressed === one) pressed = null;
  one?.end();
}
for (const one of ["pointerdown", "keydown"]) addEventListener(one, press, true);
// The click comes right behind the release.
for (const one of ["pointerup", "pointercancel", "keyup", "blur"]) addEventListener(one, () => setTimeout(release, 0, pressed));

/** A button that is drawn again while it is pressed would lose the click: what comes meanwhile waits. */
export const released = async () => { while (pressed) await pressed.over; };

/* ---------- what is shown of people and times ---------- */

/** A person's face: two letters in a colour of their own, or their picture. */
export function face(name, { picture = "", size = "" } = {}) {
  const words = String(name || "?").trim().split(/\s+/);
  const letters = (words[0][0] + (words.length > 1 ? words.at(-1)[0] : words[0][1] || "")).toUpperCase();
  let sum = 0;
  for (const one of String(name)) sum = (sum * 31 + one.codePointAt(0)) % 100003;
  const made = h(`span.face.e${1 + (sum % 8)}${size ? `.${size}` : ""}`, { "aria-hidden": "true" }, letters);
  if (picture) made.replaceChildren(h("img", { src: picture, alt: "", loading: "lazy" }));
  return made;
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const steps = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** "in 2 hours", "3 days ago"; the exact moment is its title. */
export function when(moment) {
  const date = new Date(moment), seconds = (date - Date.now()) / 1000;
  const step = steps.find(([, size]) => Math.abs(seconds) >= size);
  const text = step ? relative.format(Math.round(seconds / step[1]), step[0]) : "now";
  return h("time", { dateTime: date.toISOString(), title: day(date, { timeStyle: "short" }) }, text);
}

/** A day in the reader's words; with `timeStyle: "short"` the time too. */
export const day = (moment, more = {}) => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", ...more }).format(new Date(moment));

/** "1 order", "3 orders". */
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
