import { $, $$, afterwards, badge, become, count, doing, face, form, gone, h, list, me, path, redraw, rest, route, say, show, subscribe, welcome, when } from "../../assets/app.js";
import { account } from "../../assets/account.js";
import { countNews, news } from "../../assets/news.js";
import { moderation, reportButton } from "../../assets/oversight.js";

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
const reportOf = (subjectType, subjectId, where = {}) => reportButton(subjectType, subjectId, (reason) => rest.post("/reports", { subjectType, subjectId, reason, ...where }));

/* ---------- feed ---------- */

let entries = [], heard = [], more = null, asked = null;

const entry = (one) => h("article.card",
  h("header", face(one.authorName || "?"), h("div", h("b", one.authorName || "Somebody"), " ", one.groupName && h("a.tag.on", { href: path`#/groups/${one.actorId}` }, one.groupName),
    h("small", DEEDS[one.verb] || (one.verb === "post" ? "" : one.verb.replaceAll("_", " ")), one.verb === "post" ? "" : " · ", when(one.createdAt))),
    one.mine && h("button.icon", { ariaLabel: "Take it back", onclick: doing(() => confirm("Take this back?") && takeBack(one)) }, "✕")),
  h("p.words", one.previewText),
  one.media?.url && h("img", { src: one.media.url, alt: "", loading: "lazy" }),
  h(".line", h("button.btn.quiet.small", { onclick: doing(() => discuss(one)) }, one.comments ? count(one.comments, "comment") : "Comment"), h("span.grow"),
    !one.mine && reportOf("activity", one.activityId, { placeId: one.actorId, createdAt: one.createdAt })));

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
  const [page, mine] = await Promise.all([rest.get(own("/feed?limit=20")), all(own("/activities?limit=20"))]);
  more = page.cursor;
  // What one did oneself stands between, as far as the others are loaded.
  entries = [...heard].reverse().concat(mine).reduce((some, one) => placed(one, some), page.items);
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

const said = (one, text, more = null) => h(one.mine ? ".said.mine" : ".said", h("small", one.mine ? "" : `${one.authorName || "Somebody"} · `, when(one.createdAt), more), h(".words", text));

