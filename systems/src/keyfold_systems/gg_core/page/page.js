import { $, $$, afterwards, become, doing, face, form, gone, h, me, path, rest, route, show, subscribe, welcome } from "../../assets/app.js";
import { account } from "../../assets/account.js";
import { countNews, news } from "../../assets/news.js";
import { moderation } from "../../assets/oversight.js";
import { add, FEED, FILLED, loadFeed } from "./feed.js";
import { loadDue, loadGoals, loadQuests } from "./goals.js";
import { all, nothing, own, upTo } from "./lists.js";
import { loadGroup, loadGroups, loadPeople, loadPerson } from "./people.js";
import { enter, loadRooms, loadTalk } from "./rooms.js";

const MINE = "subscription ($userId: String!) { mineChanged(userId: $userId) { changed } }";
const PROFILE = "subscription ($id: String!) { profileChanged(id: $id) { id } }";
const ROOMS = "subscription ($userId: String!) { roomsChanged(userId: $userId) { id } }";
const ROOM = "subscription ($roomId: String!) { roomChanged(roomId: $roomId) { changed } }";

/* ---------- your account ---------- */

async function details() {
  const [mine, blocked] = await Promise.all([rest.get(own("/account")), all(own("/blocks"))]);
  const field = (name, label, more = {}) => h(".field", h("label", { htmlFor: `own-${name}` }, label), h("input", { id: `own-${name}`, name, value: mine[name], required: true, ...more }));
  const profile = form(h("form.panel", h("header", h("h2", "Your profile"), h("span.tag.on", mine.tier)), h(".pad.stack",
    field("fullName", "Name", { autocomplete: "name", maxLength: 200 }), field("nickname", "Nickname", { autocomplete: "username" }), field("email", "Email", { type: "email", autocomplete: "email" }),
    h(".acts", h("button.btn.main", "Save")))), async (values) => {
    await rest.patch(own(""), values);
    become({ ...me(), name: values.fullName });
  }, { done: "Saved" });
  return h(".stack", profile, h("section.panel", h("header", h("h2", "People you blocked")), h(".rows", blocked.length ? blocked.map((one) => h("div", face(one.person?.fullName || "?", { size: "small" }), h("span.what", one.person?.fullName || "Somebody"),
    h("button.btn.small", { type: "button", onclick: doing(async () => { await rest.delete(path`/blocks/${one.blockedId}`); await loadAccount(); }) }, "Unblock"))) : nothing("Nobody")())));
}
const loadAccount = () => account($("#you"), details(),
  "Download what gg_core stores about you, or delete your account: your goals, posts and messages go with it. A group you own gets another owner.");

/* ---------- news ---------- */

const WORDS = {
  followed: () => " follows you", commented: (one) => ` said about your post: ${one.text}`, role_changed: (one) => `Your role in ${one.text}`,
  quest_completed: (one) => `You won ${one.text}`, quest_cancelled: (one) => `${one.text} cannot be won any more`, removed: (one) => `A moderator removed ${one.text}`,
  report_handled: (one) => (one.text === "removed" ? "A moderator acted on your report" : "Your report was dismissed"),
};
const LEADS = { followed: (one) => path`#/people/${one.fromId}`, commented: () => "#/feed", role_changed: (one) => path`#/groups/${one.subjectId}`, quest_completed: () => "#/goals", quest_cancelled: () => "#/goals" };
const told = (one) => ({
  id: one.noticeId, who: one.fromName, words: [one.fromName && h("b", one.fromName), WORDS[one.kind](one)], at: one.createdAt, read: !!one.readAt, href: LEADS[one.kind]?.(one) || "#/news",
});
countNews();

/* ---------- places ---------- */

const LOADED = { feed: [loadDue, loadQuests, loadGroups], rooms: [loadRooms], goals: [loadGoals, loadQuests], people: [loadPeople, loadGroups], news: [], group: [], person: [], you: [loadAccount] };
const CHANGES = {
  Goal: [loadGoals, loadDue], Task: [loadGoals, loadDue, loadQuests], Quest: [loadQuests], UserRoom: [loadRooms], GroupMember: [loadGroups, loadRooms],
};

