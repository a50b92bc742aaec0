/* Rooms, and what is said in them. */
import { face, form, gone, h, list, me, path, rest, subscribe, when } from "../../assets/app.js";

const SENT = "subscription ($roomId: String!) { messageSent(roomId: $roomId) { roomId messageId userId userName text createdAt } }";
const own = (more) => `${path`/users/${me().id}`}${more}`;
const title = (one) => one.people.filter((each) => each.userId !== me().id).map((each) => each.fullName).join(", ") || "Only you";

/** Open the room of some users. */
export async function writeTo(members) { location.hash = path`#/rooms/${(await rest.post("/rooms", { members })).roomId}`; }

const write = () => form(h("form.add.find", h(".field", h("label", { htmlFor: "whom" }, "Write to"), h("input", { id: "whom", name: "nicknames", required: true, autocapitalize: "none", placeholder: "nicknames, with commas" })), h("button.btn.main", "Open the room")),
  async ({ nicknames }) => {
    const names = nicknames.split(/[\s,]+/).map((one) => one.replace(/^@/, "")).filter(Boolean);
    await writeTo((await Promise.all(names.map((one) => rest.get(path`/nicknames/${one}`)))).map((one) => one.userId));
  });

/** The list of rooms. */
export async function rooms(view) {
  const rows = h(".rows");
  view.replaceChildren(h(".head", h("div", h("h1", "Rooms"), h("p", "Talk to one person, or to some."))), write(), h("section.panel.narrow", rows));
  list(rows, (await rest.get(own("/rooms?limit=100"))).items, (one) => one.roomId, (one) => h("a", { href: path`#/rooms/${one.roomId}` }, face(title(one)), h(".what", h("b.clip", title(one)), h("small", one.scope === "dm" ? "The two of you" : `${one.people.length} people`))), () => h(".empty", h("b", "No room yet"), h("p", "Write to somebody.")));
}

const message = (one) => h(one.userId === me().id ? ".said.mine" : ".said", h("small", one.userId === me().id ? "" : `${one.userName} · `, when(one.createdAt)), h(".words", one.text));

/** One room, as it is written in. */
export async function room(view, id) {
  const talk = h(".talk", { role: "log", tabIndex: 0, ariaLabel: "Messages" }), name = h("h1", "A room");
  let said = [];
  const draw = () => { list(talk, said, (one) => one.messageId, message, () => h(".empty", h("b", "Say the first word"))); talk.scrollTop = talk.scrollHeight; };
  const add = (one) => { if (!said.some((other) => other.messageId === one.messageId)) { said = [...said, one]; draw(); } };
  const load = async () => { said = (await rest.get(path`/rooms/${id}/messages?limit=50`)).items.reverse(); draw(); };
  view.replaceChildren(h(".head", name), h("section.panel.narrow", talk,
    form(h("form.add.pad", { dataset: { reset: "" } }, h(".field", h("label.hide", { htmlFor: "words" }, "Message"), h("input", { id: "words", name: "text", required: true, maxLength: 4000, placeholder: "Write something", autocomplete: "off" })), h("button.btn.main", "Send")),
      async ({ text }) => add(await rest.post(path`/rooms/${id}/messages`, { text })))));
  const mine = (await rest.get(own("/rooms?limit=100"))).items.find((one) => one.roomId === id);
  if (mine) name.textContent = title(mine);
  return subscribe(SENT, { roomId: id }, { open: load, next: ({ messageSent: one }) => add(one), error: gone });
}
