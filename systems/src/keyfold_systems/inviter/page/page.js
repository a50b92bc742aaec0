/* Inviter for people: a calendar of hangouts, groups, one hangout. Each view loads by REST and loads
   again when a subscription tells of a change. */
import { $, become, chooseWho, count, day, doing, face, form, h, list, live, me, onPerson, path, redraw, rest, route, say, show, welcome } from "../../assets/app.js";

const MINE = "subscription ($id: String!) { listChanged(userId: $id) { userId } }";
const GROUP = "subscription ($id: String!) { groupChanged(groupId: $id) { groupId } }";
const HANGOUT = "subscription ($id: String!) { hangoutChanged(hangoutId: $id) { hangoutId } }";
const ANSWERS = [["going", "Going"], ["maybe", "Maybe"], ["not_going", "Can’t"]];
/* Without WebSockets each subscription is a connection, of which a browser has few. */
const MOST_GROUPS = "sockets" in document.documentElement.dataset ? 20 : 2;
const WEEKS = 5, DAY = 864e5;
const mine = () => [MINE, { id: me().id }];
const go = (hash) => { location.hash = hash; };
const clock = (moment) => new Date(moment).toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
const span = ({ startTimestamp, endTimestamp }) => `${day(startTimestamp)}, ${clock(startTimestamp)}${endTimestamp ? ` – ${new Date(endTimestamp) - new Date(startTimestamp) < DAY ? clock(endTimestamp) : day(endTimestamp, { timeStyle: "short" })}` : ""}`;

async function all(url, most = 200) {
  const items = [];
  let cursor = "";
  do {
    const page = await rest.get(`${url}?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor && items.length < most);
  return items;
}

function signedOut(view) {
  view.replaceChildren(welcome("Plan something with friends", "A calendar of what your groups do, and who comes.", [
    ["Plan", "A hangout with a time and a place, in a minute."], ["Invite", "A group with everybody in it, or friends of other groups."], ["Answer", "Going, maybe or not; everybody sees it."]]));
}

/* ---------- the calendar ---------- */

const event = (one, groups) => h(`a.event.${one.myAnswer ?? "unanswered"}`, { href: path`#/hangouts/${one.hangoutId}` },
  h("b", one.title), h("small", [clock(one.startTimestamp), groups.get(one.groupId)].filter(Boolean).join(" · ")), h("small", `${one.going} going`));

/** Five weeks from the Monday of this one; more where hangouts are later. */
function calendar(hangouts, groups) {
  const first = new Date(), now = new Date();
  first.setHours(0, 0, 0, 0);
  first.setDate(first.getDate() - ((first.getDay() + 6) % 7));
  const dated = Map.groupBy(hangouts, (one) => new Date(one.startTimestamp).toDateString());
  const weeks = Array.from({ length: WEEKS }, (_, week) => h(".week", Array.from({ length: 7 }, (__, at) => {
    const date = new Date(first);
    date.setDate(first.getDate() + week * 7 + at);
    const today = date.toDateString() === now.toDateString();
    const named = date.toLocaleDateString(undefined, { weekday: "short", day: "numeric", ...(date.getDate() === 1 || (week === 0 && at === 0) ? { month: "short" } : {}) });
    return h(`.date${today ? ".today" : ""}${date < now && !today ? ".gone" : ""}`, h("time", { dateTime: date.toISOString().slice(0, 10) }, today ? `Today ${date.getDate()}` : named),
      (dated.get(date.toDateString()) ?? []).map((one) => event(one, groups)));
  })));
  const end = new Date(first.getTime() + WEEKS * 7 * DAY), later = hangouts.filter((one) => new Date(one.startTimestamp) >= end);
  return [h(".month", weeks), later.length > 0 && h("section.panel", h("header", h("h2", "Later")), h(".rows", later.map((one) => h("a", { href: path`#/hangouts/${one.hangoutId}` }, h("span.what", h("b", one.title), h("small", span(one)))))))];
}

async function home(_, view) {
  if (!me()) return signedOut(view);
  const found = h(".stack", { id: "calendar", "aria-live": "polite" });
  view.replaceChildren(h(".head", h("div", h("h1", "Calendar"), h("p", "What is coming up for you and your groups.")),
    h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: doing(() => plan()) }, "Plan a hangout"))), found);
  const load = async () => {
    const [hangouts, groups] = await Promise.all([all(path`/users/${me().id}/hangouts`), all(path`/users/${me().id}/groups`)]);
    redraw(found, ...calendar(hangouts, new Map(groups.map((one) => [one.groupId, one.groupName]))),
      h("p.legend", [["ok", "going"], ["warn", "maybe"], ["accent", "not answered yet"]].map(([colour, words]) => h("span", { style: `--dot: var(--${colour})` }, words))),
      !hangouts.length && h(".empty", h("b", "Nothing planned yet"), h("p", "Plan something, or join a group of your friends.")));
    return groups.slice(0, MOST_GROUPS).map((one) => [GROUP, { id: one.groupId }]);
  };
  return live(load, mine());
}

