/* Goals, the steps towards them, and quests. */
import { $, doing, form, h, list, path, rest, when } from "../../assets/app.js";
import { all, nothing, own, upTo } from "./lists.js";

const GOALS = 50, DUE = 5, UNDER_WAY = 4;

const quest = (one) => {
  const steps = one.targetCount || one.linkedGoalIds.length + one.linkedTaskIds.length;
  return h("div", h(".what", h("b", one.title), h("small", `${Math.min(one.progress, steps)} of ${steps} · ${one.rewardXp} XP`),
    h("progress", { max: steps, value: one.progress, ariaLabel: one.title })),
    one.status === "active" ? h("button.btn.quiet.small", { onclick: doing(() => confirm(`Give up ${one.title}?`) && rest.post(path`/quests/${one.id}/cancellation`)) }, "Give up")
      : h(`span.tag.${one.status === "completed" ? "ok" : "bad"}`, one.status));
};
const task = (goal, one) => h("label.check", h("input", { type: "checkbox", checked: !!one.completedAt, disabled: !!one.completedAt,
  onchange: doing(() => rest.post(path`/goals/${goal.goalId}/tasks/${one.taskId}/completion`)) }),
  h(one.completedAt ? "span.done" : "span", one.title), h("span.grow"), one.dueAt && !one.completedAt && h("small.muted", when(one.dueAt)));

/* A step is due when its day is over, where its person is. */
const endOf = (day) => new Date(`${day}T23:59`).toISOString();

const goal = (one) => {
  const add = form(h("form.write", { dataset: { reset: "" } }, h(".field", h("input", { name: "title", placeholder: "Another step", ariaLabel: `Another step towards ${one.title}`, required: true })),
    h(".field.day", h("input", { name: "day", type: "date", title: "Due", ariaLabel: `When this step towards ${one.title} is due` })), h("button.btn", "Add")),
    ({ title, day }) => rest.post(path`/goals/${one.goalId}/tasks`, day ? { title, dueAt: endOf(day) } : { title }));
  return h("article.card", h(".line", h("h2.grow", one.title), one.status === "completed" ? h("span.tag.ok", "reached")
    : h("button.btn.small", { onclick: doing(() => rest.post(path`/goals/${one.goalId}/completion`)) }, "Reached it"),
    h("button.icon", { ariaLabel: `Delete ${one.title}`, onclick: doing(() => confirm(`Delete ${one.title} with its steps?`) && rest.delete(path`/goals/${one.goalId}`)) }, "✕")),
    one.description && h("p.muted.words", one.description),
    h("progress", { max: Math.max(1, one.tasks.length), value: one.tasks.filter((step) => step.completedAt).length, ariaLabel: one.title }),
    h("div", one.tasks.map((step) => task(one, step))), one.status === "active" && add);
};
export async function loadGoals() {
  const { items } = await upTo(GOALS, own("/goals"));
  const tasks = await Promise.all(items.map((one) => all(path`/goals/${one.goalId}/tasks`)));
  list($("#all-goals"), items.map((one, at) => ({ ...one, tasks: tasks[at] })), (one) => one.goalId, goal, nothing("No goal yet", "Set yourself one."));
}
export async function loadQuests() {
  const [quests, account] = await Promise.all([all(own("/quests")), rest.get(own("/account"))]);
  $("#points").textContent = $("#xp").textContent = `${account.xp} XP`;
  list($("#all-quests"), quests, (one) => one.id, quest, nothing("No quest yet"));
  list($("#under-way"), quests.filter((one) => one.status === "active").slice(0, UNDER_WAY), (one) => one.id, quest, nothing("None at the moment"));
}
export async function loadDue() {
  const due = (await all(own("/tasks"))).filter((one) => !one.completedAt).slice(0, DUE);
  list($("#due"), due, (one) => one.taskId, (one) => h("div", h(".what", h("b", one.title), h("small", `${one.goalTitle} · `, when(one.dueAt))),
    h("button.btn.small", { onclick: doing(() => rest.post(path`/goals/${one.goalId}/tasks/${one.taskId}/completion`)) }, "Done")), nothing("Nothing is due"));
}
form($("#new-goal form"), async (values) => { await rest.post("/goals", values); $("#new-goal").close(); }, { done: "A goal!" });
form($("#new-quest form"), async (values) => {
  await rest.post("/quests", { ...values, kind: "quantitative" });
  $("#new-quest").close();
}, { done: "Good luck" });
