import { $, $$, doing, face, form, h, list, me, path, rest, route, show, subscribe, welcome, when } from "../../assets/app.js";

const ENTRY = "activityId actorId authorId authorName groupName verb objectType objectId postActorId previewText comments mine createdAt media { url }";
const FEED = `subscription ($userId: String!) { feedAdded(userId: $userId) { ${ENTRY} } }`;
const FILLED = `subscription ($followerId: String!) { feedFilled(followerId: $followerId) { ${ENTRY} } }`;
const MINE = "subscription ($userId: String!) { mineChanged(userId: $userId) { changed } }";
const PROFILE = "subscription ($id: String!) { profileChanged(id: $id) { id } }";
const ROOMS = "subscription ($userId: String!) { roomsChanged(userId: $userId) { id } }";
const ROOM = "subscription ($roomId: String!) { roomChanged(roomId: $roomId) { changed } }";
const DEEDS = { comment: "commented", goal_update: "is getting on" };

const all = async (url) => (await rest.get(url)).items;
const own = (more) => `${path`/users/${me().id}`}${more}`;
const nothing = (words, more = "") => () => h(".empty", h("b", words), more && h("p", more));
const counted = (badge, number) => { $(badge).hidden = !number; $(badge).textContent = number || ""; };

/* ---------- feed ---------- */

let entries = [], heard = [], more = null, asked = null;

const entry = (one) => h("article.card",
  h("header", face(one.authorName || "?"), h("div", h("b", one.authorName || "Somebody"), " ", one.groupName && h("span.tag.on", one.groupName),
    h("small", DEEDS[one.verb] || (one.verb === "post" ? "" : one.verb.replaceAll("_", " ")), one.verb === "post" ? "" : " · ", when(one.createdAt))),
    one.mine && h("button.icon", { ariaLabel: "Take it back", onclick: doing(() => takeBack(one)) }, "✕")),
  h("p.words", one.previewText),
  one.media?.url && h("img", { src: one.media.url, alt: "", loading: "lazy" }),
  h(".line", h("button.btn.quiet.small", { onclick: doing(() => discuss(one)) }, one.comments ? `${one.comments} comment${one.comments > 1 ? "s" : ""}` : "Comment")));

const drawEntries = () => list($("#entries"), entries, (one) => one.activityId, entry,
  nothing("Nothing yet", "Follow somebody, or join a group."));

/* Where it belongs by its time: a copy may come late. What is older than all of them is on a later page. */
const placed = (one, some) => {
  if (some.some((other) => other.activityId === one.activityId)) return some;
  const older = some.findIndex((other) => other.createdAt < one.createdAt);
  if (older < 0) return more ? some : [...some, one];
  return some.toSpliced(older, 0, one);
};

/* What is heard while a page is on its way is not in it, and stays. */
const add = (one) => {
  heard.unshift(one);
  entries = placed(one, entries);
  drawEntries();
};

async function loadFeed() {
  heard = [];
  const page = await rest.get(own("/feed?limit=20"));
  more = page.cursor;
  entries = heard.reduceRight((some, one) => placed(one, some), page.items);
  $("#older").hidden = !more;
  drawEntries();
}
async function takeBack(one) {
  await rest.delete(path`/actors/${one.actorId}/activities/${one.activityId}?createdAt=${one.createdAt}`);
  [entries, heard] = [entries, heard].map((some) => some.filter((other) => other !== one));
  drawEntries();
}
$("#older").addEventListener("click", doing(async () => {
  const page = await rest.get(own(path`/feed?limit=20&cursor=${more}`));
  entries = [...entries, ...page.items];
  more = page.cursor;
  $("#older").hidden = !more;
  drawEntries();
}));
form($("#post"), async ({ previewText, actorId }) => {
  const made = await rest.post("/activities", actorId ? { previewText, actorId } : { previewText });
  const group = actorId ? $("#where").selectedOptions[0].text : null;
  add({ ...made, authorName: me().name, groupName: group, comments: 0, mine: true });
}, { done: "Told" });

const said = (one, text) => h(one.mine ? ".said.mine" : ".said", h("small", one.mine ? "" : `${one.authorName || "Somebody"} · `, when(one.createdAt)), h(".words", text));

