import { $, $$, become, count, day, doing, face, form, gone, h, list, live, me, onPerson, path, redraw, rest, route, say, show, subscribe, valuesOf, welcome, when } from "../../assets/app.js";
import { account } from "../../assets/account.js";
import { countNews, news } from "../../assets/news.js";
import { moderation, reportButton } from "../../assets/oversight.js";
import { MODE, STATUS, figure, happened, pictureOf, price, stepName, wish } from "./words.js";

const ROOM = "subscription ($id: String!) { roomChanged(roomId: $id) { changed } }";
const MINE = "subscription ($id: String!) { myListsChanged(userId: $id) { changed } }";
const views = ["hello", "home", "news", "welcome", "room", "moderation", "you"];
const open = (name) => { for (const one of views) $(`#${one}`).hidden = one !== name; };

const SOME = 60;
let place = null, room = null, wishes = null, most = { listings: SOME, talk: SOME };

const owns = () => room?.mine?.role === "owner";
const memberName = (id) => room?.members.find((one) => one.userId === id)?.userName || (id === me()?.id ? "You" : "Somebody");
const nameOf = (one) => one.userName || "Somebody";

/** The items of a list, page by page, until there are enough, and whether there are more. */
async function pages(url, most = Infinity) {
  const items = [], at = url.includes("?") ? "&" : "?";
  let cursor = "";
  do {
    const page = await rest.get(`${url}${at}limit=${SOME}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    items.push(...page.items);
    cursor = page.cursor ?? "";
  } while (cursor && items.length < most);
  return { items, more: Boolean(cursor) };
}

/* ---------- your rooms ---------- */

async function loadHome() {
  const id = me().id;
  const [rooms, asked] = await Promise.all([pages(path`/users/${id}/rooms`), pages(path`/users/${id}/invitations`)]);
  list($("#invitations"), asked.items, (one) => one.roomId, (one) => h(".note.line.wrap.apart",
    h("span.what", h("b", one.invitedByName || "Somebody"), ` asks you into “${one.roomName}”`),
    h("span.acts",
      h("button.btn.main.small", { type: "button", onclick: doing(async () => { await rest.post(path`/rooms/${one.roomId}/members`); location.hash = `#/rooms/${one.roomId}`; }) }, "Join"),
      h("button.btn.quiet.small", { type: "button", onclick: doing(async () => { await rest.delete(path`/users/${id}/invitations/${one.roomId}`); await loadHome(); }) }, "Decline"))));
  list($("#rooms"), rooms.items, (one) => one.roomId, (one) => h("a.card.room-card", { href: `#/rooms/${encodeURIComponent(one.roomId)}` },
    h("h2", one.roomName),
    h("span.line.wrap", h("span.tag", one.searchType === "buy" ? "to buy" : "to rent"), one.role === "owner" ? h("span.tag.on", "yours") : null),
    h("small", `${count(one.listingCount ?? 0, "home")} · ${one.memberCount ?? 1} searching`)),
  () => h(".empty", h("b", "No rooms yet"), h("p", "Open one and ask somebody in.")));
}

const told = (one) => ({
  id: one.activityId, who: one.senderName || "Somebody", words: one.type === "ChatMessage" ? `${one.senderName || "Somebody"}: ${one.text}` : happened(one),
  at: one.createdAt, read: one.isRead, href: one.roomId ? path`#/rooms/${one.roomId}` : "#/news",
});

/* ---------- a room ---------- */

