/* Goals, the tasks towards them, and quests. */
import { $, doing, form, h, list, me, path, rest, when } from "../../assets/app.js";

const own = (more) => `${path`/users/${me().id}`}${more}`;
const MONTH = 30 * 86400;

export const quests = async () => (await rest.get(own("/quests?limit=50"))).items.filter((one) => one.status === "active");

/** A quest, with what it is worth in a ring; `change` is called when it has ended. */
export const questRow = (one, change = null, part = 0) => h(".quest", h("span.ring", { style: `--part: ${part}` }, `${one.rewardXp}`),
  h(".what", h("b", one.title), h("small", one.kind === "linked" ? "All that is linked" : `${one.targetCount} tasks`, ` · ${one.rewardXp} XP`)),
  change && one.status === "active" ? [h("button.btn.small", { type: "button", onclick: doing(async () => { await rest.post(path`/quests/${one.questId}/completion`); await change(); }) }, "Claim"),
    h("button.btn.quiet.small", { type: "button", onclick: doing(async () => { if (!confirm(`Give up ${one.title}?`)) return; await rest.post(path`/quests/${one.questId}/cancellation`); await change(); }) }, "Give up")]
    : one.status !== "active" && h(`span.tag.${one.status === "completed" ? "ok" : "bad"}`, one.status));

const endOf = (day) => new Date(`${day}T23:59`).toISOString();

function goal(one, again) {
  const step = (task) => h("label.check", h("input", { type: "checkbox", checked: !!task.completedAt, disabled: !!task.completedAt, onchange: doing(async () => { await rest.post(path`/goals/${one.goalId}/tasks/${task.taskId}/completion`); await again(); }) }),
    h(task.completedAt ? "span.done" : "span", task.title), h("span.grow"), task.dueAt && !task.completedAt && h("small.muted", when(task.dueAt)));
  const add = form(h("form.add", { dataset: { reset: "" } }, h(".field", h("input", { name: "title", placeholder: "Another step", ariaLabel: `Another step towards ${one.title}`, required: true, maxLength: 200 })),
    h(".field", h("input", { name: "day", type: "date", ariaLabel: `When this step towards ${one.title} is due` })), h("button.btn", "Add")),
  async ({ title, day }) => { await rest.post(path`/goals/${one.goalId}/tasks`, day ? { title, dueAt: endOf(day) } : { title }); await again(); });
  const done = one.tasks.filter((task) => task.completedAt).length;
  return h("article.card.goal.stack", h(".add", h("h2.grow", one.title), one.completedAt ? h("span.tag.ok", "reached") : h("button.btn.small", { type: "button", onclick: doing(async () => { await rest.post(path`/goals/${one.goalId}/completion`); await again(); }) }, "Reached it")),
    one.description && h("p.muted", one.description), h("progress", { max: Math.max(1, one.tasks.length), value: done, ariaLabel: `${one.title}: ${done} of ${one.tasks.length}` }), h("div", one.tasks.map(step)), !one.completedAt && add);
}

/** The place of goals and quests, drawn into `view`. */
export async function goals(view) {
  const places = h(".stack"), taken = h(".rows"), done = (tasks, one) => tasks.filter((task) => task.completedAt && task.completedAt >= one.createdAt).length;
  const open = (name) => () => $(name).showModal();
  view.replaceChildren(h(".head", h("div", h("h1", "Goals and quests"), h("p", "A quest counts the steps that you tick off.")), h(".acts", h("button.btn.main", { type: "button", onclick: open("#new-goal") }, "Set a goal"), h("button.btn", { type: "button", onclick: open("#new-quest") }, "Take on a quest"))),
    h(".cols", places, h("section.panel", h("header", h("h2", "Quests")), taken)));
  const draw = async () => {
    const [{ items }, all] = await Promise.all([rest.get(own("/goals?limit=50")), rest.get(own("/quests?limit=50"))]);
    const tasks = await Promise.all(items.map((one) => rest.get(own(path`/goals/${one.goalId}/tasks?limit=100`))));
    const whole = items.map((one, at) => ({ ...one, tasks: tasks[at].items })), steps = whole.flatMap((one) => one.tasks);
    list(places, whole, (one) => one.goalId, (one) => goal(one, draw), () => h(".empty", h("b", "No goal yet"), h("p", "Set yourself one.")));
    list(taken, all.items, (one) => one.questId, (one) => questRow(one, draw, one.status === "completed" ? 100 : Math.min(100, (100 * done(steps, one)) / (one.targetCount || 1))), () => h(".empty", h("b", "No quest yet")));
  };
  redraw = draw;
  await draw();
}
let redraw = async () => {};
form($("#new-goal form"), async (values) => { await rest.post("/goals", values); $("#new-goal").close(); await redraw(); }, { done: "A goal!" });
form($("#new-quest form"), async (values) => { await rest.post("/quests", { ...values, kind: "quantitative", countScope: "any", periodSeconds: MONTH }); $("#new-quest").close(); await redraw(); }, { done: "Good luck" });
