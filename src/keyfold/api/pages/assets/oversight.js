/* A button that asks moderators to look at something, by the service's `report`. */
import { form, h, rest } from "./app.js";

export const reportButton = (kind, subjectId) => h("button.btn.quiet.small", { type: "button", onclick: () => ask(kind, subjectId) }, "Report");

function ask(kind, subjectId) {
  const why = form(h("form.stack", h(".field", h("label", { htmlFor: "report-reason" }, "What is wrong?"), h("textarea", { id: "report-reason", name: "reason", required: true, maxLength: 500 })),
    h(".acts", h("button.btn.main", "Report it"))), async (values) => {
    await rest.post("/reports", { kind, subjectId, ...values });
    dialog.close();
  }, { done: "Thank you. A moderator will look at it." });
  const dialog = h("dialog", { "aria-labelledby": "report-title" }, h("header", h("h2", { id: "report-title" }, "Report"),
    h("button.icon", { type: "button", ariaLabel: "Close", onclick: () => dialog.close() }, "✕")), why);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