async function loadRoom(id) {
  const view = await rest.get(path`/rooms/${id}/view`);
  if (place !== id) return;
  room = { ...view.room, members: view.members, mine: view.members.find((one) => one.userId === me().id) };
  $("#room-name").textContent = room.name;
  $("#room-context").textContent = room.context.description ?? "";
  $("#room-context").hidden = !room.context.description;
  $("#room-about").replaceChildren(h("span.tag", room.searchType === "buy" ? "to buy" : "to rent"), h("span", count(room.listingCount, "home")), ...(owns() ? [] : [reportButton("room", id)]));
  $("#show-members").replaceChildren(h("span.faces", room.members.slice(0, 5).map((one) => face(nameOf(one), { size: "small" }))), ` ${room.members.length}`);
  const others = owns() ? room.members.filter((one) => one !== room.mine).map((one) => one.userId) : [];
  // What can be done with somebody is part of what is drawn: it changes with one's own role.
  list($("#member-rows"), room.members.map((one) => ({ ...one, manage: others.includes(one.userId) })), (one) => one.userId, (one) => h("div", face(nameOf(one)),
    h("span.what", h("b", nameOf(one)), h("small", one.role)),
    one.manage && h("button.btn.small", { type: "button", onclick: doing(() => rest.put(path`/rooms/${id}/members/${one.userId}/role`, { role: one.role === "owner" ? "member" : "owner" })) }, one.role === "owner" ? "Make a member" : "Make an owner"),
    one.manage && h("button.icon", { type: "button", ariaLabel: `Remove ${nameOf(one)}`, onclick: doing(() => confirm(`Remove ${nameOf(one)} from the room?`) && rest.delete(path`/rooms/${id}/members/${one.userId}`)) }, "✕")));
  $("#invite .write").hidden = $("#make-link").hidden = $("#settings").hidden = !owns();
  await loadLinks(id);
}

const ask = (id, userId) => rest.post(path`/rooms/${id}/invitations`, { userId });

async function loadInvitations(id) {
  const { items } = await pages(path`/rooms/${id}/invitations`);
  if (place !== id) return;
  list($("#invited-rows"), items.map((one) => ({ ...one, manage: owns() })), (one) => one.userId, (one) => {
    const declined = one.status === "declined";
    return h("div", face(nameOf(one), { size: "small" }), h("span.what.muted", nameOf(one)), h("span.tag", declined ? "Declined" : "Asked"),
      one.manage && (declined
        ? h("button.btn.small", { type: "button", onclick: doing(() => ask(id, one.userId)) }, "Ask again")
        : h("button.icon", { type: "button", ariaLabel: `Withdraw the invitation of ${nameOf(one)}`, onclick: doing(() => rest.delete(path`/rooms/${id}/invitations/${one.userId}`)) }, "✕")));
  });
}

/** The links into a room, for its owners. */
async function loadLinks(id) {
  const { items } = owns() ? await pages(path`/rooms/${id}/links`) : { items: [] };
  if (place !== id) return;
  list($("#link-rows"), items, (one) => one.linkId, (one) => h("div", h("span.what.muted", `Link by ${one.invitedByName || "somebody"}`, h("small", `until ${day(one.expiresAt)}`)),
    h("button.icon", { type: "button", ariaLabel: "Take the link back", onclick: doing(async () => { await rest.delete(path`/rooms/${id}/links/${one.linkId}`); $("#link").hidden = true; await loadLinks(id); }) }, "✕")));
}

async function loadListings(id) {
  const wanted = new URLSearchParams(valuesOf($("#filters")));
  const { items, more } = await pages(`${path`/rooms/${id}/listings`}?${wanted}`, most.listings);
  if (place !== id) return;
  const filtered = [...wanted].length > 0;
  list($("#listings"), items, (one) => one.listingId, card, () => (filtered
    ? h(".empty", h("b", "Nothing fits"), h("p", "Look wider."))
    : h(".empty", h("b", "No homes yet"), h("p", "Add what you found."))));
  $("#more-listings").hidden = !more;
}

function voting(id, home, vote, sign, people) {
  const pressed = home.vote === vote;
  return h("button.btn.small", {
    type: "button", "aria-pressed": String(pressed), ariaLabel: `${vote === "like" ? "Like" : "Dislike"} ${home.title}`, title: people.map(memberName).join(", "),
    onclick: doing(async () => { await rest.put(path`/rooms/${id}/listings/${home.listingId}/vote`, { vote: pressed ? null : vote }); await loadListings(id); }),
  }, `${sign} ${people.length}`);
}

function card(home) {
  const [label, tone] = STATUS[home.status];
  const facts = [home.location, home.rooms != null && `${figure(home.rooms)} ${home.rooms === 1 ? "room" : "rooms"}`, home.surface != null && `${figure(home.surface)} m²`].filter(Boolean).join(" · ");
  return h(home.seen ? "article.home" : "article.home.new", pictureOf(home), h(".stack.tight",
    h("button.title", { type: "button", onclick: doing(() => details(home)) }, home.title),
    h(".facts", home.price != null ? h("span.price", price(home.price)) : null, home.price != null && facts ? " · " : "", facts),
    h(".line.wrap", h(`span.tag${tone ? `.${tone}` : ""}`, label), h("small", `by ${home.addedByName || "somebody"}`),
      h("span.votes", voting(home.roomId, home, "like", "♥", home.likedBy), voting(home.roomId, home, "dislike", "✕", home.dislikedBy)))));
}

