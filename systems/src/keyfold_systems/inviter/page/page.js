/* Inviter for people: what comes up, groups, one hangout, news. Each view loads by REST and loads
   again when a subscription tells of a change. */
import { $, become, count, day, doing, face, form, gone, h, list, live, me, onPerson, path, redraw, rest, route, say, show, subscribe, valuesOf, welcome, when } from "../../assets/app.js";
import { account } from "../../assets/account.js";
import { countNews, news } from "../../assets/news.js";
import { moderation, reportButton } from "../../assets/oversight.js";
import { picker } from "./picker.js";

const MINE = "subscription ($id: String!) { myListChanged(userId: $id) { changed } }";
const GROUP = "subscription ($id: String!) { groupChanged(groupId: $id) { hangoutId } }";
const HANGOUT = "subscription ($id: String!) { hangoutChanged(hangoutId: $id) { answeredBy } }";
const ANSWERS = [["going", "Going"], ["maybe", "Maybe"], ["not_going", "Can’t"]];
const SAID = { going: "is going", maybe: "may come", not_going: "can’t come" };
/* Without WebSockets each subscription is a connection, of which a browser has few. */
const MOST_GROUPS = "sockets" in document.documentElement.dataset ? 20 : 2;
const view = $("#view");
const mine = () => [MINE, { id: me().id }];

/* ---------- small things ---------- */

const go = (hash) => { location.hash = hash; };
const clock = (moment) => new Date(moment).toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
const over = (hangout) => new Date(hangout.endsAt) <= new Date();

/** From when to when; the day on which it ends where that is not the first night. */
function span({ startsAt, endsAt }) {
  const far = new Date(endsAt) - new Date(startsAt) >= 864e5;
  return `${clock(startsAt)} – ${far ? day(endsAt, { timeStyle: "short" }) : clock(endsAt)}`;
}

function leaf(moment, size = "") {
  const date = new Date(moment), part = (options) => date.toLocaleDateString(undefined, options);
  return h(`.leaf${size}`, { "aria-hidden": "true" }, h("span", part({ month: "short" })), h("b", date.getDate()), h("small", part({ weekday: "short" })));
}

function dayOf(moment) {
  const date = new Date(moment), today = new Date();
  const days = Math.round((new Date(date).setHours(0, 0, 0, 0) - today.setHours(0, 0, 0, 0)) / 864e5);
  if (days <= 0) return days ? "Running" : "Today";
  const year = date.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  return days === 1 ? "Tomorrow" : date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long", ...year });
}

const nearby = (moment) => (["Today", "Tomorrow"].includes(dayOf(moment)) ? dayOf(moment) : when(moment));

