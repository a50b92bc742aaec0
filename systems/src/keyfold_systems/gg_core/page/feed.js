/* What people and groups do: the feed, comments, and an entry wherever it stands. */
import { $, count, doing, face, form, h, list, me, path, rest, when } from "../../assets/app.js";
import { reportButton } from "../../assets/oversight.js";
import { all, nothing, own, upTo } from "./lists.js";

const ENTRY = "activityId actorId authorId authorName groupName verb objectType objectId postActorId postCreatedAt previewText comments mine createdAt media { url }";
export const FEED = `subscription ($userId: String!) { feedAdded(userId: $userId) { ${ENTRY} } }`;
export const FILLED = `subscription ($followerId: String!) { feedFilled(followerId: $followerId) { ${ENTRY} } }`;
const DEEDS = { post: "", comment: "commented", goal_update: "is getting on" };
const AT_ONCE = 20;

export const reportOf = (subjectType, subjectId, where = {}) => reportButton(subjectType, subjectId, (reason) => rest.post("/reports", { subjectType, subjectId, reason, ...where }));

/** A name that leads to its person; nobody's leads nowhere. */
export const named = (name, id) => (name ? h("a.name", { href: path`#/people/${id}` }, name) : h("b", "Somebody"));

/** What was said, with what can be done about it. */
export const said = (one, text, more = null) => h(one.mine ? ".said.mine" : ".said", h("small", one.mine ? "" : `${one.authorName || "Somebody"} · `, when(one.createdAt), more), h(".words", text));

/** An activity; `taken` is called when it was taken back, `commented` when somebody said something about it. */
export function entry(one, { taken, commented }) {
  const deed = DEEDS[one.verb] ?? one.verb.replaceAll("_", " ");
  const thread = one.postActorId ? { activityId: one.objectId, actorId: one.postActorId, createdAt: one.postCreatedAt } : one;
  const takeBack = async () => {
    await rest.delete(path`/actors/${one.actorId}/activities/${one.activityId}?createdAt=${one.createdAt}`);
    await taken();
  };
  return h("article.card",
    h("header", face(one.authorName || "?"), h("div", named(one.authorName, one.authorId), " ", one.groupName && h("a.tag.on", { href: path`#/groups/${one.actorId}` }, one.groupName),
      h("small", deed && `${deed} · `, when(one.createdAt))),
    one.mine && h("button.icon", { ariaLabel: "Take it back", onclick: doing(() => confirm("Take this back?") && takeBack()) }, "✕")),
    h("p.words", one.previewText),
    one.media?.url && h("img", { src: one.media.url, alt: "", loading: "lazy" }),
    h(".line", h("button.btn.quiet.small", { onclick: doing(() => discuss(thread, commented)) }, one.postActorId ? "See all comments" : one.comments ? count(one.comments, "comment") : "Comment"), h("span.grow"),
      !one.mine && reportOf("activity", one.activityId, { placeId: one.actorId, createdAt: one.createdAt })));
}

/* ---------- comments ---------- */

let asked = null, told = null;

async function discuss(one, commented) {
  [asked, told] = [one, commented];
  $("#comments").showModal();
  $("#said-about").replaceChildren();
  const found = await all(path`/actors/${one.actorId}/activities/${one.activityId}/comments`);
  list($("#said-about"), found, (comment) => comment.activityId, (comment) => said(comment, comment.previewText,
    !comment.mine && reportOf("activity", comment.activityId, { placeId: comment.actorId, createdAt: comment.createdAt })), nothing("Nobody has said anything yet"));
}
form($("#comments form"), async ({ previewText }) => {
  const about = { verb: "comment", objectId: asked.activityId, objectActorId: asked.actorId, objectCreatedAt: asked.createdAt };
  await rest.post("/activities", { ...about, previewText });
  await told();
  $("#comments").close();
}, { done: "Said" });

/* ---------- the feed ---------- */

let entries = [], heard = [], more = null;

const change = (one, now) => { [entries, heard] = [entries, heard].map((some) => some.flatMap((other) => (other.activityId === one.activityId ? now : other))); draw(); };
const draw = () => list($("#entries"), entries, (one) => one.activityId, (one) => entry(one, {
  taken: () => change(one, []), commented: () => change(one, one.postActorId ? one : { ...one, comments: one.comments + 1 }),
}), nothing("Nothing yet", "Follow somebody, or join a group."));

/* Where it belongs by its time: a copy may come late. What is older than all of them is on a later page. */
const placed = (one, some) => {
  if (some.some((other) => other.activityId === one.activityId)) return some;
  const older = some.findIndex((other) => other.createdAt < one.createdAt);
  if (older < 0) return more ? some : [...some, one];
  return some.toSpliced(older, 0, one);
};

/** What is heard while a page is on its way is not in it, and stays. */
export const add = (one) => {
  heard.unshift(one);
  entries = placed(one, entries);
  draw();
};

export async function loadFeed() {
  heard = [];
  const [page, mine] = await Promise.all([rest.get(own(`/feed?limit=${AT_ONCE}`)), upTo(AT_ONCE, own("/activities"))]);
  more = page.cursor;
  // What one did oneself stands between, as far as the others are loaded.
  entries = [...heard].reverse().concat(mine.items).reduce((some, one) => placed(one, some), page.items);
  $("#older").hidden = !more;
  draw();
}
$("#older").addEventListener("click", doing(async () => {
  const page = await rest.get(own(path`/feed?limit=${AT_ONCE}&cursor=${more}`));
  entries = [...entries, ...page.items];
  more = page.cursor;
  $("#older").hidden = !more;
  draw();
}));
form($("#post"), async ({ previewText, actorId }) => {
  const made = await rest.post("/activities", actorId ? { previewText, actorId } : { previewText });
  const group = actorId ? $("#where").selectedOptions[0].text : null;
  add({ ...made, authorName: me().name, groupName: group, comments: 0, mine: true });
}, { done: "Told" });
