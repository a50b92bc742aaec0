/* Search Room for people: rooms, and in a room a board that compares homes with what each member
   wants. Each view loads by REST and loads again when a subscription tells of a change. */
import { $, doing, face, form, h, list, live, me, onPerson, path, redraw, rest, route, show, welcome, when } from "../../assets/app.js";

const ROOM = "subscription ($id: String!) { roomChanged(roomId: $id) { kind } }";
const MINE = "subscription ($id: String!) { roomsChanged(userId: $id) { roomId } }";
const STATUS = { UNSEEN: "New", SEEN: "Seen", VISIT_PLANNED: "Visit planned", VISITED: "Visited", APPLIED: "Applied", REJECTED: "Dropped", ACCEPTED: "Ours!" };
const MODE = { mixed: "in the middle", strict: "what suits all", all: "what suits anyone" };
const go = (hash) => { location.hash = hash; };
const number = new Intl.NumberFormat("de-CH");
const chf = (amount) => `CHF ${number.format(amount)}`;
const first = (name) => name.split(" ")[0];

async function all(url, most = 300) {
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
  view.replaceChildren(welcome("Look for a home together", "One board for what you found, and for what each of you wants.", [
    ["Pin", "Homes from any platform; the same one only once."], ["Want", "Say what you look for, and see at once what fits whom."], ["Agree", "Combine your wishes, and see how well they fit."]]));
}

/* ---------- rooms ---------- */

/** The board of the room that one came to last; who is in none sees the rooms. */
async function home(_, view) {
  if (!me()) return signedOut(view);
  view.replaceChildren(h(".head", h("h1", "Your board")));
  const [latest] = (await all(path`/users/${me().id}/rooms`)).sort((one, other) => (other.joinedAt ?? "").localeCompare(one.joinedAt ?? ""));
  return latest ? room({ id: latest.roomId }, view) : rooms(_, view);
}

function rooms(_, view) {
  if (!me()) return signedOut(view);
  const cards = h(".rooms");
  view.replaceChildren(h(".head", h("div", h("h1", "Rooms"), h("p", "One for each search.")),
    h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: () => $("#new-room").showModal() }, "New room"))), cards);
  return live(async () => list(cards, await all(path`/users/${me().id}/rooms`), (one) => one.roomId,
    (one) => h("a", { href: path`#/rooms/${one.roomId}` }, h("h2", one.name), h("span.line.wrap", h("span.tag", one.searchType === "buy" ? "to buy" : "to rent"), one.role === "owner" && h("span.tag.on", "yours"))),
    () => h(".empty", h("b", "No rooms yet"), h("p", "Open one, and take somebody in."))), [MINE, { id: me().id }]);
}

/* ---------- what somebody wants ---------- */

function wish(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.join(" or ");
  if (value && typeof value === "object") return [value.min != null && `from ${number.format(value.min)}`, value.max != null && `up to ${number.format(value.max)}`].filter(Boolean).join(", ") || JSON.stringify(value);
  return typeof value === "number" ? number.format(value) : String(value);
}

/** What of somebody's criteria a home meets, as far as it says: price, rooms and place. */
function fits(one, criteria) {
  const said = [];
  const span = (name, value) => { const wanted = criteria[name]; if (wanted && typeof wanted === "object" && value != null) said.push([name, (wanted.min ?? -Infinity) <= value && value <= (wanted.max ?? Infinity)]); };
  span("price", one.price);
  span("rooms", one.rooms);
  if (criteria.location && one.location) said.push(["place", [criteria.location].flat().includes(one.location)]);
  return said;
}

/* ---------- a room ---------- */