/* ---------- groups ---------- */

async function groups(_, view) {
  if (!me()) return signedOut(view);
  const rows = h(".rows");
  view.replaceChildren(h(".head", h("div", h("h1", "Groups"), h("p", "Those you do things with.")),
    h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: () => called() }, "New group"))), h("section.panel", rows));
  return live(async () => list(rows, await all(path`/users/${me().id}/groups`), (one) => one.groupId,
    (one) => h("a", { href: path`#/groups/${one.groupId}` }, face(one.groupName), h("span.what", h("b", one.groupName))),
    () => h(".empty", h("b", "No group yet"), h("p", "Create one, and give your friends its link."))), mine());
}

async function join({ id }, view) {
  if (!me()) return signedOut(view);
  const url = path`/groups/${id}`;
  view.replaceChildren(h(".head", h("h1", "Join a group")));
  const { name, members } = await rest.get(url);
  const press = doing(async () => {
    if (!named()) return;
    await rest.post(`${url}/members`).catch((error) => { if (error.code !== "ALREADY_MEMBER") throw error; });
    go(`#${url}`);
  });
  view.replaceChildren(h(".panel", h(".empty", face(name), h("h1", name), h("p", `${count(members, "member")}. Join to see what they plan.`), h("button.btn.main", { type: "button", onclick: press }, "Join the group"))));
  return undefined;
}

async function copyLink(id) {
  const link = new URL(path`#/join/${id}`, location.href).href;
  await navigator.clipboard?.writeText(link);
  say(navigator.clipboard ? "Copied. Whoever opens it can join." : link);
}

async function group({ id }, view) {
  if (!me()) return signedOut(view);
  const url = path`/groups/${id}`, head = h(".head", h("div", h("h1", "A group"))), feed = h(".rows"), members = h(".rows"), last = h(".last");
  view.replaceChildren(head, h(".single", h("section.panel", h("header", h("h2", "Feed")), feed), h(".stack", h("section.panel", h("header", h("h2", "Members")), members), last)));
  return live(async () => {
    const [found, people, planned] = await Promise.all([rest.get(url), all(`${url}/members`), all(`${url}/feed`)]);
    redraw(head, h("div", h("h1", found.name), h("p", count(people.length, "member"))), h(".acts",
      h("button.btn.main", { type: "button", onclick: doing(() => plan({ groupId: id })) }, "Plan a hangout"),
      h("button.btn", { type: "button", onclick: doing(() => copyLink(id)) }, "Copy the link"),
      h("button.btn", { type: "button", onclick: () => called(found) }, "Rename")));
    list(feed, planned, (one) => one.hangoutId, (one) => h("a", { href: path`#/hangouts/${one.hangoutId}` }, h("span.what", h("b", one.title), h("small", [span(one), one.location].filter(Boolean).join(" · "))), h("span.tag", `${one.going} going`)),
      () => h(".empty", h("b", "Nothing planned"), h("p", "Plan the first hangout of this group.")));
    list(members, people, (one) => one.userId, (one) => h("div", face(one.userName, { size: "small" }), h("span.what", one.userName)));
    redraw(last, h("button.btn.small.quiet", { type: "button", onclick: doing(async () => { if (confirm("Leave this group?")) { await rest.delete(`${url}/members/me`); go("#/groups"); } }) }, "Leave the group"));
  }, [GROUP, { id }]);
}