async function discuss(one) {
  asked = one;
  $("#comments").showModal();
  const found = await all(path`/actors/${one.actorId}/activities/${one.activityId}/comments`);
  list($("#said-about"), found, (comment) => comment.activityId, (comment) => said(comment, comment.previewText), nothing("Nobody has said anything"));
}
form($("#comments form"), async ({ previewText }) => {
  const about = { verb: "comment", objectId: asked.activityId, objectActorId: asked.actorId, objectCreatedAt: asked.createdAt };
  await rest.post("/activities", { ...about, previewText });
  entries = entries.map((one) => (one === asked ? { ...one, comments: one.comments + 1 } : one));
  drawEntries();
  $("#comments").close();
}, { done: "Said" });

/* ---------- goals and quests ---------- */

const quest = (one) => {
  const steps = one.targetCount || one.linkedGoalIds.length + one.linkedTaskIds.length;
  return h("div", h(".what", h("b", one.title), h("small", `${Math.min(one.progress, steps)} of ${steps} · ${one.rewardXp} XP`),
    h("progress", { max: steps, value: one.progress, ariaLabel: one.title })),
    one.status === "active" ? h("button.btn.quiet.small", { onclick: doing(() => rest.post(path`/quests/${one.id}/cancellation`)) }, "Give up")
      : h(`span.tag.${one.status === "completed" ? "ok" : "bad"}`, one.status));
};
const task = (goal, one) => h("label.check", h("input", { type: "checkbox", checked: !!one.completedAt, disabled: !!one.completedAt,
  onchange: doing(() => rest.post(path`/goals/${goal.goalId}/tasks/${one.taskId}/completion`)) }),
  h(one.completedAt ? "span.done" : "span", one.title), h("span.grow"), one.dueAt && !one.completedAt && h("small.muted", when(one.dueAt)));

const goal = (one) => {
  const add = form(h("form.write", { dataset: { reset: "" } }, h(".field", h("input", { name: "title", placeholder: "Another step", ariaLabel: `Another step towards ${one.title}`, required: true })), h("button.btn", "Add")),
    (values) => rest.post(path`/goals/${one.goalId}/tasks`, values));
  return h("article.card", h(".line", h("h2.grow", one.title), one.status === "completed" ? h("span.tag.ok", "reached")
    : h("button.btn.small", { onclick: doing(() => rest.post(path`/goals/${one.goalId}/completion`)) }, "Reached it")),
    one.description && h("p.muted.words", one.description),
    h("progress", { max: Math.max(1, one.tasks.length), value: one.tasks.filter((step) => step.completedAt).length, ariaLabel: one.title }),
    h("div", one.tasks.map((step) => task(one, step))), one.status === "active" && add);
};
async function loadGoals() {
  const goals = await all(own("/goals?limit=20"));
  const tasks = await Promise.all(goals.map((one) => all(path`/goals/${one.goalId}/tasks`)));
  list($("#all-goals"), goals.map((one, at) => ({ ...one, tasks: tasks[at] })), (one) => one.goalId, goal, nothing("No goal yet", "Set yourself one."));
}
async function loadQuests() {
  const [quests, account] = await Promise.all([all(own("/quests?limit=20")), rest.get(own("/account"))]);
  $("#points").textContent = $("#xp").textContent = `${account.xp} XP`;
  list($("#all-quests"), quests, (one) => one.id, quest, nothing("No quest yet"));
  list($("#under-way"), quests.filter((one) => one.status === "active").slice(0, 4), (one) => one.id, quest, nothing("None at the moment"));
}
async function loadDue() {
  const due = (await all(own("/tasks?limit=30"))).filter((one) => !one.completedAt).slice(0, 5);
  list($("#due"), due, (one) => one.taskId, (one) => h("div", h(".what", h("b", one.title), h("small", `${one.goalTitle} · `, when(one.dueAt))),
    h("button.btn.small", { onclick: doing(() => rest.post(path`/goals/${one.goalId}/tasks/${one.taskId}/completion`)) }, "Done")), nothing("Nothing is due"));
}
form($("#new-goal form"), async (values) => { await rest.post("/goals", values); $("#new-goal").close(); }, { done: "A goal!" });
form($("#new-quest form"), async (values) => {
  await rest.post("/quests", { ...values, kind: "quantitative" });
  $("#new-quest").close();
}, { done: "Good luck" });

