/* Rooms, and what is written in them. */
import { $, $$, badge, doing, face, form, h, list, path, rest, when } from "../../assets/app.js";
import { reportOf, said } from "./feed.js";
import { all, nothing, own, upTo } from "./lists.js";

const AT_ONCE = 50, NEAR = 80;
let open = null, rooms = [], wanted = AT_ONCE;

export const titleOf = (one) => one.title || (one.scope === "dm" ? "Somebody who left" : "Only you");

/** A room of a list. */
export const roomRow = (one) => h(one.unread ? "a.talked.unread" : "a.talked", { href: path`#/rooms/${one.roomId}` }, face(titleOf(one)),
  h(".what", h("b.clip", titleOf(one)), h("small.clip", one.lastText || "Nothing written yet")), one.lastAt && h("small.muted", when(one.lastAt)));

export async function loadRooms() {
  const [named, groups] = await Promise.all([all(own("/rooms")), all(own("/groups"))]);
  const theirs = await Promise.all(groups.map((one) => all(path`/groups/${one.groupId}/rooms`)));
  rooms = [...named, ...theirs.flat()].sort((one, other) => (other.lastAt || "").localeCompare(one.lastAt || ""));
  badge(rooms.filter((one) => one.unread && one.roomId !== open).length, "#unread-rooms");
  list($("#all-rooms"), rooms, (one) => one.roomId, roomRow, nothing("No room yet", "Write to somebody."));
  for (const link of $$("#all-rooms a")) link.setAttribute("aria-current", String(link.hash === path`#/rooms/${open}`));
}

/** Go into a room, or out of all of them. */
export function enter(room) {
  [open, wanted] = [room, AT_ONCE];
  $("#rooms").classList.toggle("open", !!room);
  $("#room").hidden = !room;
  $("#talk").replaceChildren();
}

const message = (one) => said(one, one.text, one.mine
  ? h("button.btn.quiet", { type: "button", ariaLabel: `Take back ${one.text}`, onclick: doing(() => confirm("Take this back?") && rest.delete(path`/rooms/${one.roomId}/messages/${one.messageId}?createdAt=${one.createdAt}`)) }, "Take back")
  : reportOf("message", one.messageId, { placeId: one.roomId, createdAt: one.createdAt }));

/** What is written in the open room, and its name. */
export async function loadTalk() {
  const talk = $("#talk"), below = talk.scrollHeight - talk.scrollTop;
  const followed = !talk.childElementCount || below - talk.clientHeight < NEAR;
  const { items, more } = await upTo(wanted, path`/rooms/${open}/messages`);
  list(talk, items.reverse(), (one) => one.messageId, message, nothing("Say the first word"));
  $("#earlier").hidden = !more;
  // Who reads further up stays there.
  talk.scrollTop = talk.scrollHeight - (followed ? 0 : below);
  await rest.put(path`/rooms/${open}/read`);
  await loadRooms();
  const room = rooms.find((one) => one.roomId === open);
  $("#room-title").textContent = room ? titleOf(room) : "Room";
  $("#leave-room").hidden = !room || room.scope === "dm" || !!room.groupId;
}
$("#earlier").addEventListener("click", doing(() => { wanted += AT_ONCE; return loadTalk(); }));
$("#leave-room").addEventListener("click", doing(async () => {
  if (!confirm("Leave this room?")) return;
  await rest.delete(path`/rooms/${open}/membership`);
  location.hash = "#/rooms";
}));
form($("#write"), async (values) => rest.post(path`/rooms/${open}/messages`, values));
$("#text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); $("#write").requestSubmit(); }
});

/** Open the room of one person, of some, or of a group. */
export async function openRoom(asked) {
  location.hash = path`#/rooms/${(await rest.post("/rooms", asked)).roomId}`;
}
export const writeTo = (...members) => openRoom({ scope: members.length > 1 ? "group" : "dm", members });

form($("#new-room form"), async ({ nicknames }) => {
  const names = nicknames.split(/[\s,]+/).map((one) => one.replace(/^@/, "")).filter(Boolean);
  const people = await Promise.all(names.map((one) => rest.get(path`/nicknames/${one}`)));
  await writeTo(...people.map((one) => one.id));
  $("#new-room").close();
});