/* ---------- one hangout ---------- */

function leaf(moment) {
  const date = new Date(moment), part = (options) => date.toLocaleDateString(undefined, options);
  return h(".leaf", { "aria-hidden": "true" }, h("span", part({ month: "short" })), h("b", date.getDate()), h("small", part({ weekday: "short" })));
}

async function hangout({ id }, view) {
  if (!me()) return signedOut(view);
  const url = path`/hangouts/${id}`, head = h(".head", h("div", h("h1", "A hangout"))), body = h(".single");
  view.replaceChildren(head, body);
  const load = async () => {
    const [found, guests, given] = await Promise.all([rest.get(url), rest.get(`${url}/guests`), all(`${url}/answers`)]);
    const hosts = found.hostId === me().id, said = new Set(given.map((one) => one.userId)), open = guests.users.filter((one) => !said.has(one.userId));
    const press = (answer) => doing(async () => { if (named()) { await rest.put(`${url}/answer`, { answer }); await load(); } });
    redraw(head, h(".title", leaf(found.startTimestamp), h("div", h("h1", found.title), h("p", [span(found), found.location].filter(Boolean).join(" · ")), h("p", hosts ? "You host" : `${guests.host.name} hosts`))),
      h(".answers", { role: "group", ariaLabel: "Your answer" }, ANSWERS.map(([answer, words]) => h(`button.btn.${answer}`, { type: "button", "aria-pressed": String(guests.myAnswer === answer), onclick: press(answer) }, words))));
    redraw(body, h(".stack", found.description && h("p.card.words", found.description),
      h("section.panel", h("header", h("h2", "Who comes")), h(".pad", h(".tally", { id: "tally" },
        h("div", h("b.big", found.going), h("small", "going")), h("div", h("b.big", found.maybe), h("small", "maybe")), h("div", h("b.big", found.notGoing), h("small", "can’t")))),
      h(".rows", given.map((one) => h("div", face(one.name, { size: "small" }), h("span.what", one.name), h(`span.tag${{ going: ".ok", maybe: ".warn" }[one.answer] ?? ""}`, ANSWERS.find(([answer]) => answer === one.answer)[1]))),
        open.map((one) => h("div", face(one.name, { size: "small" }), h("span.what.muted", one.name), h("span.tag", "No answer yet")))))),
    h(".stack", h("section.panel", h("header", h("h2", "Invited")), h(".rows",
      guests.groups.map((one) => h("div", face(one.name, { size: "small" }), h("span.what", one.name, h("small", count(one.members, "member"))))),
      guests.users.map((one) => h("div", face(one.name, { size: "small" }), h("span.what", one.name))),
      !guests.groups.length && !guests.users.length && h("div", h("span.what.muted", "Nobody else yet")))),
    hosts && h(".acts", h("button.btn", { type: "button", onclick: doing(() => plan({ hangout: found })) }, "Change it or invite")),
    hosts && h(".last", h("button.btn.small.quiet", { type: "button", onclick: doing(async () => { if (confirm("Delete this hangout for everybody?")) { await rest.delete(url); go("#/"); } }) }, "Delete the hangout"))));
  };
  return live(load, [HANGOUT, { id }]);
}

/* ---------- dialogs ---------- */

