/* One's account: joining, signing in, a forgotten password, and the settings. */
import { $, $$, Problem, become, doing, form, h, list, me, onSignIn, onSignOut, path, rest, show, when } from "../../assets/app.js";
import { dataPanel } from "../../assets/account.js";
import { upload } from "./pictures.js";
import { peopleList, portrait } from "./people.js";

/** The dialog to "join", "enter", or to say that one "forgot" the password. */
export function account(what) {
  for (const one of ["join", "enter", "forgot"]) $(`#${one}`).hidden = one !== what;
  for (const one of $$("[data-show]")) one.setAttribute("aria-pressed", String(one.dataset.show === what));
  if (!$("#account").open) $("#account").showModal();
}
for (const one of $$("[data-show]")) one.addEventListener("click", () => account(one.dataset.show));
onSignIn(() => account("enter"));
onSignOut(async ({ id, sessionId }) => { if (sessionId) await rest.delete(path`/users/${id}/sessions/${sessionId}`); });

async function enter(signed) {
  const { userId: id, sessionId, token } = signed;
  become({ id, sessionId, name: "", token });
  const mine = await rest.get(path`/users/${id}/account`);
  become({ id, sessionId, name: mine.displayName, groups: mine.role === "member" ? [] : [mine.role], token });
  $("#account").close();
}
/** Who may not come in is told where the password stands. */
function atPassword(error) {
  throw new Problem({ code: error.code, errors: error.errors.length ? error.errors : [{ path: "password", message: error.message }] });
}
const device = navigator.userAgent.slice(0, 200);
form($("#join"), async (values) => enter(await rest.post("/accounts", { ...values, device })));
form($("#enter"), async (values) => enter(await rest.post("/sessions", { ...values, device }).catch(atPassword)));
form($("#ask"), (values) => rest.post("/password-resets", values), { done: "If there is such an account, a code is on its way." });
form($("#renew"), async (values) => { await rest.post("/password-resets/completion", values); account("enter"); }, { done: "Now sign in with it." });

/* ---------- settings ---------- */

const own = (place) => path`/users/${me().id}` + place;

let saved = null;
/** The dialog of the settings; `then` is called when the profile was changed. */
export async function openSettings(then) {
  saved = then;
  const mine = await rest.get(own("/account")), { elements } = $("#profile");
  for (const name of ["displayName", "handle", "username", "email", "bio"]) elements[name].value = mine[name];
  $("#profile-picture").value = "";
  elements.noPicture.checked = false;
  elements.noPicture.closest("label").hidden = !mine.picture;
  for (const one of unfolded) one();
  $("#settings").showModal();
}
form($("#profile"), async ({ noPicture, ...values }) => {
  const [file] = $("#profile-picture").files;
  if (file) values.picture = { key: await upload(file), alt: "" };
  else if (noPicture) values.picture = null;
  const mine = await rest.patch(own(""), values);
  $("#settings").close();
  become({ ...me(), name: mine.displayName });
  await saved();
}, { done: "Saved" });
form($("#password"), async (values) => {
  const signed = await rest.put(own("/password"), { ...values, device });
  become({ ...me(), sessionId: signed.sessionId, token: signed.token });
  await showSessions();
}, { done: "Changed. You are signed out everywhere else." });
$("#everywhere").addEventListener("click", doing(async () => { await rest.delete(own("/sessions")); $("#settings").close(); become(null); }));
$("#own-data").append(dataPanel("Your posts, comments, likes and follows go with your account."));

/* "Firefox on Linux"; what a browser says of itself is longer, and no words. */
function nameOf(said) {
  const known = (names) => names.find((one) => said.includes(one));
  const browser = known(["Edg", "OPR", "Firefox", "Chrome", "Safari"]), system = known(["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"]);
  const called = { Edg: "Edge", OPR: "Opera", "Mac OS": "a Mac" };
  return [called[browser] || browser || "Somewhere", system && `on ${called[system] || system}`].filter(Boolean).join(" ");
}

async function showSessions() {
  const { items } = await rest.get(own("/sessions"));
  list($("#sessions"), items, (one) => one.sessionId, (one) => h("div",
    h("span.what", h("b", nameOf(one.device)), h("small", one.current ? "This browser, signed in " : "Signed in ", when(one.createdAt))),
    !one.current && h("button.btn.small", { type: "button", onclick: doing(async () => { await rest.delete(own("/sessions") + path`/${one.sessionId}`); await showSessions(); }) }, "Sign out")),
  () => h("p.muted", "You are not signed in with a password."));
}

async function showBlocks() {
  const blocks = peopleList(own("/blocks"), ({ user }, again) => h("div", portrait(user, "small"), h("span.what", h("b", user.displayName), h("small", `@${user.handle}`)),
    h("button.btn.small", { type: "button", onclick: doing(async () => { await rest.delete(own("/blocks") + path`/${user.userId}`); await again(); }) }, "Unblock")), "Nobody.");
  $("#blocks").replaceChildren(blocks.element);
  await blocks.load();
}

/* What is unfolded is read when it opens, and when the dialog does. */
const unfolded = [["#secrets", showSessions], ["#blocked", showBlocks]].map(([place, load]) => {
  const look = () => { if ($(place).open && me()) load().catch(show); };
  $(place).addEventListener("toggle", look);
  return look;
});