/** The beginning of a list, and a button that shows as much again: `again` draws what `read` finds. */
function paged(url, size, again) {
  let most = size;
  const button = h("button.btn.wide", { type: "button", hidden: true, onclick: doing(() => { most += size; return again(); }) }, "Show more");
  const read = async () => {
    const items = [];
    let cursor = "";
    do {
      const page = await rest.get(`${url}?limit=${Math.min(most - items.length, 200)}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      items.push(...page.items);
      cursor = page.cursor;
    } while (cursor && items.length < most);
    button.hidden = !cursor;
    return items;
  };
  return { read, button };
}

/* ---------- answering ---------- */

/** Three buttons; the pressed one is your answer. */
function answers(hangout, answered) {
  if (hangout.cancelled) return h("span.tag.bad", "Cancelled");
  if (over(hangout)) return h("span.tag", hangout.myAnswer ? `You: ${ANSWERS.find(([id]) => id === hangout.myAnswer)[1]}` : "Over");
  return h(".answers", { role: "group", ariaLabel: `Your answer to ${hangout.title}` }, ANSWERS.map(([id, word]) => h(`button.btn.${id}`, {
    type: "button", ariaPressed: String(hangout.myAnswer === id),
    onclick: doing(async () => {
      await rest.put(path`/hangouts/${hangout.hangoutId}/response`, { answer: id });
      answered({ ...hangout, ...moved(hangout, id), myAnswer: id });
    }),
  }, word)));
}

/** The counts as they will be; the stream brings the others' answers too. */
function moved(hangout, answer) {
  const field = { going: "going", maybe: "maybe", not_going: "notGoing" }, counts = {};
  if (hangout.myAnswer) counts[field[hangout.myAnswer]] = Math.max(0, hangout[field[hangout.myAnswer]] - 1);
  if (hangout.myAnswer === answer) return {};
  return { ...counts, [field[answer]]: hangout[field[answer]] + 1 };
}

function hangoutCard(hangout, answered) {
  const from = [hangout.hostId === me()?.id ? "You host" : hangout.hostName && `${hangout.hostName} hosts`, hangout.groupName];
  const coming = [count(hangout.going, "going", "going"), hangout.maybe && `${hangout.maybe} maybe`];
  return h(`article.hangout${hangout.cancelled ? ".off" : ""}`, leaf(hangout.startsAt),
    h(".what", h("h3", h("a", { href: path`#/hangouts/${hangout.hangoutId}` }, hangout.title)),
      h("p.meta", [span(hangout), hangout.place].filter(Boolean).join(" · ")),
      h("p.meta", [...from, ...coming].filter(Boolean).join(" · "))),
    answers(hangout, answered));
}

/** Hangouts in a container, under their days with `byDay`; returns what shows others. */
function hangouts(container, nothing, { byDay = false } = {}) {
  let items = [];
  const draw = () => {
    const rows = [];
    for (const one of items) {
      const label = byDay ? dayOf(one.startsAt) : "";
      if (byDay && rows.at(-1)?.label !== label) rows.push({ label, head: true });
      rows.push({ label, ...one });
    }
    const changed = (one) => { items = items.map((each) => (each.hangoutId === one.hangoutId ? one : each)); draw(); };
    list(container, rows, (one) => (one.head ? `day ${one.label}` : one.hangoutId), (one) => (one.head ? h("h2.when", one.label) : hangoutCard(one, changed)), nothing);
  };
  return (found) => { items = found; draw(); };
}

/* ---------- planning ---------- */

const choice = (group, checked = false) => h("label.check", h("input", { type: "checkbox", name: "groupIds", value: group.groupId, dataset: { many: "" }, checked }), group.groupName);
let invited = null, planned = null, before = {};
const local = (date) => new Date(date - date.getTimezoneOffset() * 6e4).toISOString().slice(0, 16);

/** Open the form, empty or with a hangout that its host changes. */
async function plan({ groupId = null, hangout = null } = {}) {
  if (!named()) return;
  const element = $("#plan form"), field = (name) => element.elements[name];
  planned = hangout;
  element.reset();
  $("#plan-title").textContent = hangout ? "Change the hangout" : "Plan a hangout";
  $("#plan .btn.main").textContent = hangout ? "Save" : "Invite them";
  const soon = new Date();
  soon.setDate(soon.getDate() + 1);
  soon.setHours(18, 0, 0, 0);
  field("startsAt").value = local(hangout ? new Date(hangout.startsAt) : soon);
  field("endsAt").value = local(hangout ? new Date(hangout.endsAt) : new Date(+soon + 72e5));
  for (const name of ["title", "place", "description"]) field(name).value = hangout?.[name] ?? "";
  for (const part of ["#plan-groups", "#plan-people"]) $(part).hidden = Boolean(hangout);
  if (!hangout) {
    const { items } = await rest.get(path`/users/${me().id}/groups?limit=200`);
    $("#plan-groups .choices").replaceChildren(...items.map((one) => choice(one, one.groupId === groupId)), ...(items.length ? [] : [h("span.muted", "You are in no group yet.")]));
    invited = picker($("#plan-people"), "Who else, by name?");
  }
  before = valuesOf(element);
  $("#plan").showModal();
}

$("#starts").addEventListener("change", ({ target }) => {
  const ends = $("#ends");
  if (target.value && (!ends.value || ends.value <= target.value)) ends.value = local(new Date(+new Date(target.value) + 72e5));
});
form($("#plan form"), async (values) => {
  // What they did not touch stays as it is, whoever changes it meanwhile.
  const touched = Object.entries(values).filter(([name, value]) => name !== "groupIds" && value !== before[name]);
  if (planned) await rest.patch(path`/hangouts/${planned.hangoutId}`, Object.fromEntries(touched));
  else go(path`#/hangouts/${(await rest.post("/hangouts", { ...values, userIds: invited.ids() })).hangoutId}`);
  $("#plan").close();
  say(planned ? "Saved" : "Planned");
});

/* ---------- inviting into what is there ---------- */

let asked = null, invite = null;
/** Invite people by name, and groups where some are offered: `send(userIds, groupIds)` gives how many. */
function ask(title, send, groups = []) {
  $("#ask-title").textContent = title;
  $("#ask-groups").hidden = !groups.length;
  $("#ask-groups .choices").replaceChildren(...groups.map((one) => choice(one)));
  asked = picker($("#ask-people"), "Who, by name?");
  invite = send;
  $("#ask").showModal();
}
form($("#ask form"), async ({ groupIds = [] }) => {
  const ids = asked.ids(), all = ids.length + groupIds.length;
  if (!all) return say("Choose somebody first.", { bad: true });
  const sent = await invite(ids, groupIds);
  $("#ask").close();
  return say(sent ? `${count(sent, "invitation")} sent` : "They are in it or were asked already.");
});

let renamed = null;
/** Open the form of a new group, or of one that gets another name. */
function name(group = null) {
  if (!named()) return;
  renamed = group;
  $("#found-title").textContent = group ? "Rename the group" : "A new group";
  $("#found .btn.main").textContent = group ? "Rename it" : "Create it";
  $("#found .check").hidden = Boolean(group);
  $("#group-name").value = group?.name ?? "";
  $("#found").showModal();
}
form($("#found form"), async ({ name: called, private: closed }) => {
  if (renamed) await rest.patch(path`/groups/${renamed.groupId}`, { name: called });
  else go(path`#/groups/${(await rest.post("/groups", { name: called, private: closed })).groupId}`);
  $("#found").close();
});

/* ---------- what comes up ---------- */

function signedOut() {
  view.replaceChildren(welcome("Plan something with friends", "Invite people or whole groups, and see at once who comes.", [
    ["Plan", "A hangout with a time and a place, in a minute."], ["Invite", "Friends by name, or a group with everybody in it."], ["Answer", "Going, maybe or not; everybody sees it live."]]));
}

async function home() {
  if (!me()) return signedOut();
  const found = h(".stack.tight", { id: "coming", "aria-live": "polite" });
  const draw = hangouts(found, () => h(".empty", h("b", "Nothing planned yet"), h("p", "Plan something, and invite your friends.")), { byDay: true });
  const load = async () => {
    const [items, groups] = await Promise.all([coming.read(), rest.get(path`/users/${me().id}/groups?limit=${MOST_GROUPS}`)]);
    draw(items);
    return groups.items.map((one) => [GROUP, { id: one.groupId }]);
  };
  const coming = paged(path`/users/${me().id}/hangouts`, 50, load);
  view.replaceChildren(h(".head", h("div", h("h1", "Coming up"), h("p", "What you host, and what you and your groups are invited to.")),
    h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: doing(() => plan()) }, "Plan a hangout"))), found, coming.button);
  return live(load, mine());
}