async function details(home) {
  const id = home.roomId, at = path`/rooms/${id}/listings/${home.listingId}`;
  const now = home.seen ? home : await rest.post(`${at}/seen`);
  const names = (ids) => ids.map(memberName).join(", ");
  const move = (step) => doing(async () => { await rest.patch(at, { status: step }); $("#details").close(); say("Moved"); await loadListings(id); });
  $("#details-title").textContent = now.title;
  $("#details-body").replaceChildren(
    pictureOf(now),
    h("dl.kv", [["Status", STATUS[now.status][0]], ["Price", now.price == null ? null : price(now.price)], ["Place", now.location], ["Rooms", now.rooms], ["Square metres", now.surface], ["Found on", now.sourceBrand],
      ["Added by", now.addedByName], ["Seen by", names(now.seenBy)], ["Liked by", names(now.likedBy)], ["Not liked by", names(now.dislikedBy)]]
      .filter(([, value]) => value != null && value !== "").map(([name, value]) => [h("dt", name), h("dd", value)])),
    now.link ? h("p", h("a", { href: now.link, target: "_blank", rel: "noreferrer noopener" }, "See it there")) : null,
    h(".steps", { role: "group", ariaLabel: "What next" }, now.nextSteps.map((step) => h("button.btn.small", { type: "button", onclick: move(step) }, stepName(step, now.status)))),
    h(".acts", h("button.btn.small", { type: "button", onclick: () => { $("#details").close(); editListing(now); } }, "Edit"), h("button.btn.danger.small", { type: "button", onclick: doing(async () => { if (!confirm(`Remove “${now.title}” for everybody?`)) return; await rest.delete(at); $("#details").close(); await loadListings(id); }) }, "Remove it"),
      now.addedBy !== me().id && reportButton("listing", `${id}/${now.listingId}`)));
  $("#details").showModal();
  if (!home.seen) await loadListings(id);
}

async function loadWishes(id) {
  const found = await rest.get(path`/rooms/${id}/wishes`);
  if (place !== id) return;
  wishes = found;
  const names = [...new Set(found.criteria.flatMap((one) => Object.keys(one.criteria)))].sort();
  const score = found.compatibility;
  redraw($("#fit"), score
    ? h(".stack.tight", h(".line.apart", h("span.big", `${score.scorePercent}%`), h("span.tag.on", score.level)), h("progress", { max: 100, value: score.scorePercent, ariaLabel: "How well our wishes fit" }), h("small", score.comment))
    : h("p.hint", "Say what you look for. Once two of you did, it is compared."));
  const cell = (one, name) => {
    if (!(name in one.criteria)) return h("td", "–");
    const weight = h("span.weight");
    weight.style.width = `${100 * (one.weights[name] ?? 1)}%`;
    return h("td", wish(one.criteria[name]), weight);
  };
  redraw($("#wishes"), names.length
    ? h("table", h("thead", h("tr", h("th", "Criterion"), found.criteria.map((one) => h("th", nameOf(one))), found.combined ? h("th", "Together") : null)),
      h("tbody", names.map((name) => h("tr", h("th", name), found.criteria.map((one) => cell(one, name)), found.combined ? h("td.ours", name in found.combined.criteria ? wish(found.combined.criteria[name]) : "open") : null))))
    : "");
}

async function loadTalk(id) {
  const found = await pages(path`/rooms/${id}/activities`, most.talk);
  if (place !== id) return;
  $("#more-talk").hidden = !found.more;
  const talk = $("#talk"), down = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 60;
  list(talk, found.items.reverse(), (one) => one.activityId, (one) => {
    if (one.senderType === "system") return h("p.happened", happened(one), " · ", when(one.createdAt));
    const mine = one.senderId === me()?.id;
    return h(mine ? ".said.mine" : ".said", h("span.words", one.text), h("small", one.senderType === "ai_copilot" ? "Copilot" : mine ? "You" : one.senderName || "Somebody", " · ", when(one.createdAt)));
  });
  if (down) talk.scrollTop = talk.scrollHeight;
}

