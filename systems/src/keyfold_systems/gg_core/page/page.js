import { $, afterwards, count, doing, face, form, h, list, me, path, rest, route, say, subscribe, welcome, when } from "../../assets/app.js";
import { goals, questRow, quests } from "./goals.js";
import { room, rooms, writeTo } from "./rooms.js";

const AT_ONCE = 20;
const ENTRY = "activityId actorId actorName promoted verb objectType objectId previewText mediaUrl createdAt";
const ADDED = `subscription ($userId: String!) { feedAdded(userId: $userId) { ${ENTRY} } }`;
export const own = (more) => `${path`/users/${me().id}`}${more}`;
const head = (title, words, ...acts) => h(".head", h("div", h("h1", title), words && h("p", words)), h(".acts", acts));
const empty = (title, words = "") => () => h(".empty", h("b", title), words && h("p", words));

/* ---------- the feed ---------- */

const entry = (one) => h(`article.card.step${one.promoted ? ".copied" : ""}`,
  h("header", h("a.name", { href: path`#/people/${one.actorId}` }, one.actorName || "Somebody"), one.promoted && h("span.tag.on", { title: "Copied to every follower; the others are read when you look" }, "promoted"),
    h("small", one.verb === "post" ? "" : `${one.verb.replaceAll("_", " ")} · `, when(one.createdAt))),
  h("p.words", one.previewText), one.mediaUrl && h("img", { src: one.mediaUrl, alt: "", loading: "lazy" }));

/** Entries of a URL, page after page; `add` puts a new one on top. */
function trail(url, quiet, beside = null) {
  const place = h(".trail"), more = h("button.btn.quiet", { type: "button", hidden: true, onclick: doing(() => load(cursor)) }, "Show older ones");
  let entries = [], cursor = null;
  const draw = () => { list(place, entries, (one) => one.activityId, entry, empty("Nothing yet", quiet)); more.hidden = !cursor; };
  const placed = (all) => [...new Map(all.map((one) => [one.activityId, one])).values()].sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const add = (one) => { entries = placed([...entries, one]); draw(); };
  async function load(from = null) {
    const [page, mine] = await Promise.all([rest.get(`${url}?limit=${AT_ONCE}${from ? path`&cursor=${from}` : ""}`), from || !beside ? { items: [] } : rest.get(`${beside}?limit=${AT_ONCE}`)]);
    entries = placed([...(from ? entries : []), ...page.items, ...mine.items]);
    cursor = page.cursor;
    draw();
  }
  return { element: h(".stack", place, more), load, add };
}

const composer = (groups, posted) => form(h("form.card.stack", { dataset: { reset: "" } },
  h(".field", h("label", { htmlFor: "said" }, "What did you do?"), h("textarea", { id: "said", name: "previewText", rows: 2, maxLength: 4000, required: true })),
  h(".add", h(".field", h("label.hide", { htmlFor: "actor" }, "As"), h("select", { id: "actor", name: "actorId" }, h("option", { value: "" }, "For my followers"), groups.filter((one) => one.role !== "member").map((one) => h("option", { value: one.groupId }, one.name)))), h("button.btn.main", "Post"))),
async (values) => {
    const made = await rest.post("/activities", values), name = groups.find((one) => one.groupId === values.actorId)?.name ?? me().name;
    posted({ ...made, actorName: name, promoted: false, mediaUrl: null });
  }, { done: "Told" });

async function feed(_, view) {
  const place = h(".cols");
  view.replaceChildren(head("What is going on", "From people you follow and your groups."), place);
  if (!(await known())) return undefined;
  const [{ items: groups }, open] = await Promise.all([rest.get(own("/groups?limit=50")), quests()]);
  const steps = trail(own("/feed"), "Follow somebody, or join a group.", own("/activities"));
  const side = h(".stack.side", h("section.panel", h("header", h("h2", "Quests under way"), h("a", { href: "#/goals" }, "All")), h(".rows", open.length ? open.map((one) => questRow(one)) : empty("None at the moment")())));
  const told = afterwards(() => steps.load());
  place.replaceChildren(h(".stack", composer(groups, (made) => { steps.add(made); told(); }), steps.element), side);
  const end = subscribe(ADDED, { userId: me().id }, { open: () => steps.load(), next: ({ feedAdded: one }) => steps.add(one) });
  return () => { end(); told.end(); };
}

/* ---------- people and groups ---------- */

const personRow = (one) => h("a", { href: path`#/people/${one.userId}` }, face(one.fullName), h(".what", h("b.clip", one.fullName), h("small.clip", `@${one.nickname}`)));