let known = null;
async function hasProfile() {
  if (known === me().id) return true;
  try {
    const { fullName } = await rest.get(own("/account"));
    known = me().id;
    if (fullName === me().name) return true;
    // The place is drawn again, under the name that others see.
    become({ ...me(), name: fullName });
    return false;
  } catch (error) {
    if (error.status !== 404) throw error;
    $("#full-name").value = me().name === me().id ? "" : me().name;
    $("#own-nickname").value = me().id;
    $("#profile").showModal();
    return false;
  }
}
form($("#profile form"), async (values) => { await rest.post("/users", values); $("#profile").close(); become({ ...me(), name: values.fullName }); location.reload(); });

$("#welcome").replaceChildren(welcome("Reach your goals together", "Small steps, friends who see them, and a quest now and then.", [
  ["Goals", "Steps to tick off, and quests that reward them."], ["Feed", "What those you follow did, as it happens."], ["Rooms", "Talk to one person, or to your whole group."]]));

const PLAN = "changed the plan of";
/** Each report is decided on its own here; a user is suspended, anything else is removed. */
const keepingOrder = {
  reports: async () => (await upTo(100, "/reports")).items.map((one) => ({ ...one, kind: one.subjectType })),
  decide: (one, decision, note) => rest.post(path`/reports/${one.reporterId}/${one.subjectType}/${one.subjectId}/decision`, { decision: decision === "remove" ? "removed" : "dismissed", note }),
  did: { free: PLAN, plus: PLAN, pro: PLAN, on: "promoted", off: "demoted", promotion: "ended the promotion of" },
  removal: ({ kind }) => (kind === "user" ? "Suspend them for 30 days" : "Remove it"),
  key: ({ kind, subjectId, reporterId }) => `${kind} ${subjectId} ${reporterId}`,
};

/* What is drawn by what is loaded says what it is before. */
const TITLES = { news: "News for you", group: "A group", person: "Somebody", you: "Your account" };

/** Who keeps order needs no profile. */
function orderly() {
  for (const one of $$("[data-place]")) one.hidden = one.dataset.place !== "moderation";
  $("#welcome").hidden = true;
  return moderation($("#moderation"), keepingOrder);
}

async function at(place, room = null) {
  for (const one of $$("[data-place]")) one.hidden = !me() || one.dataset.place !== place;
  $("#welcome").hidden = !!me();
  if (!me()) return null;
  if (TITLES[place]) $(`#${place}`).replaceChildren(h("h1", TITLES[place]));
  enter(room);
  if (!(await hasProfile())) return null;
  const ends = [];
  const again = (work) => Promise.all(work.map((one) => one().catch(show)));
  const load = () => again([loadRooms, ...LOADED[place]]), later = afterwards(load);
  ends.push(later.end, subscribe(MINE, { userId: me().id }, {
    open: load,
    next: ({ mineChanged: { changed } }) => later() || again((CHANGES[changed] || []).filter((one) => one === loadRooms || LOADED[place].includes(one))),
  }));
  ends.push(subscribe(PROFILE, { id: me().id }, { next: () => again([loadQuests].filter((one) => LOADED[place].includes(one))) }));
  ends.push(subscribe(ROOMS, { userId: me().id }, { next: () => again([loadRooms]) }));
  if (place === "news") ends.push(news($("#news"), { title: TITLES.news, words: "Kept for three months.", told, quiet: "You will hear of follows, comments and quests here." }));
  if (place === "feed") ends.push(subscribe(FILLED, { followerId: me().id }, { next: ({ feedFilled: one }) => add(one) }), subscribe(FEED, { userId: me().id }, {
    open: () => again([loadFeed]),
    next: ({ feedAdded: one }) => add(one),
  }));
  if (room) ends.push(subscribe(ROOM, { roomId: room }, { open: () => loadTalk().catch(gone), next: () => again([loadTalk]), error: gone }));
  return () => ends.forEach((end) => end());
}

/** A place with what one person or one group does, as it happens. */
async function timeline(place, id, load) {
  const left = await at(place);
  if (!left) return null;
  const draw = () => load(id).catch(gone);
  const end = subscribe(FEED, { userId: me().id }, { open: draw, next: ({ feedAdded: one }) => one.actorId === id && draw() });
  return () => { end(); left(); };
}
route({ "": () => location.replace("#/feed"), feed: () => at("feed"), rooms: () => at("rooms"), "rooms/:id": ({ id }) => at("rooms", id), goals: () => at("goals"), people: () => at("people"), news: () => at("news"), you: () => at("you"), moderation: orderly,
  "groups/:id": ({ id }) => timeline("group", id, loadGroup), "people/:id": ({ id }) => timeline("person", id, loadPerson) });