async function discuss(one) {
  asked = one;
  $("#comments").showModal();
  const found = await all(path`/actors/${one.actorId}/activities/${one.activityId}/comments`);
  list($("#said-about"), found, (comment) => comment.activityId, (comment) => said(comment, comment.previewText,
    !comment.mine && reportOf("activity", comment.activityId, { placeId: comment.actorId, createdAt: comment.createdAt })), nothing("Nobody has said anything yet"));
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
    : h("button.btn.small", { onclick: doing(() => rest.post(path`/goals/${one.goalId}/completion`)) }, "Reached it"),
    h("button.icon", { ariaLabel: `Delete ${one.title}`, onclick: doing(() => confirm(`Delete ${one.title} with its steps?`) && rest.delete(path`/goals/${one.goalId}`)) }, "✕")),
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
  badge(rooms.filter((one) => one.unread && one.roomId !== open).length, "#unread-rooms");
  list($("#all-rooms"), rooms, (one) => one.roomId, (one) => h(one.unread ? "a.talked.unread" : "a.talked", { href: path`#/rooms/${one.roomId}` }, face(one.title || "?"),
    h(".what", h("b.clip", one.title || "Only you"), h("small.clip", one.lastText || "Nothing written yet")), one.lastAt && h("small.muted", when(one.lastAt))),
    nothing("No room yet", "Write to somebody."));
  for (const link of $$("#all-rooms a")) link.setAttribute("aria-current", String(link.hash === path`#/rooms/${open}`));
}
async function loadTalk() {
  const found = (await all(path`/rooms/${open}/messages?limit=50`)).reverse();
  list($("#talk"), found, (one) => one.messageId, (one) => said(one, one.text, !one.mine && reportOf("message", one.messageId, { placeId: one.roomId, createdAt: one.createdAt })), nothing("Say the first word"));
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
  list($("#groups"), groups, (one) => one.groupId, (one) => h("a", { href: path`#/groups/${one.groupId}` }, face(one.groupName), h(".what", h("b.clip", one.groupName),
    h("small", `${count(one.memberCount, "member")} · you are ${one.role}`))), nothing("No group yet", "Found one, or open the link of a friend’s."));
  const chosen = $("#where").value;
  $("#where").replaceChildren(h("option", { value: "" }, "For my followers"), ...groups.map((one) => h("option", { value: one.groupId }, one.groupName)));
  $("#where").value = groups.some((one) => one.groupId === chosen) ? chosen : "";
}
async function findPerson(nickname) {
  const { id } = await rest.get(path`/nicknames/${nickname}`);
  const again = async () => {
    const one = await rest.get(path`/users/${id}`);
    const row = person(one, one.followedByMe, async () => { await again(); await loadPeople(); });
    if (id !== me().id) {
      row.append(h("button.btn.quiet.small", { type: "button", onclick: doing(async () => { await (one.blockedByMe ? rest.delete(path`/blocks/${id}`) : rest.post(path`/blocks/${id}`)); await again(); await loadPeople(); }) }, one.blockedByMe ? "Unblock" : "Block"), reportOf("user", id));
    }
    $("#found").replaceChildren(h("section.panel", h(".rows", row)));
  };
  await again();
}
form($("#find"), ({ nickname }) => findPerson(nickname));
let changed = null;
/** Open the form of a new group, or of one that changes. */
function editGroup(now = null) {
  changed = now;
  const fields = $("#new-group form").elements;
  $("#new-group-title").textContent = now ? "Change the group" : "A group";
  $("#new-group .btn.main").textContent = now ? "Save" : "Found it";
  fields.name.value = now?.name ?? "";
  fields.description.value = now?.description ?? "";
  $("#new-group").showModal();
}
$("#found-group").addEventListener("click", () => editGroup());
form($("#new-group form"), async (values) => {
  if (changed) { await rest.patch(path`/groups/${changed.groupId}`, values); await loadGroup(changed.groupId); }
  else location.hash = path`#/groups/${(await rest.post("/groups", values)).groupId}`;
  $("#new-group").close();
});

/** One group: who is in it, what it is about, and the way in or out. */
async function loadGroup(id) {
  const url = path`/groups/${id}`, [found, members] = await Promise.all([rest.get(url), all(`${url}/members?limit=100`)]);
  const mine = members.find((one) => one.userId === me().id), change = (work) => doing(async () => { await work(); await loadGroup(id); });
  const owner = mine?.role === "owner", leads = owner || mine?.role === "admin";
  const inCharge = (one) => {
    const url = path`/groups/${id}/members/${one.userId}`, name = one.person?.fullName || "them", role = one.role === "member" ? "admin" : "member";
    if (one === mine || (!owner && !(leads && one.role === "member"))) return null;
    return h("span.acts", owner && one.role !== "owner" && h("button.btn.small", { onclick: change(() => rest.put(`${url}/role`, { role })) }, `Make ${role}`),
      owner && one.role === "admin" && h("button.btn.small", { onclick: change(() => confirm(`Make ${name} an owner too?`) && rest.put(`${url}/role`, { role: "owner" })) }, "Make owner"),
      h("button.icon", { ariaLabel: `Remove ${name}`, onclick: change(() => confirm(`Remove ${name} from the group?`) && rest.delete(url)) }, "✕"));
  };
  redraw($("#group"), h(".head", h("div", h("h1", found.name), h("p", count(Math.max(found.memberCount, members.length), "member"), found.description && ` · ${found.description}`)),
    h(".acts", mine ? h("button.btn", { onclick: doing(async () => { await navigator.clipboard?.writeText(location.href); say(navigator.clipboard ? "Copied. Whoever opens it can join." : location.href); }) }, "Copy the link")
      : h("button.btn.main", { onclick: change(() => rest.post(`${url}/members`)) }, "Join"),
    mine && mine.role !== "owner" && h("button.btn", { onclick: change(() => confirm(`Leave ${found.name}?`) && rest.delete(`${url}/membership`)) }, "Leave"),
    leads && h("button.btn", { onclick: () => editGroup(found) }, "Change"),
    owner && !found.isPersistent && h("button.btn.danger", { onclick: doing(async () => { if (confirm(`Delete ${found.name} with its rooms and posts?`)) { await rest.delete(url); location.hash = "#/people"; } }) }, "Delete"),
    found.ownerId !== me().id && reportOf("group", id))),
  h("section.panel.narrow", h("header", h("h2", "Members")), h(".rows", members.map((one) => h("div", face(one.person?.fullName || "?"),
    h(".what", h("b.clip", one.person?.fullName || "Somebody"), h("small", one.person && `@${one.person.nickname}`)), one.role !== "member" && h("span.tag.on", one.role), inCharge(one))))));
}

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
  quest_completed: (one) => `You won ${one.text}`, quest_cancelled: (one) => `${one.text} cannot be won any more`, removed: (one) => `A moderator removed ${one.text}`, report_handled: (one) => `Your report was ${one.text}`,
};
const LEADS = { followed: "#/people", commented: "#/feed", role_changed: "#/people", quest_completed: "#/goals", quest_cancelled: "#/goals" };
const told = (one) => ({
  id: one.noticeId, who: one.fromName, words: [one.fromName && h("b", one.fromName), WORDS[one.kind](one)], at: one.createdAt, read: !!one.readAt, href: LEADS[one.kind] || "#/news",
});
countNews();