/* ---------- groups ---------- */

async function groups() {
  if (!me()) return signedOut();
  const waiting = h(".rows"), asked = h("section.panel", { hidden: true }, h("header", h("h2", "You are asked to join")), waiting);
  const joined = h(".rows");
  view.replaceChildren(h(".head", h("div", h("h1", "Groups"), h("p", "Those you do things with.")),
    h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: () => name() }, "New group"))), asked, h("section.panel", joined));
  return live(async () => {
    const [invitations, found] = await Promise.all([rest.get(path`/users/${me().id}/invitations`), rest.get(path`/users/${me().id}/groups?limit=200`)]);
    asked.hidden = !invitations.items.length;
    list(waiting, invitations.items, (one) => one.groupId, (one) => h("div", face(one.groupName), h("span.what", h("b", one.groupName), h("small", `${one.invitedByName} asks you`)),
      h("button.btn.small.main", { type: "button", onclick: doing(async () => { await rest.post(path`/groups/${one.groupId}/members`); go(path`#/groups/${one.groupId}`); }) }, "Join"),
      h("button.btn.small.quiet", { type: "button", onclick: doing(() => rest.delete(path`/groups/${one.groupId}/invitations/${me().id}`)) }, "No")));
    list(joined, found.items, (one) => one.groupId, (one) => h("a", { href: path`#/groups/${one.groupId}` }, face(one.groupName),
      h("span.what", h("b", one.groupName), h("small", count(one.members, "member"))), one.ownerId === me().id && h("span.tag.on", "Yours"), one.private && h("span.tag", "Private")),
    () => h(".empty", h("b", "No group yet"), h("p", "Create one, and ask your friends in.")));
  }, mine());
}