function board(id, listings, wanted, members) {
  const url = path`/rooms/${id}`;
  const change = (one, values) => rest.patch(`${url}/listings/${one.listingId}`, values);
  const names = new Map(members.map((one) => [one.userId, one.userName]));
  return h(".board.scroll", { id: "board", tabIndex: 0, role: "region", ariaLabel: "Homes, and what fits whom" }, h("table",
    h("thead", h("tr", h("th", { scope: "col" }, "Home"),
      wanted.map((one) => h("th", { scope: "col" }, first(one.userName), h("span.wanted", Object.entries(one.criteria).map(([name, value]) => (value === true ? name : `${name} ${wish(value)}`)).join(" · ")))),
      h("th", { scope: "col" }, "Where it stands"), h("th", { scope: "col" }, "Seen by"))),
    h("tbody", listings.map((one) => h(`tr.${one.status}`, { dataset: { key: one.listingId } },
      h("th", { scope: "row" }, one.title, h("small", [one.price != null && chf(one.price), one.rooms != null && `${one.rooms} rooms`, one.location].filter(Boolean).join(" · ")), h("small", one.sourceBrand)),
      wanted.map((person) => h("td", h("span.fits", fits(one, person.criteria).map(([name, met]) => h(`span.fit.${met ? "yes" : "no"}`, h("span.hide", met ? "fits: " : "does not fit: "), name))))),
      h("td", h("select", { ariaLabel: `Status of ${one.title}`, onchange: (event) => change(one, { status: event.target.value }).catch(show) },
        Object.entries(STATUS).map(([value, words]) => h("option", { value, selected: value === one.status }, words)))),
      h("td", one.seenBy.length ? h("span.faces", one.seenBy.map((who) => face(names.get(who) ?? who, { size: "small" }))) : h("small.muted", "nobody"),
        !one.seenBy.includes(me().id) && h("button.btn.small.quiet", { type: "button", ariaLabel: `I have seen ${one.title}`, onclick: doing(() => rest.post(`${url}/listings/${one.listingId}/seen`)) }, "I have")))))));
}

async function room({ id }, view) {
  if (!me()) return signedOut(view);
  const url = path`/rooms/${id}`, head = h(".head", h("div", h("h1", "A room"))), homes = h(".stack.tight"), side = h(".stack"), talk = h(".talk", { id: "talk", "aria-live": "polite" }), last = h(".last");
  const words = form(h("form.say", { dataset: { reset: "" } }, h("label.hide", { htmlFor: "say" }, "Message"), h("input", { id: "say", name: "text", required: true, maxLength: 4000, placeholder: "Say something", autocomplete: "off" }), h("button.btn", "Send")), (values) => rest.post(`${url}/messages`, values));
  view.replaceChildren(head, homes, h(".beside", h("section.panel", h("header", h("h2", "Talk")), talk, words), side), last);
  let pinned = null;
  $("#pin form").dataset.room = $("#want form").dataset.room = id;
  return live(async () => {
    const [found, members, listings, wishes, said] = await Promise.all([rest.get(url), rest.get(`${url}/members`), all(`${url}/listings`), rest.get(`${url}/wishes`), rest.get(`${url}/activities?limit=50`)]);
    const owns = members.some((one) => one.userId === me().id && one.role === "owner"), names = new Map(members.map((one) => [one.userId, one.userName]));
    redraw(head, h("div", h("h1", found.name), h("p.line.wrap", h("span.tag", found.searchType === "buy" ? "to buy" : "to rent"), members.map((one) => first(one.userName)).join(", "))),
      h(".acts", h("button.btn.main", { type: "button", dataset: { keyPress: "n" }, onclick: () => $("#pin").showModal() }, "Add a home"),
        h("button.btn", { type: "button", onclick: () => want(wishes.criteria.find((one) => one.userId === me().id)) }, "What I want")));
    const mark = JSON.stringify([listings, wishes.criteria, members]);
    if (mark !== pinned) {
      pinned = mark;
      const left = $("#board")?.scrollLeft ?? 0;
      redraw(homes, listings.length ? board(id, listings, wishes.criteria, members) : h(".empty", h("b", "No homes yet"), h("p", "Add the first one that you found.")),
        listings.length > 0 && h("p.scroll-hint", "Swipe the board for what fits whom →"));
      if (left) $("#board").scrollLeft = left;
    }
    const { combined, compatibility } = wishes;
    redraw(side, h("section.panel", h("header", h("h2", "Together")), h(".score", { id: "score" },
      compatibility ? [h("b.big", `${compatibility.scorePercent}%`), h("b", compatibility.level), h("p", compatibility.comment)] : h("p.muted", "No score yet."),
      h(".acts", h("button.btn.small", { type: "button", onclick: doing(() => rest.post(`${url}/compatibility`)) }, "Compute the score"))),
    h(".score", { id: "combined" }, combined ? [h("b", `All of you, ${MODE[combined.combineMode]}`), h("p", Object.entries(combined.criteria).map(([name, value]) => `${name} ${wish(value)}`).join(" · ") || "Nothing suits everybody.")] : h("p.muted", "Nothing combined yet."),
      h(".acts", Object.entries(MODE).map(([combineMode, name]) => h("button.btn.small", { type: "button", onclick: doing(() => rest.post(`${url}/combined-criteria`, { combineMode })) }, name))))),
    h("section.panel", h("header", h("h2", "Members")), h(".rows", members.map((one) => h("div", face(one.userName, { size: "small" }), h("span.what", one.userName), one.role === "owner" && h("span.tag.on", "owner"),
      owns && one.role !== "owner" && h("button.icon", { type: "button", ariaLabel: `Take ${one.userName} out`, onclick: doing(() => confirm(`Take ${one.userName} out?`) && rest.delete(`${url}/members/${encodeURIComponent(one.userId)}`)) }, "✕")))),
    owns && form(h("form.say", { dataset: { reset: "" } }, h("label.hide", { htmlFor: "member" }, "User id"), h("input", { id: "member", name: "userId", required: true, maxLength: 120, placeholder: "a user id", autocomplete: "off" }), h("button.btn", "Take in")), (values) => rest.post(`${url}/members`, values))));
    list(talk, [...said.items].reverse(), (one) => one.activityId, (one) => (one.senderType === "system"
      ? h("p.note", `${HAPPENED[one.type]?.(one, names) ?? one.type} · `, when(one.createdAt))
      : h("div", h("p", h("b", one.senderName), " ", h("small.muted", when(one.createdAt))), h("p", one.text))));
    talk.scrollTop = talk.scrollHeight;
    redraw(last, owns
      ? h("button.btn.small.quiet", { type: "button", onclick: doing(async () => { if (confirm("Delete this room with everything in it?")) { await rest.delete(url); go("#/rooms"); } }) }, "Delete the room")
      : h("button.btn.small.quiet", { type: "button", onclick: doing(async () => { if (confirm("Leave this room?")) { await rest.delete(`${url}/members/${encodeURIComponent(me().id)}`); go("#/rooms"); } }) }, "Leave the room"));
  }, [ROOM, { id }]);
}

