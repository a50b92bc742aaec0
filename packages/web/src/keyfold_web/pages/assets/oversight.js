/* Order among people: a button that asks moderators to look at something, and their place, with what
   waits, what they decide and the trail of it. A service whose operations are not those of
   `keyfold_web.Oversight` says how it does each. */
import { count, doing, face, form, h, list, me, moderates, path, rest, show, when } from "./app.js";

/** Ask what is wrong; `send(reason)` tells the moderators. */
export function report(send) {
  const why = form(h("form.stack", h(".field", h("label", { htmlFor: "report-reason" }, "What is wrong?"), h("textarea", { autofocus: true, id: "report-reason", name: "reason", required: true, maxLength: 500 })),
    h(".acts", h("button.btn.main.wide", "Report it"))), async ({ reason }) => {
    await send(reason);
    dialog.close();
  }, { done: "Thank you. A moderator will look at it." });
  const dialog = ask("report-title", "Report", why);
}

/** A button that reports something, by the service's `report` unless it is said how. */
export const reportButton = (kind, subjectId, send = (reason) => rest.post("/reports", { kind, subjectId, reason })) => h("button.btn.quiet.small",
  { type: "button", onclick: () => report(send) }, "Report");

function ask(id, title, content) {
  const dialog = h("dialog", { "aria-labelledby": id }, h("header", h("h2", { id }, title),
    h("button.icon", { type: "button", ariaLabel: "Close", onclick: () => dialog.close() }, "✕")), content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/* ---------- for moderators ---------- */

const DID = { dismiss: "left", remove: "removed", suspend: "suspended", restore: "let in again", reinstate: "let in again", role: "changed the role of", dismissed: "left", removed: "removed" };

/* How the operations of `keyfold_web.Oversight` are called. */
const shared = {
  reports: async () => (await rest.get("/reports?limit=100")).items,
  decide: ({ kind, subjectId }, decision, reason) => rest.post("/decisions", { kind, subjectId, decision, reason }),
  trail: async (month) => (await rest.get(path`/audit?limit=100&month=${month.toISOString()}`)).items,
  suspend: ({ ownerId }, reason) => rest.put(path`/users/${ownerId}/suspension`, { hours: 24, reason }),
  removal: () => "Remove it",
  suspension: "Suspend them for a day",
  /* What was done, by the last word of an action of the service's own. */
  did: {},
  /* What reports are decided together. */
  key: ({ kind, subjectId }) => `${kind} ${subjectId}`,
};

/** The place of moderators, drawn into `view`. */
export function moderation(view, service = {}) {
  const ways = { ...shared, ...service };
  const waiting = h(".rows"), decided = h(".rows"), head = h("p"), title = h("span.muted");
  let month = new Date();

  function decide(about, decision) {
    const words = { dismiss: "Dismiss", remove: ways.removal(about), suspend: ways.suspension }[decision];
    const why = form(h("form.stack", about.excerpt && h("p.words", `“${about.excerpt}”`),
      h(".field", h("label", { htmlFor: "decision-reason" }, "Why?"), h("textarea", { autofocus: true, id: "decision-reason", name: "reason", required: true, maxLength: 500 }), h("span.hint", "It is recorded in the audit trail, with your name.")),
      h(".acts", h(`button.btn.wide.${decision === "dismiss" ? "main" : "danger"}`, words))), async ({ reason }) => {
      await (decision === "suspend" ? ways.suspend(about, reason) : ways.decide(about, decision, reason));
      dialog.close();
      await load();
    }, { done: "Decided" });
    const dialog = ask("decision-title", words, why);
  }

  const row = (about) => h(".reported", h("span.what", h("span", h("b", about.excerpt ? `“${about.excerpt}”` : `A ${about.kind}`), " ", h("span.tag", about.kind)),
    about.ownerName && h("small", `of ${about.ownerName}`),
    about.said.map((one) => h("small.words", `${one.reporterName || "Somebody"}: ${one.reason} · `, when(one.createdAt)))),
  h("span.acts", h("button.btn.small", { type: "button", onclick: () => decide(about, "dismiss") }, "Dismiss"),
    h("button.btn.small.danger", { type: "button", onclick: () => decide(about, "remove") }, ways.removal(about)),
    about.ownerId && !["user", "person", "account"].includes(about.kind) && h("button.btn.small.quiet", { type: "button", ariaLabel: `Suspend ${about.ownerName || "them"}`, onclick: () => decide(about, "suspend") }, "Suspend")));

  async function loadReports() {
    const found = new Map();
    for (const one of await ways.reports()) {
      const key = ways.key(one);
      if (!found.has(key)) found.set(key, { ...one, key, said: [] });
      found.get(key).said.push(one);
    }
    head.textContent = found.size ? `${count(found.size, "item waits", "items wait")} for a decision.` : "No items wait for a decision.";
    list(waiting, [...found.values()], (one) => one.key, row, () => h(".empty", h("b", "All is well"), h("p", "What people report appears here.")));
  }

  async function loadTrail() {
    title.textContent = month.toLocaleDateString(undefined, { month: "long", year: "numeric" });
    later.hidden = month >= new Date(new Date().setDate(1));
    list(decided, await ways.trail(month), (one) => one.entryId, (one) => {
      const [kind] = one.subject.split(" "), by = one.byName || one.by, word = one.action.split(" ").at(-1), did = DID[word] || ways.did[word];
      return h("div", face(by, { size: "small" }), h("span.what", h("span", { title: one.subject }, h("b", one.by === me()?.id ? "You" : by), did ? ` ${did} ${/^[aeio]/.test(kind) ? "an" : "a"} ${kind}` : `: ${one.action} ${one.subject}`),
        one.note && h("small.words", one.note), h("small", when(one.at))));
    }, () => h(".empty", h("p", "Nothing was decided in this month.")));
  }
  const load = () => Promise.all([loadReports(), loadTrail()]);

  if (!moderates()) {
    view.replaceChildren(h(".panel", h(".empty", h("h1", "For moderators"), h("p", "Sign in as one to see what was reported."))));
    return undefined;
  }
  const turn = (step) => doing(() => { month = new Date(month.getFullYear(), month.getMonth() + step, 15); return loadTrail(); });
  const later = h("button.icon", { type: "button", ariaLabel: "The month after", onclick: turn(1) }, "›");
  view.replaceChildren(h(".stack.narrow.middle", h(".head", h("div", h("h1", "Moderation"), head), h(".acts", h("button.btn", { type: "button", onclick: doing(load) }, "Look again"))),
    h("section.panel", h("header", h("h2", "Reported")), waiting),
    h("section.panel", { id: "trail" }, h("header", h("h2", "Decided"), h("button.icon", { type: "button", ariaLabel: "The month before", onclick: turn(-1) }, "‹"), title, later), decided)));
  return load().catch(show);
}