/** The link of a group: members get to it, anybody else sees what they would join. */
async function join({ id }) {
  if (!me()) return signedOut();
  const url = path`/groups/${id}`, at = `#${url}`;
  view.replaceChildren(h(".head", h("h1", "Join a group")));
  if (await rest.get(url).catch(() => null)) return location.replace(at);
  try {
    const { name: called, members } = await rest.get(`${url}/link`);
    const join = h("button.btn.main", { type: "button", onclick: doing(async () => { if (named()) { await rest.post(`${url}/members`); go(at); } }) }, "Join the group");
    view.replaceChildren(h(".panel", h(".empty", face(called), h("h1", called), h("p", `${count(members, "member")}. Join to see what they plan.`), join)));
  } catch (error) { gone(error, error.code === "PRIVATE" ? "A private group" : "This group is not here"); }
  return undefined;
}

async function copyLink(id) {
  const link = new URL(path`#/join/${id}`, location.href).href;
  await navigator.clipboard?.writeText(link);
  say(navigator.clipboard ? "Copied. Whoever opens it can join." : link);
}

/** Ask people into a group; who is in it or was asked already keeps nobody else out. */
async function askIn(url, ids) {
  const sent = await Promise.all(ids.map((userId) => rest.post(`${url}/invitations`, { userId }).catch((error) => {
    if (!["ALREADY_MEMBER", "ALREADY_INVITED"].includes(error.code)) throw error;
  })));
  return sent.filter(Boolean).length;
}

async function group({ id }) {
  if (!me()) return signedOut();
  const url = path`/groups/${id}`, head = h(".head", h("div", h("h1", "A group"))), feed = h(".stack.tight", { "aria-live": "polite" });
  const members = h(".rows.members"), asked = h(".rows.members"), footer = h("footer");
  const draw = hangouts(feed, () => h(".empty", h("b", "Nothing planned"), h("p", "Plan the first hangout of this group.")));
  const load = async () => {
    const [found, people, waiting, planned] = await Promise.all([rest.get(url), everybody.read(), rest.get(`${url}/invitations?limit=200`), all.read()]);
    const owner = found.ownerId === me().id;
    redraw(head, h("div", h("h1", found.name), h("p", count(found.members, "member"), found.private ? " · private" : "")),
      h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: doing(() => plan({ groupId: id })) }, "Plan a hangout"),
        !found.private && h("button.btn", { type: "button", onclick: doing(() => copyLink(id)) }, "Copy the link"),
        owner && h("button.btn", { type: "button", onclick: () => name(found) }, "Rename"),
        owner ? h("button.btn", { type: "button", onclick: doing(() => rest.put(`${url}/privacy`, { private: !found.private }).then(load)) }, found.private ? "Open to all" : "Make private")
          : reportButton("group", id)));
    list(members, people.map((one) => ({ ...one, owner, first: one.userId === found.ownerId })), (one) => one.userId, (one) => h("div", face(one.userName, { size: "small" }),
      h("span.what", one.userName), one.first && h("span.tag.on", "Owner"),
      owner && !one.first && h("span.acts", h("button.btn.small.quiet", { type: "button", ariaLabel: `Hand over to ${one.userName}`, onclick: doing(() => sure(`Hand the group over to ${one.userName}?`) && rest.put(`${url}/owner`, { userId: one.userId })) }, "Hand over"),
      h("button.icon", { type: "button", ariaLabel: `Take ${one.userName} out`, onclick: doing(() => sure(`Take ${one.userName} out of the group?`) && rest.delete(`${url}/members/${encodeURIComponent(one.userId)}`)) }, "✕"))));
    list(asked, waiting.items, (one) => one.userId, (one) => h("div", face(one.userName, { size: "small" }), h("span.what.muted", one.userName), h("span.tag", "Asked"),
      h("button.icon", { type: "button", ariaLabel: `Take the invitation of ${one.userName} back`, onclick: doing(() => rest.delete(path`/groups/${id}/invitations/${one.userId}`).then(load)) }, "✕")));
    redraw(footer, owner
      ? h("button.btn.small.danger", { type: "button", onclick: doing(async () => { if (sure("Close this group for everybody?")) { await rest.delete(url); go("#/groups"); } }) }, "Close the group")
      : h("button.btn.small.quiet", { type: "button", onclick: doing(async () => { if (sure("Leave this group?")) { await rest.delete(`${url}/members/${encodeURIComponent(me().id)}`); go("#/groups"); } }) }, "Leave the group"));
    draw(planned.map((one) => ({ ...one, groupName: null })));
  };
  const all = paged(`${url}/feed`, 30, load), everybody = paged(`${url}/members`, 50, load);
  view.replaceChildren(head, h(".cols", h(".stack.tight", feed, all.button), h(".stack", h("section.panel", h("header", h("h2", "Members"),
    h("button.btn.small", { type: "button", onclick: () => ask("Ask into the group", (ids) => askIn(url, ids)) }, "Ask in")),
  members, everybody.button, asked, footer))));
  return live(load, [GROUP, { id }], mine());
}