async function people(_, view) {
  const place = h(".stack");
  view.replaceChildren(head("People and groups", "Follow people, join groups: what they do comes into your feed.", h("button.btn.main", { type: "button", onclick: () => $("#new-group").showModal() }, "Found a group")), place);
  if (!(await known())) return;
  const [groups, following, followers] = await Promise.all(["groups", "following", "followers"].map((name) => rest.get(own(`/${name}?limit=100`))));
  const panel = (title, rows, quiet) => h("section.panel", h("header", h("h2", title)), h(".rows", rows.length ? rows : empty(quiet)()));
  place.replaceChildren(form(h("form.add.find", h(".field", h("label", { htmlFor: "find" }, "Find somebody by nickname"), h("input", { id: "find", name: "nickname", required: true, autocapitalize: "none" })), h("button.btn", "Find")),
    async ({ nickname }) => { location.hash = path`#/people/${(await rest.get(path`/nicknames/${nickname.replace(/^@/, "")}`)).userId}`; }),
  h(".cols.even", panel("Your groups", groups.items.map((one) => h("a", { href: path`#/groups/${one.groupId}` }, face(one.name), h(".what", h("b.clip", one.name), h("small", one.role)))), "No group yet"),
    h(".stack", panel("You follow", following.items.map(personRow), "Nobody yet"), panel("They follow you", followers.items.map(personRow), "Nobody yet"))));
}

async function person(id, view) {
  view.replaceChildren(head("Somebody"));
  if (!(await known())) return;
  let one;
  try { one = await rest.get(path`/users/${id}`); } catch (error) {
    if (error.status === 404) return group(id, view);
    throw error;
  }
  const steps = trail(path`/users/${id}/activities`, "They have not posted anything.");
  const press = doing(async () => { await (one.followedByMe ? rest.delete(path`/following/${id}`) : rest.post(path`/following/${id}`)); await person(id, view); });
  view.replaceChildren(head(one.fullName, `@${one.nickname} · ${count(one.followers, "follower")} · follows ${one.following}`,
    id !== me().id && [h(`button.btn${one.followedByMe ? "" : ".main"}`, { type: "button", onclick: press }, one.followedByMe ? "Unfollow" : "Follow"), h("button.btn", { type: "button", onclick: doing(() => writeTo([id])) }, "Write")]), h(".narrow", steps.element));
  return steps.load();
}

async function group(id, view) {
  const one = await rest.get(path`/groups/${id}`);
  const members = await rest.get(path`/groups/${id}/members?limit=100`).catch((error) => { if (error.status !== 403) throw error; return null; });
  const mine = members?.items.find((each) => each.person.userId === me().id), again = () => group(id, view);
  const steps = trail(path`/users/${id}/activities`, "An owner or admin posts for the group.");
  view.replaceChildren(head(one.name, `${one.isPersistent ? "Community" : "Project"}${one.description && ` · ${one.description}`}`,
    !mine && h("button.btn.main", { type: "button", onclick: doing(async () => { await rest.post(path`/groups/${id}/members`); await again(); }) }, "Join"),
    mine && mine.role !== "owner" && h("button.btn.quiet", { type: "button", onclick: doing(async () => { if (!confirm(`Leave ${one.name}?`)) return; await rest.delete(path`/groups/${id}/members/me`); await again(); }) }, "Leave")),
  h(".cols", mine ? steps.element : h("section.panel", empty("For members", "Join to see what the group does.")()),
    mine && h("section.panel", h("header", h("h2", count(members.items.length, "member"))), h(".rows", members.items.map((each) => h("a", { href: path`#/people/${each.person.userId}` }, face(each.person.fullName), h(".what", h("b.clip", each.person.fullName)), each.role !== "member" && h("span.tag.on", each.role)))))));
  return mine && steps.load();
}
form($("#new-group form"), async (values) => { const made = await rest.post("/groups", values); $("#new-group").close(); location.hash = path`#/groups/${made.groupId}`; });

/* ---------- who is here ---------- */

const signedOut = (view) => view.replaceChildren(welcome("Reach your goals together", "Small steps, friends who see them, and a quest now and then.", [["Goals", "Steps to tick off, and quests that reward them."], ["Feed", "What those you follow did, as it happens."], ["Rooms", "Talk to one person, or to some."]]));

let profile = null;
async function known() {
  if (profile === me().id) return true;
  try { await rest.get(own("/account")); } catch (error) {
    if (error.status !== 404) throw error;
    const fields = $("#hello form").elements;
    fields.fullName.value = me().name === me().id ? "" : me().name;
    fields.nickname.value = me().id;
    $("#hello").showModal();
    return false;
  }
  profile = me().id;
  return true;
}
form($("#hello form"), async (values) => { await rest.post("/users", values); $("#hello").close(); say("Welcome"); location.hash = "#/people"; location.reload(); });

/** A view for who has signed in. */
const inside = (draw) => (given, view) => (me() ? draw(given, view) : signedOut(view));
const asked = (title, draw) => inside(async (given, view) => { view.replaceChildren(head(title)); return (await known()) ? draw(view, given) : undefined; });
route({ "": inside(feed), feed: inside(feed), goals: asked("Goals and quests", goals), rooms: asked("Rooms", rooms), "rooms/:id": asked("A room", (view, { id }) => room(view, id)), people: inside(people), "people/:id": inside(({ id }, view) => person(id, view)), "groups/:id": asked("A group", (view, { id }) => group(id, view)) });