let planned = null, renamed = null;
const local = (moment) => new Date(new Date(moment) - new Date().getTimezoneOffset() * 6e4).toISOString().slice(0, 16);
const box = (name, value, label, checked) => h("label.check", h("input", { type: "checkbox", name, value, checked, dataset: { many: "" } }), label);

/** Plan a hangout, or change the given one: the groups of mine, and everybody who is in them. */
async function plan({ hangout: known = null, groupId = null } = {}) {
  if (!named()) return;
  planned = known;
  const groups = await all(path`/users/${me().id}/groups`), people = new Map();
  const members = await Promise.all(groups.slice(0, MOST_GROUPS).map((one) => all(path`/groups/${one.groupId}/members`)));
  for (const one of members.flat()) if (one.userId !== me().id) people.set(one.userId, one.userName);
  if (known) for (const one of (await rest.get(path`/hangouts/${known.hangoutId}/guests`)).users) people.set(one.userId, one.name);
  const soon = new Date(Math.ceil(Date.now() / 36e5) * 36e5 + DAY), sheet = $("#plan form");
  sheet.reset();
  $("#plan-title").textContent = known ? "Change the hangout" : "Plan a hangout";
  $("#plan .main").textContent = known ? "Save" : "Invite them";
  $("#title").value = known?.title ?? "";
  $("#starts").value = local(known?.startTimestamp ?? soon);
  $("#ends").value = known ? (known.endTimestamp ? local(known.endTimestamp) : "") : local(soon.getTime() + 72e5);
  $("#location").value = known?.location ?? "";
  $("#description").value = known?.description ?? "";
  $("#some-groups").replaceChildren(...groups.map((one) => box("associatedGroups", one.groupId, one.groupName, known ? known.associatedGroups.includes(one.groupId) : one.groupId === groupId)));
  $("#some-people").replaceChildren(...[...people].map(([id, label]) => box("invitedUsers", id, label, known?.invitedUsers.includes(id) ?? false)));
  $("#plan").showModal();
}

form($("#plan form"), async ({ title, associatedGroups = [], invitedUsers = [], ...rest_ }) => {
  if (!planned) {
    const made = await rest.post("/hangouts", { title, ...rest_, associatedGroups, invitedUsers });
    $("#plan").close();
    return go(path`#/hangouts/${made.hangoutId}`);
  }
  const url = path`/hangouts/${planned.hangoutId}`;
  if (title !== planned.title) await rest.put(`${url}/title`, { title });
  await rest.patch(url, rest_);
  await rest.put(`${url}/guests`, { associatedGroups, invitedUsers });
  $("#plan").close();
}, { done: "Saved" });

function called(known = null) {
  renamed = known;
  $("#name-title").textContent = known ? "Rename the group" : "A new group";
  $("#name .main").textContent = known ? "Rename it" : "Create it";
  $("#group-name").value = known?.name ?? "";
  if (named()) $("#name").showModal();
}
form($("#name form"), async (values) => {
  if (renamed) await rest.patch(path`/groups/${renamed.groupId}`, values);
  else go(path`#/groups/${(await rest.post("/groups", values)).groupId}`);
  $("#name").close();
});

/* ---------- who is here ---------- */

let nameless = false;
/** Whether they said what they are called; who did not is asked. */
function named() {
  if (!me()) { chooseWho(); return false; }
  if (nameless && !$("#hello").open) $("#hello").showModal();
  return !nameless;
}
onPerson(async (person) => {
  nameless = false;
  if (!person) return;
  try { await rest.get(path`/users/${person.id}`); } catch (error) {
    if (error.status !== 404) return show(error);
    nameless = true;
    $("#my-name").value = person.name === person.id ? "" : person.name;
    named();
  }
});
form($("#hello form"), async (values) => {
  await rest.put(path`/users/${me().id}`, values);
  nameless = false;
  $("#hello").close();
  become({ ...me(), name: values.name });
}, { done: "Welcome" });

route({ "": home, groups, "groups/:id": group, "join/:id": join, "hangouts/:id": hangout });