const sure = (question) => confirm(question);

/* ---------- one hangout ---------- */

async function hangout({ id }) {
  if (!me()) return signedOut();
  const url = path`/hangouts/${id}`, head = h(".head", h("div", h("h1", "A hangout"))), body = h(".cols");
  view.replaceChildren(head, body);
  const load = async () => {
    const [found, guests, given] = await Promise.all([rest.get(url), rest.get(`${url}/guests`), answered.read()]);
    const shown = { ...found, myAnswer: guests.myAnswer ?? null }, host = found.hostId === me().id;
    const change = (words, values) => h("button.btn", { type: "button", onclick: doing(() => rest.patch(url, values).then(load)) }, words);
    redraw(head, h(".title", leaf(found.startsAt, ".large"), h("div", h("h1", found.title),
      h("p", [`${day(found.startsAt)}, ${span(found)}`, found.place].filter(Boolean).join(" · ")),
      h("p", over(found) ? "It is over" : new Date(found.startsAt) <= new Date() ? "Going on now" : nearby(found.startsAt), ` · ${host ? "You host" : `${found.hostName} hosts`}`))), h(".acts", answers(shown, load)));
    const open = guests.users.filter((one) => !one.answer && one.userId !== found.hostId);
    redraw(body,
      h(".stack", found.description && h("p.card.words", found.description),
        h("section.panel", h("header", h("h2", "Who comes")), h(".pad", h(".tally", { id: "tally" },
          h("div", h("b.big", found.going), h("small", "going")), h("div", h("b.big", found.maybe), h("small", "maybe")), h("div", h("b.big", found.notGoing), h("small", "can’t")))),
        h(".rows", given.map((one) => h("div", face(one.userName, { size: "small" }), h("span.what", one.userName),
          h(`span.tag${one.answer === "going" ? ".ok" : one.answer === "maybe" ? ".warn" : ""}`, ANSWERS.find(([answer]) => answer === one.answer)[1]))),
        open.map((one) => h("div", face(one.name, { size: "small" }), h("span.what.muted", one.name), h("span.tag", "No answer yet")))), answered.button)),
      h(".stack", h("section.panel", h("header", h("h2", "Invited"), host && !over(found) && !found.cancelled && h("button.btn.small", {
        type: "button", onclick: doing(async () => {
          const { items } = await rest.get(path`/users/${me().id}/groups?limit=200`);
          ask("Invite to the hangout", async (userIds, groupIds) => {
            await rest.post(`${url}/guests`, { userIds, groupIds });
            return userIds.length + groupIds.length;
          }, items.filter((one) => !found.groupIds.includes(one.groupId)));
        }),
      }, "Invite")), h(".rows", guests.groups.map((one) => h("div", face(one.name, { size: "small" }), h("span.what", one.name, h("small", count(one.members, "member"))),
        host && h("button.icon", { type: "button", ariaLabel: `Take the invitation of ${one.name} back`, onclick: doing(() => sure(`Take back the invitation of ${one.name}? Their answers go too.`) && rest.post(`${url}/withdrawals`, { groupIds: [one.groupId] })) }, "✕"))),
      guests.users.map((one) => h("div", face(one.name, { size: "small" }), h("span.what", one.name), one.userId === found.hostId && h("span.tag.on", "Host"),
        host && one.userId !== found.hostId && h("button.icon", { type: "button", ariaLabel: `Take the invitation of ${one.name} back`, onclick: doing(() => rest.post(`${url}/withdrawals`, { userIds: [one.userId] })) }, "✕"))))),
      host && h(".acts", h("button.btn", { type: "button", onclick: doing(() => plan({ hangout: found })) }, "Change it"),
        !over(found) && (found.cancelled ? change("It takes place", { cancelled: false }) : change("Cancel it", { cancelled: true })),
        h("button.btn.danger", { type: "button", onclick: doing(async () => { if (sure("Delete this hangout and all its answers? Nobody is told: cancel it to tell those who come.")) { await rest.delete(url); go("#/"); } }) }, "Delete")),
      !host && h(".acts", reportButton("hangout", id))));
  };
  const answered = paged(`${url}/responses`, 50, load);
  return live(load, [HANGOUT, { id }], mine());
}