const LOADS = { Room: [loadRoom], Member: [loadRoom, loadWishes], Invitation: [loadInvitations], Listing: [loadListings, loadRoom], LatestCriteria: [loadWishes], CombinedCriteria: [loadWishes], Compatibility: [loadWishes], Activity: [loadTalk] };

/** What changed is read again, once for changes that come together. */
function following(id) {
  const wanted = new Set();
  let timer = 0;
  return ({ roomChanged: { changed } }) => {
    for (const load of LOADS[changed] || []) wanted.add(load);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const now = [...wanted];
      wanted.clear();
      Promise.all(now.map((load) => load(id))).catch(show);
    }, 80);
  };
}

/** What stood here of another room is not shown for this one. */
function emptied() {
  room = wishes = null;
  most = { listings: SOME, talk: SOME };
  $("#filters").reset();
  for (const one of ["#room-about", "#show-members", "#member-rows", "#invited-rows", "#link-rows", "#listings", "#fit", "#wishes", "#talk"]) $(one).replaceChildren();
  $("#room-name").textContent = "A room";
  $("#room-context").hidden = true;
}

async function roomView({ id }) {
  if (!me()) return open("hello");
  open("room");
  if (place !== id) emptied();
  place = id;
  $("#link").hidden = true;
  const load = () => loadRoom(id).then(() => Promise.all([loadListings(id), loadWishes(id), loadInvitations(id)])).then(() => loadTalk(id)).catch(gone);
  return subscribe(ROOM, { id }, { open: load, next: following(id), error: gone });
}

/* ---------- what one does in a room ---------- */

for (const [name, label] of Object.entries(MODE)) $("#mode").append(h("option", { value: name }, label));
for (const [name, [label]] of Object.entries(STATUS)) $("#filters select").append(h("option", { value: name }, label));
for (const [button, what, load] of [["#more-listings", "listings", loadListings], ["#more-talk", "talk", loadTalk]]) {
  $(button).addEventListener("click", doing(async () => { most[what] += SOME; await load(place); }));
}
$("#filters").addEventListener("submit", (event) => event.preventDefault());
$("#filters").addEventListener("input", () => { clearTimeout($("#filters").timer); $("#filters").timer = setTimeout(() => loadListings(place).catch(show), 200); });
for (const one of $$("#parts button")) {
  one.addEventListener("click", () => {
    $("#columns").dataset.part = one.dataset.part;
    for (const each of $$("#parts button")) each.setAttribute("aria-pressed", String(each === one));
    $("#talk").scrollTop = $("#talk").scrollHeight;
  });
}
let changed = null, edited = null;
/** Who saves a form that stood open does not undo what somebody else saved meanwhile. */
const asRead = ({ version }) => ({ headers: { "if-match": `"${version}"` } });
/** Open the form of a new room, or of this one. */
function editRoom(now = null) {
  changed = now;
  const fields = $("#new-room form").elements;
  $("#new-room-title").textContent = now ? "Change the room" : "A new search";
  $("#new-room .btn.main").textContent = now ? "Save" : "Open it";
  $("#delete-room").hidden = !now;
  fields.name.value = now?.name ?? "";
  fields.searchType.value = now?.searchType ?? "rent";
  fields.description.value = now?.context.description ?? "";
  fields.hasCopilot.checked = now?.hasCopilot ?? false;
  fields.hasCopilot.disabled = fields.hasCopilot.closest("label").hidden = !now;
  $("#new-room").showModal();
}
$("#open-room").addEventListener("click", () => editRoom());
$("#settings").addEventListener("click", () => editRoom(room));
form($("#new-room form"), async ({ description, ...values }) => {
  const { description: _, ...others } = changed?.context ?? {};
  values.context = description ? { ...others, description } : others;
  if (changed) await rest.patch(path`/rooms/${changed.roomId}`, values, asRead(changed));
  else location.hash = `#/rooms/${(await rest.post("/rooms", values)).roomId}`;
  $("#new-room").close();
});
$("#delete-room").addEventListener("click", doing(async () => {
  if (!confirm(`Delete “${changed.name}” with its homes, wishes and messages, for everybody?`)) return;
  await rest.delete(path`/rooms/${changed.roomId}`);
  $("#new-room").close();
  location.hash = "#/";
}));