const HAPPENED = {
  RoomCreated: (one) => `${one.senderName} opened the room`, RoomChanged: (one) => `${one.senderName} changed the room`,
  MemberJoined: (one, names) => `${names.get(one.text) ?? one.text} joined`, MemberLeft: (one, names) => `${names.get(one.text) ?? one.text} left`,
  ListingPinned: (one) => `${one.senderName} pinned ${one.text}`, ListingChanged: (one) => `${one.senderName} changed ${one.text}`, ListingRemoved: (one) => `${one.senderName} removed ${one.text}`,
  ListingMoved: (one) => { const [title, status] = one.text.split(/: (?=\w+$)/); return `${title} → ${STATUS[status] ?? status}`; },
  CriteriaSaved: (one) => `${one.senderName} wants: ${one.text}`, CriteriaCombined: (one) => `${one.senderName} combined your wishes: ${one.text}`, CompatibilityComputed: (one) => `You fit ${one.text}`,
};

/* ---------- dialogs ---------- */

form($("#new-room form"), async (values) => {
  const made = await rest.post("/rooms", values);
  $("#new-room").close();
  go(path`#/rooms/${made.roomId}`);
});
form($("#pin form"), async (values, sheet) => {
  await rest.post(path`/rooms/${sheet.dataset.room}/listings`, values);
  $("#pin").close();
}, { done: "Pinned" });

let before = {};
function want(known) {
  before = known?.criteria ?? {};
  const { price, rooms, location: places, ...others } = before;
  $("#want-price").value = price?.max ?? "";
  $("#want-rooms").value = rooms?.min ?? "";
  $("#want-places").value = [places ?? []].flat().join(", ");
  $("#want-musts").value = Object.keys(others).filter((name) => others[name] === true).join(", ");
  $("#want").showModal();
}
form($("#want form"), async ({ price, rooms, places = "", musts = "" }, sheet) => {
  const words = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
  const kept = Object.entries(before).filter(([name, value]) => !["price", "rooms", "location"].includes(name) && value !== true);
  const criteria = Object.fromEntries([...kept, ...words(musts).map((name) => [name, true])]);
  if (price != null) criteria.price = { ...(before.price?.min == null ? {} : { min: before.price.min }), max: price };
  if (rooms != null) criteria.rooms = { ...(before.rooms?.max == null ? {} : { max: before.rooms.max }), min: rooms };
  if (words(places).length) criteria.location = words(places);
  await rest.post(path`/rooms/${sheet.dataset.room}/criteria`, { criteria });
  $("#want").close();
}, { done: "Saved" });

/* ---------- who is here ---------- */

onPerson((person) => person && rest.put(path`/users/${person.id}`, { name: person.name || person.id }).catch(show));
route({ "": home, rooms, "rooms/:id": room });