/* ---------- news ---------- */

const by = (one) => one.actorName || "Somebody";
const TOLD = {
  invited: (one) => `${by(one)} invites you to ${one.title}`,
  changed: (one) => `${by(one)} changed ${one.title}`,
  cancelled: (one) => `${one.title} is cancelled`,
  reinstated: (one) => `${one.title} takes place after all`,
  answered: (one) => `${by(one)} ${SAID[one.answer]}: ${one.title}`,
  group_invited: (one) => `${by(one)} asks you into ${one.title}`,
  group_joined: (one) => `${by(one)} joined ${one.title}`,
  removed: (one) => `A moderator removed ${one.title}: ${one.text}`,
  group_handed_over: (one) => `${by(one)} made you the owner of ${one.title}`,
};

const told = (one) => ({
  id: one.noteId, who: one.actorName || one.title, words: TOLD[one.kind](one), at: one.at, read: one.read,
  href: one.kind === "group_invited" ? "#/groups" : one.kind === "removed" ? "#/news" : one.hangoutId ? path`#/hangouts/${one.hangoutId}` : path`#/groups/${one.groupId}`,
});

const inbox = () => (me() ? news(view, { words: "What happened while you were away.", told, quiet: "You will hear when somebody invites you or answers." }) : signedOut());

/* ---------- you ---------- */

async function details() {
  const profile = await rest.get(path`/users/${me().id}/profile`);
  return form(h("form.panel", h("header", h("h2", "Your profile")), h(".pad.stack",
    h(".field", h("label", { htmlFor: "own-name" }, "Name"), h("input", { id: "own-name", name: "name", value: profile.name, required: true, maxLength: 200, autocomplete: "name" }), h("span.hint", "Friends find you by it.")),
    h(".acts", h("button.btn.main", "Save")))), async ({ name: called }) => {
    await rest.put(path`/users/${me().id}`, { name: called });
    become({ ...me(), name: called });
  }, { done: "Saved" });
}

const you = () => (me() ? account(view, details(), "Download what Inviter stores about you, or delete your account: your hangouts, answers and memberships go with it. Groups you own are handed over or closed first.") : signedOut());

/* ---------- who is here ---------- */

let unheard = null, nameless = false;
/** Whether they said what they are called; who did not is asked again. */
function named() {
  if (nameless && !$("#hello").open) $("#hello").showModal();
  return !nameless;
}
onPerson((person) => {
  unheard?.();
  unheard = null;
  nameless = false;
  if (!person) return;
  const known = async () => {
    try { await rest.get(path`/users/${person.id}/profile`); } catch (error) {
      if (error.status !== 404) return show(error);
      $("#my-name").value = person.name === person.id ? "" : person.name;
      nameless = true;
      named();
    }
    return undefined;
  };
  unheard = subscribe(MINE, { id: person.id }, { open: known });
});
countNews();
form($("#hello form"), async (values) => {
  await rest.put(path`/users/${me().id}`, values);
  nameless = false;
  $("#hello").close();
  become({ ...me(), name: values.name });
}, { done: "Welcome" });

route({ "": home, groups, "groups/:id": group, "join/:id": join, you, "hangouts/:id": hangout, news: inbox, moderation: () => moderation(view) });