/** Open the form of a new home, or of one that changes. Where it was found stays as it is. */
function editListing(now = null) {
  edited = now;
  const fields = $("#new-listing form").elements;
  $("#new-listing form").reset();
  $("#new-listing-title").textContent = now ? "Change the home" : "Add a home";
  for (const name of ["title", "location", "price", "rooms", "surface", "link", "picture"]) if (now) fields[name].value = now[name] ?? "";
  for (const name of ["sourceBrand", "externalId"]) { fields[name].disabled = Boolean(now); fields[name].closest(".field").hidden = Boolean(now); }
  $("#new-listing").showModal();
}
$("#add-listing").addEventListener("click", () => editListing());
form($("#new-listing form"), async (values) => {
  const given = edited ? values : Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  await (edited ? rest.patch(path`/rooms/${place}/listings/${edited.listingId}`, given, asRead(edited)) : rest.post(path`/rooms/${place}/listings`, given));
  $("#new-listing").close();
  await loadListings(place);
}, { done: "Saved" });
form($("#say"), async ({ text }) => { await rest.post(path`/rooms/${place}/messages`, { text }); await loadTalk(place); });

const isMust = ([, value]) => value === true;
const isOther = ([name, value]) => typeof value === "string" && name !== "location";
/** The end of a range that a field shows; undefined where it shows none. */
const bound = (value, end) => value?.[end] ?? undefined;

const placesOf = ({ location }) => [location].flat().filter((one) => typeof one === "string");

/** What somebody stated elsewhere and this form cannot show stays as it is. */
function beyondForm({ criteria }) {
  const other = Object.entries(criteria).find(isOther)?.[0];
  const inForm = { price: bound(criteria.price, "max"), rooms: bound(criteria.rooms, "min"), location: placesOf(criteria)[0], [other]: true };
  return Object.fromEntries(Object.entries(criteria).filter((one) => inForm[one[0]] === undefined && !isMust(one)));
}

/** A name and what it is belong together: one of them alone says nothing. */
function paired() {
  const { otherName, otherValue } = $("#wish form").elements;
  otherName.required = Boolean(otherValue.value.trim());
  otherValue.required = Boolean(otherName.value.trim());
}
$("#wish form").addEventListener("input", paired);

const words = (text) => (text || "").split(",").map((one) => one.trim()).filter(Boolean);
$("#my-wishes").addEventListener("click", () => {
  const mine = wishes?.criteria.find((one) => one.userId === me().id), field = $("#wish form").elements;
  $("#wish form").reset();
  if (mine) {
    field.price.value = bound(mine.criteria.price, "max") ?? "";
    field.rooms.value = bound(mine.criteria.rooms, "min") ?? "";
    field.location.value = placesOf(mine.criteria).join(", ");
    field.musts.value = Object.entries(mine.criteria).filter(isMust).map(([name]) => name).join(", ");
    const other = Object.entries(mine.criteria).find(isOther);
    if (other) [field.otherName.value, field.otherValue.value] = other;
    for (const name of ["price", "rooms", "location"]) field[`${name}-weight`].value = mine.weights[name] ?? 1;
  }
  paired();
  $("#wish").showModal();
});
form($("#wish form"), async (values) => {
  const mine = wishes?.criteria.find((one) => one.userId === me().id), before = mine?.criteria ?? {};
  const criteria = mine ? beyondForm(mine) : {};
  const range = (name, end) => ({ ...(before[name]?.constructor === Object ? before[name] : {}), [end]: values[name] });
  // What is taken out of a range leaves its other end.
  for (const [name, end] of [["price", "min"], ["rooms", "max"]]) if (!(name in criteria) && bound(before[name], end) !== undefined) criteria[name] = { [end]: before[name][end] };
  if (values.price !== undefined) criteria.price = range("price", "max");
  if (values.rooms !== undefined) criteria.rooms = range("rooms", "min");
  if (words(values.location).length) criteria.location = words(values.location);
  for (const must of words(values.musts)) criteria[must] = true;
  if (values.otherName && values.otherValue) criteria[values.otherName] = values.otherValue;
  const weights = Object.fromEntries(Object.entries(mine?.weights ?? {}).filter(([name]) => name in criteria));
  for (const name of ["price", "rooms", "location"]) if (name in criteria) weights[name] = values[`${name}-weight`];
  await rest.post(path`/rooms/${place}/criteria`, { criteria, weights });
  $("#wish").close();
  await loadWishes(place);
}, { done: "The others see it now" });
/** Wishes that nobody shares are combined; they only have no score. */
function incomparable(error) {
  if (error.code !== "NOTHING_TO_COMPARE") throw error;
  say(error.message);
}
$("#combine").addEventListener("click", doing(async () => {
  await rest.post(path`/rooms/${place}/combined-criteria`, { mode: $("#mode").value });
  if (wishes?.criteria.length > 1) await rest.post(path`/rooms/${place}/compatibility`).catch(incomparable);
  await loadWishes(place);
}));