/* ---------- rooms ---------- */

let open = null, rooms = [];

async function loadRooms() {
  const [named, groups] = await Promise.all([all(own("/rooms")), all(own("/groups?limit=10"))]);
  const theirs = await Promise.all(groups.map((one) => all(path`/groups/${one.groupId}/rooms`)));
  rooms = [...named, ...theirs.flat()].sort((one, other) => (other.lastAt || "").localeCompare(one.lastAt || ""));
  counted("#unread-rooms", rooms.filter((one) => one.unread && one.roomId !== open).length);
  list($("#all-rooms"), rooms, (one) => one.roomId, (one) => h(one.unread ? "a.unread" : "a", { href: path`#/rooms/${one.roomId}` }, face(one.title || "?"),
    h(".what", h("b.clip", one.title || "Only you"), h("small.clip", one.lastText || "Nothing written yet")), one.lastAt && h("small.muted", when(one.lastAt))),
    nothing("No room yet", "Write to somebody."));
  for (const link of $$("#all-rooms a")) link.setAttribute("aria-current", String(link.hash === path`#/rooms/${open}`));
}
async function loadTalk() {
  const found = (await all(path`/rooms/${open}/messages?limit=50`)).reverse();
  list($("#talk"), found, (one) => one.messageId, (one) => said(one, one.text), nothing("Say the first word"));
  $("#talk").scrollTop = $("#talk").scrollHeight;
  await rest.put(path`/rooms/${open}/read`);
}
form($("#write"), async (values) => rest.post(path`/rooms/${open}/messages`, values));
$("#text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); $("#write").requestSubmit(); }
});
async function writeTo(id) {
  const room = await rest.post("/rooms", { scope: "dm", members: [id] });
  $("#new-room").close();
  location.hash = path`#/rooms/${room.roomId}`;
}
form($("#new-room form"), async ({ nickname }) => writeTo((await rest.get(path`/nicknames/${nickname}`)).id));

/* ---------- people ---------- */

const person = (one, followed, change) => h("div", face(one.fullName), h(".what", h("b.clip", one.fullName), h("small.clip", `@${one.nickname} · ${one.xp} XP`)),
  one.id !== me().id && h("button.icon", { ariaLabel: `Write to ${one.fullName}`, onclick: doing(() => writeTo(one.id)) }, "✉"),
  one.id !== me().id && h("button.btn.small", { ariaPressed: String(followed), onclick: doing(async () => {
    await (followed ? rest.delete(path`/following/${one.id}`) : rest.post(path`/following/${one.id}`));
    await change();
  }) }, followed ? "Following" : "Follow"));

async function loadPeople() {
  const [following, followers] = await Promise.all([all(own("/following")), all(own("/followers"))]);
  const known = (edges) => edges.filter((one) => one.person);
  const row = (one) => person(one.person, one.followedByMe, loadPeople);
  list($("#following"), known(following), (one) => one.followeeId, row, nothing("Nobody yet"));
  list($("#followers"), known(followers), (one) => one.followerId, row, nothing("Nobody yet"));
}
async function loadGroups() {
  const groups = await all(own("/groups"));
  list($("#groups"), groups, (one) => one.groupId, (one) => h("div", face(one.groupName), h(".what", h("b.clip", one.groupName),
    h("small", `${one.memberCount} member${one.memberCount === 1 ? "" : "s"} · you are ${one.role}`)),
    one.role !== "owner" && h("button.btn.quiet.small", { onclick: doing(() => rest.delete(path`/groups/${one.groupId}/membership`)) }, "Leave")), nothing("No group yet"));
  const chosen = $("#where").value;
  $("#where").replaceChildren(h("option", { value: "" }, "For my followers"), ...groups.map((one) => h("option", { value: one.groupId }, one.groupName)));
  $("#where").value = groups.some((one) => one.groupId === chosen) ? chosen : "";
}
async function findPerson(nickname) {
  const { id } = await rest.get(path`/nicknames/${nickname}`);
  const again = async () => {
    const one = await rest.get(path`/users/${id}`);
    $("#found").replaceChildren(h("section.panel", h(".rows", person(one, one.followedByMe, async () => { await again(); await loadPeople(); }))));
  };
  await again();
}
form($("#find"), ({ nickname }) => findPerson(nickname));
form($("#new-group form"), async (values) => { await rest.post("/groups", values); $("#new-group").close(); }, { done: "Founded" });