/* ---------- places ---------- */

const LOADED = { feed: [loadDue, loadQuests, loadGroups], rooms: [loadRooms], goals: [loadGoals, loadQuests], people: [loadPeople, loadGroups], news: [], group: [], you: [loadAccount] };
const CHANGES = {
  Goal: [loadGoals, loadDue], Task: [loadGoals, loadDue, loadQuests], Quest: [loadQuests], UserRoom: [loadRooms], GroupMember: [loadGroups, loadRooms],
};

let known = null;
async function hasProfile() {
  if (known === me().id) return true;
  try { await rest.get(own("/account")); known = me().id; return true; } catch (error) {
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

/** Each report is decided on its own here; a user is suspended, anything else is removed. */
const keepingOrder = {
  reports: async () => (await all("/reports?limit=100")).map((one) => ({ ...one, kind: one.subjectType })),
  decide: (one, decision, note) => rest.post(path`/reports/${one.reporterId}/${one.subjectType}/${one.subjectId}/decision`, { decision: decision === "remove" ? "removed" : "dismissed", note }),
  trail: async (month) => Promise.all((await all(path`/audit?limit=100&month=${month.toISOString()}`)).map(async (one) => ({
    ...one, byName: await rest.get(path`/users/${one.by}`).then((person) => person.fullName, () => one.by),
  }))),
  removal: ({ kind }) => (kind === "user" ? "Suspend them for 30 days" : "Remove it"),
  key: ({ kind, subjectId, reporterId }) => `${kind} ${subjectId} ${reporterId}`,
};

/* What is drawn by what is loaded says what it is before. */
const TITLES = { news: "News for you", group: "A group", you: "Your account" };

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
  open = room;
  $("#rooms").classList.toggle("open", !!room);
  $("#room").hidden = !room;
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
  if (room) {
    const talk = async () => { await loadTalk(); await loadRooms(); $("#room-title").textContent = rooms.find((one) => one.roomId === room)?.title || "Room"; };
    ends.push(subscribe(ROOM, { roomId: room }, { open: () => talk().catch(gone), next: () => again([talk]), error: gone }));
  }
  return () => ends.forEach((end) => end());
}
route({ "": () => location.replace("#/feed"), feed: () => at("feed"), rooms: () => at("rooms"), "rooms/:id": ({ id }) => at("rooms", id), goals: () => at("goals"), people: () => at("people"), news: () => at("news"), you: () => at("you"), moderation: orderly,
  "groups/:id": async ({ id }) => { const left = await at("group"); if (left) await loadGroup(id).catch(gone); return left; } });
