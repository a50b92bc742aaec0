import { $, doing, face, form, h, list, me, path, rest, route, show, subscribe } from "../../assets/app.js";

const CHANGED = "subscription ($boardId: String!) { noteChanged(boardId: $boardId) { noteId note { noteId author text } } }";
let board = "hall", notes = [];

const card = (note) => h("article.card",
  h(".line", face(note.author, { size: "small" }), h("b", note.author), h("span.grow"),
    me()?.id === note.author && h("button.icon", { ariaLabel: "Take down", onclick: doing(() => rest.delete(path`/boards/${board}/notes/${note.noteId}`)) }, "✕")),
  h("p.words", note.text));

const draw = () => list($("#notes"), notes, (note) => note.noteId, card,
  () => h(".empty", h("b", "Nothing here yet"), h("p", "Write the first note.")));

async function load() {
  notes = await rest.get(path`/boards/${board}/notes`).catch((error) => { show(error); return notes; });
  draw();
}

function open(id) {
  board = id;
  $("#title").textContent = id === "yard" ? "Yard" : "Hall";
  return subscribe(CHANGED, { boardId: id }, {
    open: load,
    next: ({ noteChanged: { noteId, note } }) => {
      notes = [...(note ? [note] : []), ...notes.filter((one) => one.noteId !== noteId)];
      draw();
    },
  });
}

route({ "": () => location.replace("#/hall"), ":id": ({ id }) => open(id) });
form($("#new form"), async (values) => {
  await rest.post(path`/boards/${board}/notes`, values);
  $("#new").close();
}, { done: "Pinned" });
