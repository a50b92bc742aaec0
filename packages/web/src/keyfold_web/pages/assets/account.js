/* Somebody's own data, by the operations of `keyfold_web.PersonalData`: downloaded as a file, and deleted. */
import { $, become, count, doing, h, me, path, rest, say } from "./app.js";

const TRIES = 20, PAUSE = 250;
const own = () => path`/people/${me().id}/data`;

/** Save bytes or text as a file. */
export function save(content, type, name) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function download() {
  const found = [];
  for (let cursor = ""; cursor !== null;) {
    const page = await rest.get(`${own()}?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...page.items);
    cursor = page.cursor ?? null;
  }
  save(JSON.stringify(found, null, 2), "application/json", `${$(".brand").textContent}.json`);
  say(count(found.length, "record"));
}

/* Deleted some at a time. What is left when this page stops asking, the stream deletes. */
async function leave() {
  if (!confirm("Delete your account and everything in it? This cannot be undone.")) return;
  let done = false;
  for (let tries = 0; !done && tries < TRIES; tries += 1) {
    ({ done } = await rest.delete(own()).catch((error) => {
      // The session went with the account.
      if (tries && error.status === 401) return { done: true };
      throw error;
    }));
    if (!done) await new Promise((go) => setTimeout(go, PAUSE));
  }
  become(null);
  say(done ? "Your account is deleted" : "Your account is being deleted");
  location.hash = "#/";
}

/** A panel with both; `words` say what is deleted. */
export const dataPanel = (words) => h("section.panel", h("header", h("h2", "Your data")), h(".pad.stack", h("p.muted", words),
  h(".acts", h("button.btn", { type: "button", onclick: doing(download) }, "Download my data"), h("button.btn.danger", { type: "button", onclick: doing(leave) }, "Delete my account"))));

/** The place of somebody's account, drawn into `view`: their details, a form that may come later, beside their data. */
export async function account(view, details, words) {
  const place = h("section.panel");
  view.replaceChildren(h(".head", h("div", h("h1", "Your account"))), h(".cols.even", place, dataPanel(words)));
  place.replaceWith(await details);
}