/* ---------- news ---------- */

const WORDS = {
  followed: () => "follows you", commented: (one) => `said about your post: ${one.text}`, role_changed: (one) => `Your role in ${one.text}`,
  quest_completed: (one) => `You won ${one.text}`, quest_cancelled: (one) => `${one.text} cannot be won any more`, report_handled: (one) => `Your report was ${one.text}`,
};
async function loadNews() {
  const [notices, unread] = await Promise.all([all(own("/notices?limit=30")), rest.get(own("/unread"))]);
  counted("#unread", unread.count);
  $("#read-all").disabled = !unread.count;
  list($("#notices"), notices, (one) => one.noticeId, (one) => h("div", one.fromName ? face(one.fromName) : h("span.face", { "aria-hidden": "true" }, "★"),
    h(".what", h("b", one.fromName || ""), h("span.words", WORDS[one.kind](one)), h("small", when(one.createdAt))), !one.readAt && h("span.tag.on", "new")), nothing("No news", "You will hear of follows, comments and quests here."));
}
$("#read-all").addEventListener("click", doing(async () => rest.put("/notices/read", { until: new Date().toISOString() })));

/* ---------- places ---------- */

const LOADED = { feed: [loadDue, loadQuests, loadGroups], rooms: [loadRooms], goals: [loadGoals, loadQuests], people: [loadPeople, loadGroups], news: [] };
const CHANGES = {
  Goal: [loadGoals, loadDue], Task: [loadGoals, loadDue, loadQuests], Quest: [loadQuests], UserRoom: [loadRooms], GroupMember: [loadGroups, loadRooms], Notice: [loadNews], UnreadCounter: [loadNews],
};

async function hasProfile() {
  try { return await rest.get(own("/account")); } catch (error) {
    if (error.status !== 404) throw error;
    $("#full-name").value = me().name;
    $("#own-nickname").value = me().id;
    $("#profile").showModal();
    return null;
  }
}
form($("#profile form"), async (values) => { await rest.post("/users", values); $("#profile").close(); location.reload(); });

$("#welcome").replaceChildren(welcome("Goals, together", "Post what you did, talk in rooms, take on quests with others."));

async function at(place, room = null) {
  for (const one of $$("[data-place]")) one.hidden = !me() || one.dataset.place !== place;
  $("#welcome").hidden = !!me();
  if (!me()) return null;
  open = room;
  $("#rooms").classList.toggle("open", !!room);
  $("#room").hidden = !room;
  if (!(await hasProfile())) return null;
  const ends = [];
  const again = (work) => Promise.all(work.map((one) => one().catch(show)));
  ends.push(subscribe(MINE, { userId: me().id }, {
    open: () => again([loadNews, loadRooms, ...LOADED[place]]),
    next: ({ mineChanged: { changed } }) => again((CHANGES[changed] || []).filter((one) => one === loadNews || one === loadRooms || LOADED[place].includes(one))),
  }));
  ends.push(subscribe(PROFILE, { id: me().id }, { next: () => again([loadQuests].filter((one) => LOADED[place].includes(one))) }));
  ends.push(subscribe(ROOMS, { userId: me().id }, { next: () => again([loadRooms]) }));
  if (place === "feed") ends.push(subscribe(FILLED, { followerId: me().id }, { next: ({ feedFilled: one }) => add(one) }), subscribe(FEED, { userId: me().id }, {
    open: () => again([loadFeed]),
    next: ({ feedAdded: one }) => add(one),
  }));
  if (room) {
    const talk = async () => { await loadTalk(); await loadRooms(); $("#room-title").textContent = rooms.find((one) => one.roomId === room)?.title || "Room"; };
    ends.push(subscribe(ROOM, { roomId: room }, { open: () => again([talk]), next: () => again([talk]) }));
  }
  return () => ends.forEach((end) => end());
}
route({ "": () => location.replace("#/feed"), feed: () => at("feed"), rooms: () => at("rooms"), "rooms/:id": ({ id }) => at("rooms", id), goals: () => at("goals"), people: () => at("people"), news: () => at("news") });
