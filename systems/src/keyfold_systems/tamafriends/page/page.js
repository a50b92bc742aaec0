import { $, chooseWho, count, doing, form, h, list, me, path, rest, route, say, welcome, when } from "../../assets/app.js";
import { SCENES, picture } from "./pets.js";

const petOf = (person) => person.pet?.name ?? person.displayName;
const to = (person) => `#/pets/${encodeURIComponent(person.handle)}`;
const egg = (person) => h("img.egg", { src: picture(person.pet, "meadow", { small: true }), alt: "" });

/* ---------- parts ---------- */

/** The index by which a post is found shows a new one a moment later than the wall does. */
async function onceFound(ask) {
  for (let turn = 1; ; turn++) {
    try { return await ask(); } catch (error) {
      if (error.status !== 404 || turn === 4) throw error;
      await new Promise((then) => setTimeout(then, turn * 400));
    }
  }
}

function heart(post, change) {
  const press = doing(async () => {
    if (!me()) return chooseWho();
    const liked = !post.liked;
    if (liked) await onceFound(() => rest.post(path`/posts/${post.postId}/likes`));
    else await rest.delete(path`/posts/${post.postId}/likes/me`);
    return change({ ...post, liked, likeCount: Math.max(0, post.likeCount + (liked ? 1 : -1)) });
  });
  return h("button.heart", { type: "button", "aria-pressed": String(post.liked), ariaLabel: `Like, ${post.likeCount} so far`, onclick: press },
    h("span", { "aria-hidden": "true" }, post.liked ? "♥" : "♡"), String(post.likeCount));
}

function card(post, change) {
  const open = `#/posts/${encodeURIComponent(post.postId)}`;
  const alt = `${petOf(post.author)}, a ${post.author.pet?.kind ?? "pet"}: ${SCENES[post.scene].toLowerCase()}`;
  return h("article.pet",
    h("a.screen", { href: open, ariaLabel: `Open: ${post.text}` }, h("img", { src: picture(post.author.pet, post.scene), alt, loading: "lazy" })),
    h("p.words", post.text),
    h(".foot", h("a.who", { href: to(post.author) }, egg(post.author), h("span", h("b", petOf(post.author)), h("small", post.author.displayName, " · ", when(post.createdAt)))),
      heart(post, change), h("a.notes", { href: open, ariaLabel: count(post.commentCount, "comment") }, h("span", { "aria-hidden": "true" }, "✎"), String(post.commentCount))));
}