$("#show-members").addEventListener("click", () => $("#members").showModal());
form($("#invite"), async ({ userId }) => { await ask(place, userId); }, { done: "Asked" });
$("#make-link").addEventListener("click", doing(async () => {
  const made = await rest.post(path`/rooms/${place}/links`);
  const link = new URL(`#/join/${made.roomId}/${made.linkId}`, location.href).href;
  $("#link").textContent = link;
  $("#link").hidden = false;
  await loadLinks(place);
  await navigator.clipboard?.writeText(link).then(() => say("Copied. Whoever opens it can join."), () => {});
}));
$("#leave").addEventListener("click", doing(async () => {
  if (!confirm(`Leave “${$("#room-name").textContent}”?`)) return;
  await rest.delete(path`/rooms/${place}/members/${me().id}`);
  $("#members").close();
  location.hash = "#/";
}));

/* ---------- places ---------- */

$("#hello").replaceChildren(welcome("Find a home together", "Save what you find, say what matters to you, and see what suits all of you.", [
  ["Collect", "Homes from every site, in one list with your votes."], ["Wish", "What each of you looks for, and how well it fits."], ["Talk", "About each home, in the same room, live."]]));

async function ownDetails() {
  const profile = await rest.get(path`/users/${me().id}`);
  return form(h("form.panel", h("header", h("h2", "Your profile")), h(".pad.stack",
    h(".field", h("label", { htmlFor: "own-name" }, "Name"), h("input", { id: "own-name", name: "name", value: profile.name, required: true, maxLength: 120, autocomplete: "name" }), h("span.hint", "Your user id is ", h("b", me().id), ". Tell it to whoever wants to ask you into a room.")),
    h(".acts", h("button.btn.main", "Save")))), async ({ name }) => {
    await rest.put(path`/users/${me().id}`, { name });
    become({ ...me(), name });
  }, { done: "Saved" });
}

function you() {
  if (!me()) return open("hello");
  open("you");
  return account($("#you"), ownDetails(), "Download what Search Room stores about you, or delete your account: your wishes and messages go with it, and others keep the rooms you shared.");
}

/** Who is here for the first time is called as they signed in. */
async function introduce({ id, name }) {
  const known = await rest.get(path`/users/${id}`);
  if (known.name !== id && known.name !== name) return become({ ...me(), name: known.name });
  if (name && name !== known.name) await rest.put(path`/users/${id}`, { name });
}

onPerson((person) => person && introduce(person).catch(show));
countNews();
route({
  "": () => { if (!me()) return open("hello"); open("home"); return live(loadHome, [MINE, { id: me().id }]); },
  news: () => { if (!me()) return open("hello"); open("news"); return news($("#news"), { words: "What others did in your rooms.", told, quiet: "You hear here what others do." }); },
  "rooms/:id": roomView,
  you,
  moderation: () => { open("moderation"); return moderation($("#moderation")); },
  "join/:id/:link": async ({ id, link }) => {
    if (!me()) { open("hello"); return; }
    $("#link-room").textContent = "Search together";
    $("#link-by").textContent = "";
    $("#join-link").hidden = true;
    open("welcome");
    const found = await rest.get(path`/rooms/${id}/links/${link}`).catch(gone);
    if (!found) return;
    $("#join-link").hidden = false;
    $("#link-room").textContent = found.roomName;
    $("#link-by").textContent = `${found.invitedByName || "Somebody"} asks you to search together.`;
    $("#join-link").onclick = doing(async () => { await rest.post(path`/rooms/${id}/links/${link}/members`); location.hash = `#/rooms/${id}`; });
  },
});