/** The posts of a URL as a wall, page after page. */
function wall(url, empty) {
  const container = h(".wall"), more = h("button.btn.more", { type: "button", hidden: true, onclick: doing(() => load()) }, "Show more");
  let posts = [], cursor = null;
  const draw = () => {
    list(container, posts, (one) => one.postId, (one) => card(one, (now) => { posts = posts.map((old) => (old.postId === now.postId ? now : old)); draw(); }), () => h(".empty", h("p", empty)));
    more.hidden = !cursor;
  };
  async function load() {
    const page = await rest.get(`${url}?limit=12${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    posts.push(...page.items);
    cursor = page.cursor;
    draw();
  }
  return { element: h("section", container, more), load };
}

const newPicture = () => h("button.btn.main", { type: "button", onclick: () => $("#compose").showModal() }, "New picture");
const head = (title, words, ...acts) => h(".head", h("div", h("h1", title), words && h("p", words)), h(".acts", acts));

/* ---------- views ---------- */

const signedOut = (view) => view.replaceChildren(h(".hello", h(".strip", ["cat", "dog", "bird", "rabbit", "turtle"].map((kind, at) => h("img.egg.big", { src: picture({ kind, colour: ["#e8a15c", "#b98354", "#58a6c9", "#d9c3b0", "#6fa05d"][at] }, "meadow", { small: true }), alt: "" }))),
  welcome("Small pets, great friends", "A wall of pictures from the animals you follow.", [["Post", "Where your pet is, and what happened."], ["Follow", "Their pictures come to your wall."], ["React", "A heart, a word."]])));

async function profile() {
  try { return await rest.get(path`/users/${me().id}`); } catch (error) {
    if (error.status !== 404) throw error;
    $("#hatch").showModal();
    return null;
  }
}

async function home(_, view) {
  if (!me()) return signedOut(view);
  const place = h(".stack");
  view.replaceChildren(head("Your wall", "The newest of the pets you follow.", newPicture()), place);
  const mine = await profile();
  if (!mine) return undefined;
  const friends = await rest.get(path`/users/${me().id}/following?limit=25`);
  const posts = wall(path`/users/${me().id}/wall`, "Follow a pet, and its pictures hang here.");
  place.replaceChildren(h("nav.strip", { ariaLabel: "Pets you follow" }, friends.items.map((one) => h("a", { href: to(one) }, egg(one), h("span", petOf(one))))), posts.element);
  return posts.load();
}

async function liked(_, view) {
  if (!me()) return signedOut(view);
  const posts = wall(path`/users/${me().id}/likes`, "Nothing yet: press a heart.");
  view.replaceChildren(head("Liked", "The pictures with your heart on them."), posts.element);
  return posts.load();
}

async function pet(handle, view, known) {
  if (!known) view.replaceChildren(head("A pet"));
  const one = known ?? await rest.get(path`/handles/${handle}`);
  const mine = one.userId === me()?.id, posts = wall(path`/users/${one.userId}/posts`, "No pictures yet.");
  const follows = me() && !mine && (await rest.get(path`/users/${me().id}/following?limit=100`)).items.some((other) => other.userId === one.userId);
  const press = doing(async () => {
    if (!me()) return chooseWho();
    if (follows) await rest.delete(path`/users/${one.userId}/followers/me`);
    else await rest.post(path`/users/${one.userId}/followers`);
    say(follows ? `You no longer follow ${petOf(one)}` : `You follow ${petOf(one)}`);
    // The stream counts a moment later.
    return pet(handle, view, { ...one, followerCount: one.followerCount + (follows ? -1 : 1) });
  });
  view.replaceChildren(h(".portrait", h("img.egg.big", { src: picture(one.pet, "meadow", { small: true }), alt: "" }),
    h("div", h("h1", petOf(one)), h("p", `@${one.handle} · ${one.displayName}. ${one.bio}`), h("p.numbers", h("b", one.followerCount), one.followerCount === 1 ? " follower " : " followers ", h("b", one.followingCount), " following")),
    mine ? newPicture() : h(`button.btn${follows ? "" : ".main"}`, { type: "button", onclick: press }, follows ? "Unfollow" : "Follow")), posts.element);
  return posts.load();
}

async function mine(_, view) {
  if (!me()) return signedOut(view);
  view.replaceChildren(head("Your pet"));
  const one = await profile();
  return one && pet(one.handle, view, one);
}

async function single(id, view) {
  if (!view.hasChildNodes()) view.replaceChildren(head("A picture"));
  const post = await rest.get(path`/posts/${id}`);
  const said = (await rest.get(path`/posts/${id}/comments?limit=100`)).items;
  const drop = doing(async () => { if (!confirm("Delete this picture, with its comments?")) return; await rest.delete(path`/posts/${id}`); location.hash = "#/mine"; });
  const reply = form(h("form.say", h("label.hide", { htmlFor: "words" }, "Comment"), h("input", { id: "words", name: "text", required: true, maxLength: 1000, placeholder: "Say something nice" }), h("button.btn", "Send")),
    async (values) => { await rest.post(path`/posts/${id}/comments`, values); await single(id, view); });
  view.replaceChildren(h(".single", card(post, () => single(id, view)), h("section.panel.talks", h("h1", count(said.length, "comment")),
    said.map((one) => h(".talked", egg(one.author), h("div", h("b", h("a", { href: to(one.author) }, petOf(one.author))), h("p", one.text), h("small", when(one.createdAt))))),
    me() && reply, post.author.userId === me()?.id && h("button.btn.quiet.small", { type: "button", onclick: drop }, "Delete picture"))));
  return undefined;
}

/* ---------- dialogs ---------- */

const preview = async () => $("#preview").replaceChildren(h("img", { src: picture((await profile())?.pet, new FormData($("#compose form")).get("scene")), alt: "" }));
$(".scenes").append(...Object.entries(SCENES).map(([name, words], at) => h("label", h("input", { type: "radio", name: "scene", value: name, checked: at === 0, onchange: preview }), words)));
new MutationObserver(() => { if ($("#compose").open) preview(); }).observe($("#compose"), { attributeFilter: ["open"] });
form($("#compose form"), async ({ text, scene }) => {
  await rest.post("/posts", { text, scene });
  $("#compose").close();
  // The list of one's own posts shows it at once; by its id, the index may not know it yet.
  if (location.hash === "#/mine") await mine(null, $("#view"));
  else location.hash = "#/mine";
}, { done: "Posted" });
form($("#hatch form"), async ({ petName, kind, colour, ...own }) => {
  await rest.post("/profiles", { ...own, pet: { name: petName, kind, colour } });
  $("#hatch").close();
  await (location.hash === "#/mine" ? mine : home)(null, $("#view"));
}, { done: "Welcome" });

route({ "": home, liked, mine, "pets/:handle": ({ handle }, view) => pet(handle, view), "posts/:id": ({ id }, view) => single(id, view) });
