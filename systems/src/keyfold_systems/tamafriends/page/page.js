import {
  $, $$, become, chooseWho, doing, form, gone, h, list, me, onPerson, path, redraw, rest, route, say, show, subscribe, welcome, when,
} from "../../assets/app.js";
import { countNews, news } from "../../assets/news.js";
import { moderation } from "../../assets/oversight.js";
import { account, openSettings } from "./account.js";
import { followButton, growing, peopleList, portrait, profileOf, showPeople } from "./people.js";
import { pictureChoice } from "./pictures.js";

const HOME = "subscription ($readerId: String!) { homeChanged(readerId: $readerId) { postId userId what } }";
const FILLED = "subscription ($readerId: String!) { homeFilled(readerId: $readerId) { postId userId what } }";
const POST = "subscription ($postId: String!) { postChanged(postId: $postId) { postId what } }";
const view = $("#view");

/* ---------- parts ---------- */

/** Text in which @handles lead to people. */
function words(text) {
  const parts = text.split(/(@\w{2,30})/).map((one) => (one[0] === "@" && one.length > 2 ? h("a", { href: `#/people/${one.slice(1)}` }, one) : one));
  return h("p.words", parts);
}

const nothing = (title, text, ...more) => () => h(".empty.panel", h("b", title), h("p", text), ...more);

function heart(post, change) {
  const press = doing(async () => {
    if (!me()) return chooseWho();
    const liked = !post.liked;
    if (liked) await rest.post(path`/posts/${post.postId}/likes`);
    else await rest.delete(path`/posts/${post.postId}/likes/mine`);
    change({ ...post, liked, likes: Math.max(0, post.likes + (liked ? 1 : -1)) });
  });
  return h("button.btn.quiet.small", { type: "button", "aria-pressed": String(post.liked), ariaLabel: `Like, ${post.likes} so far`, onclick: press },
    h("span.sign.heart", { "aria-hidden": "true" }), String(post.likes));
}

function postCard(post, change) {
  const mine = post.userId === me()?.id, open = `#/posts/${encodeURIComponent(post.postId)}`;
  const until = post.expiresAt ? h("span.tag.warn", "until ", when(post.expiresAt)) : null;
  const card = h("article.card.post",
    h(".line", h("a", { href: profileOf(post.author), ariaLabel: post.author.displayName }, portrait(post.author)),
      h(".by", h("a", { href: profileOf(post.author) }, h("b", post.author.displayName)),
        h("small", `@${post.author.handle} · `, h("a", { href: open }, when(post.createdAt)), post.updatedAt && post.version > 1 ? " · edited" : "")), until),
    post.text && words(post.text),
    post.images.some((one) => one.url) && h(".pictures", post.images.filter((one) => one.url).map((one) => h("a", { href: one.url, target: "_blank", rel: "noopener", ariaLabel: one.alt || "A picture" }, h("img", { src: one.url, alt: one.alt, loading: "lazy" })))),
    h(".react", heart(post, change),
      h("a.btn.quiet.small", { href: open, ariaLabel: `Comments, ${post.comments} so far` }, h("span.sign.chat", { "aria-hidden": "true" }), String(post.comments)),
      mine && h("button.btn.quiet.small.last", { type: "button", onclick: () => editing(card, post, change) }, "Edit"),
      mine && h("button.btn.quiet.small", { type: "button", onclick: doing(async () => { if (!confirm("Delete this post, with its comments?")) return; await rest.delete(path`/posts/${post.postId}`); change(null); say("Deleted"); }) }, "Delete"),
      !mine && me() && h("button.btn.quiet.small.last", { type: "button", onclick: () => report({ kind: "post", targetId: post.postId }) }, "Report")));
  return card;
}

function editing(card, post, change) {
  const made = form(h("form.stack", h(".field", h("label", { htmlFor: "edit" }, "Your words"), h("textarea", { id: "edit", name: "text", required: !post.images.length, dataset: { empty: "" }, maxLength: 2000 }, post.text)),
    h(".acts", h("button.btn.main.small", "Save"), h("button.btn.quiet.small", { type: "button", onclick: () => change(post) }, "Cancel"))),
  async (values) => change(await rest.patch(path`/posts/${post.postId}`, values, { headers: { "if-match": `"${post.version}"` } })), { done: "Changed" });
  $(".words", card)?.remove();
  card.children[0].after(made);
  $("textarea", made).focus();
}

let reported = null;
function report(what) {
  reported = what;
  $("#ask-why").showModal();
}
form($("#why"), async (values) => {
  await rest.post("/reports", { ...reported, ...values });
  $("#ask-why").close();
}, { done: "Thank you. A moderator will look at it." });

/* ---------- lists of posts ---------- */

/** Posts of a URL, page after page; what changes is read again one by one. */
function timeline(url, { empty, take = (one) => one, also = null }) {
  const container = h(".posts"), more = h("button.btn.wide", { type: "button", hidden: true, onclick: doing(async () => takeIn(await rest.get(`${url}?limit=20&cursor=${encodeURIComponent(cursor)}`))) }, "Show more");
  // What was written, changed or deleted since the posts were asked for: their answer may be older.
  let posts = [], cursor = null, own = [], touched = new Map();
  const draw = () => {
    list(container, posts, (one) => one.postId, (one) => postCard(one, (now) => set(one.postId, now)), empty);
    more.hidden = !cursor;
  };
  /* By its time: a copy may come late. What is older than all of them is on a later page. */
  function put(post) {
    if (posts.some((one) => one.postId === post.postId)) { posts = posts.map((one) => (one.postId === post.postId ? post : one)); return; }
    const older = posts.findIndex((one) => one.createdAt < post.createdAt);
    if (older >= 0 || !cursor) posts.splice(older < 0 ? posts.length : older, 0, post);
  }
  const drop = (id) => { posts = posts.filter((one) => one.postId !== id); };
  function set(id, now) {
    touched.set(id, now);
    if (now) put({ ...now, shown: Math.random() }); else drop(id);
    draw();
  }
  function takeIn(page) {
    for (const one of page.items.map(take)) { drop(one.postId); posts.push(one); }
    cursor = page.cursor;
    // One's own stand between, as far as the others are loaded.
    for (const one of own) if (!posts.some((other) => other.postId === one.postId)) put(one);
    for (const [id, now] of touched) if (now) put(now); else drop(id);
    draw();
  }
  return {
    element: h("div.stack", container, more),
    async load() {
      touched = new Map();
      const [page, mine] = await Promise.all([rest.get(`${url}?limit=20`), also ? rest.get(`${also}?limit=50`) : { items: [] }]);
      [posts, own] = [[], mine.items];
      takeIn(page);
    },
    add: (post) => set(post.postId, post),
    async changed({ postId, what }) {
      const known = posts.some((one) => one.postId === postId);
      if (what === "gone") return set(postId, null);
      if ((what === "new") === known) return undefined;
      const post = await rest.get(path`/posts/${postId}`).catch((error) => { if (error.status !== 404) show(error); });
      return post && set(postId, post);
    },
  };
}

/* ---------- views ---------- */

const signedOut = () => view.replaceChildren(welcome("Small news of those you like", "And of whoever lives with them: hens, turtles, a rescue greyhound.", [
  ["Post", "A few words and pictures, for good or for a day."], ["Follow", "What your friends post comes to you by itself."], ["React", "A heart, a comment; they hear of it at once."]],
[h("button.btn.main", { type: "button", onclick: () => account("join") }, "Join"), h("button.btn", { type: "button", onclick: () => chooseWho() }, "Sign in")]));

function composer(posted) {
  const { chosen, files, send, clear } = pictureChoice();
  const made = h("form.card.compose", { dataset: { reset: "" } },
    h(".field", h("label.hide", { htmlFor: "say" }, "What is new?"), h("textarea", { id: "say", name: "text", maxLength: 2000, placeholder: "What is new?", dataset: { keyPress: "n" } })), chosen,
    h(".line.wrap.apart", h(".line.wrap", files, h("button.btn.small", { type: "button", onclick: () => files.click() }, "Pictures"),
      h("label.check", h("input", { type: "checkbox", name: "short" }), "For a day only")), h("button.btn.main", "Post")));
  return form(made, async ({ text = "", short }) => {
    posted(await rest.post("/posts", { text, images: await send(), ...(short ? { hours: 24 } : {}) }));
    clear();
  }, { done: "Posted" });
}

function home() {
  if (!me()) return signedOut();
  const posts = timeline(path`/users/${me().id}/home`, { also: path`/users/${me().id}/posts`, empty: nothing("It is quiet here", "Follow somebody, and what they post appears here by itself.", h("a.btn.main", { href: "#/find" }, "Find people")) });
  view.replaceChildren(h("h1.hide", "Home"), composer((post) => posts.add(post)), posts.element);
  const mine = { readerId: me().id };
  // Either may begin last, or anew: what came before it is among the posts that are loaded then.
  const open = () => posts.load().catch(show);
  const ends = [subscribe(FILLED, mine, { open, next: ({ homeFilled }) => posts.changed(homeFilled) }),
    subscribe(HOME, mine, { open, next: ({ homeChanged }) => posts.changed(homeChanged) })];
  return () => ends.forEach((end) => end());
}

function commentRow(post, said, change) {
  const mine = said.userId === me()?.id, { postId } = post, url = path`/posts/${postId}/comments/${said.commentId}`;
  const row = h(".comment", portrait(said.author, "small"), h(".what", h(".line.wrap", h("a", { href: profileOf(said.author) }, h("b", said.author.displayName)), h("small", when(said.createdAt), said.version > 1 ? " · edited" : "")), words(said.text),
    h(".line.wrap.react", mine && h("button.btn.quiet.small", { type: "button", onclick: () => {
      const made = form(h("form.write", h("textarea.one", { name: "text", required: true, maxLength: 2000, ariaLabel: "Your comment" }, said.text), h("button.btn.small", "Save"),
        h("button.btn.quiet.small", { type: "button", onclick: () => { made.replaceWith(words(said.text)); $(".react button", row).focus(); } }, "Cancel")), async (values) => change(said, await rest.patch(url, values)));
      $(".words", row).replaceWith(made);
      $("textarea", made).focus();
    } }, "Edit"),
    (mine || post.userId === me()?.id) && h("button.btn.quiet.small", { type: "button", onclick: doing(async () => { if (!confirm("Delete this comment?")) return; await rest.delete(url); await change(said); }) }, "Delete"),
    !mine && me() && h("button.btn.quiet.small", { type: "button", onclick: () => report({ kind: "comment", targetId: said.commentId, postId }) }, "Report"))));
  return row;
}

function post({ id }) {
  const card = h(".posts"), comments = h(".panel"), likers = h("button.btn.quiet.small", { type: "button", onclick: doing(() => showPeople("Who likes it", path`/posts/${id}/likes`)) }, "Who likes it");
  const write = form(h("form.write", { dataset: { reset: "" } }, h("textarea.one", { name: "text", required: true, maxLength: 2000, ariaLabel: "Your comment", placeholder: "Say something nice" }), h("button.btn.main", "Send")),
    // The form is emptied at once: whoever goes on typing while it is loaded loses nothing.
    async (values) => { own.push(await rest.post(path`/posts/${id}/comments`, values)); load(); });
  let shown = null, own = [];
  const change = (before, now = []) => { own = own.filter((one) => one.commentId !== before.commentId).concat(now); return load(); };
  const said = growing(path`/posts/${id}/comments`, (items) => {
    // What one says oneself is shown, also before the page that it is on.
    const late = said.more.hidden ? [] : own.filter((one) => !items.some((other) => other.commentId === one.commentId));
    list(comments, [...items, ...late], (one) => one.commentId, (one) => commentRow(shown, one, change), () => h(".empty", h("p", "Nobody has said anything yet.")));
  });
  async function load() {
    try {
      shown = await rest.get(path`/posts/${id}`);
      list(card, [shown], (one) => one.postId, (one) => postCard(one, (now) => (now ? load() : location.replace("#/"))));
      await said.load();
    } catch (error) { gone(error); }
  }
  view.replaceChildren(h("h1.hide", "A post"), card, h(".line.apart", h("h2", "Comments"), likers), comments, said.more, write);
  return subscribe(POST, { postId: id }, { open: () => load().catch(show), next: () => load().catch(show) });
}

async function person({ handle }) {
  view.replaceChildren(h("section.card", h("h1", `@${handle}`)));
  return profile(path`/handles/${handle}`);
}

async function profile(url) {
  // An answer that comes when somebody went on elsewhere is not shown.
  const here = location.hash;
  const shown = await rest.get(url).catch((error) => gone(error, error.status === 403 ? "You cannot see each other" : "Nobody has this handle"));
  if (!shown || location.hash !== here) return undefined;
  const mine = shown.userId === me()?.id, again = () => (location.hash === here ? profile(url) : undefined);
  const posts = timeline(path`/users/${shown.userId}/posts`, { empty: nothing("No posts yet", mine ? "Say what is new." : "Come back later.") });
  const liked = mine && timeline(path`/users/${shown.userId}/likes`, { empty: nothing("Nothing yet", "What you like is kept here."), take: (one) => one.post });
  const places = h("div", posts.element);
  const tab = (title, what) => h("button", { type: "button", "aria-pressed": String(what === posts), onclick: (event) => {
    for (const one of $$("button", event.target.parentElement)) one.setAttribute("aria-pressed", String(one === event.target));
    places.replaceChildren(what.element);
    what.load().catch(show);
  } }, title);
  const count = (number, title, url) => h("button", { type: "button", onclick: doing(() => showPeople(title, url)) }, h("b", String(number)), ` ${number === 1 ? title.toLowerCase().replace(/s$/, "") : title.toLowerCase()}`);
  redraw(view,
    h("section.card", h(".person", portrait(shown, "large"), h(".what", h("h1", shown.displayName), h("p.muted", `@${shown.handle}`, shown.followsYou ? h("span", " · follows you") : "", shown.role !== "member" ? h("span.tag.on", shown.role) : "")),
      h(".acts", followButton(shown, again), mine && h("button.btn", { type: "button", onclick: doing(() => openSettings(() => (here === "#/you" ? again() : location.assign("#/you")))) }, "Settings"),
        !mine && me() && h("button.btn.quiet.small", { type: "button", onclick: () => report({ kind: "user", targetId: shown.userId }) }, "Report"),
        !mine && me() && h("button.btn.quiet.small", { type: "button", onclick: doing(async () => { await rest.post(path`/users/${me().id}/blocks`, { blockedId: shown.userId }); say(`@${shown.handle} is blocked`); location.hash = "#/"; }) }, "Block"))),
    shown.bio && words(shown.bio),
    h(".counts", count(shown.followers, "Followers", path`/users/${shown.userId}/followers`), count(shown.following, "Following", path`/users/${shown.userId}/following`))),
    liked ? h(".tabs", { role: "group", ariaLabel: "What to show" }, tab("Posts", posts), tab("Liked", liked)) : "", places);
  await posts.load();
  return undefined;
}

async function you() {
  if (!me()) return signedOut();
  view.replaceChildren(h("h1", "You"));
  return profile(path`/users/${me().id}`);
}

const KINDS = { like: "likes your post", comment: "says", follow: "follows you", removal: "A moderator removed something of yours:" };

const told = (one) => ({
  id: one.notificationId, who: one.actor?.displayName, picture: one.actor?.picture?.url, at: one.createdAt, read: one.read,
  words: [one.actor && h("b", one.actor.displayName), ` ${KINDS[one.kind]}`, one.text ? ` “${one.text}”` : ""],
  href: one.postId ? path`#/posts/${one.postId}` : one.actor ? profileOf(one.actor) : "#/activity",
});

const activity = () => (me() ? news(view, { title: "Activity", words: "Who likes, comments and follows.", told, quiet: "Likes, comments and followers appear here." }) : signedOut());

function find() {
  const made = form(h("form.card.stack", h(".field", h("label", { htmlFor: "handle" }, "Who?"), h("input", { id: "handle", name: "handle", required: true, placeholder: "@yuki", autocapitalize: "none", autocomplete: "off" }), h("span.hint", "Their handle, with or without the @."))
    , h(".acts", h("button.btn.main", "Show me"))), async ({ handle }) => { location.hash = `#/people/${encodeURIComponent(handle.replace(/^@/, ""))}`; });
  view.replaceChildren(h("h1", "Find people"), made);
  if (!me()) return;
  const known = peopleList(path`/users/${me().id}/following`, ({ user }) => h("a", { href: profileOf(user) }, portrait(user), h("span.what", h("b", user.displayName), h("small", `@${user.handle}`))));
  view.append(h("h2", "You follow"), h("section.panel", known.element));
  known.load().catch(show);
}

/* ---------- for moderators ---------- */

const WRONG = { spam: "Spam", abuse: "Abuse", other: "Something else" };
const REMOVAL = { post: (one) => path`/moderation/posts/${one.subjectId}/removal`, comment: (one) => path`/moderation/posts/${one.postId}/comments/${one.subjectId}/removal` };
const keepingOrder = {
  async reports() {
    const { items } = await rest.get("/reports?limit=100");
    return items.map((one) => ({
      ...one, subjectId: one.targetId, reason: one.text ? `${WRONG[one.reason]}. ${one.text}` : WRONG[one.reason],
      reporterName: one.userName, ownerId: one.authorId, ownerName: one.authorName,
    }));
  },
  decide(about, decision, reason) {
    if (decision === "dismiss") return rest.post(path`/reports/${about.kind}/${about.subjectId}/dismissal`, { reason });
    if (about.kind === "user") return rest.put(path`/users/${about.subjectId}/suspension`, { hours: 24, reason });
    return rest.post(REMOVAL[about.kind](about), { reason });
  },
  async trail(month) {
    const { items } = await rest.get(path`/audit?limit=100&month=${month.toISOString()}`);
    return items.map((one) => ({ ...one, byName: one.byName || (one.by === "machine" ? "The machine" : "Somebody who left"), note: one.excerpt ? `${one.note} “${one.excerpt}”` : one.note }));
  },
  removal: ({ kind }) => (kind === "user" ? "Suspend for a day" : "Remove it"),
};

/** A development server lets one be anybody; who has no account here is asked to join. */
onPerson(async (one) => {
  if (!one?.token) return;
  try { await rest.get(path`/users/${one.id}/account`); } catch (error) {
    if (error.status !== 404) return;
    become(null);
    say(`${one.name || one.id} has no account yet.`, { bad: true });
    account("join");
  }
});
countNews();
route({ "": home, activity, find, you, "posts/:id": post, "people/:handle": person, moderation: () => moderation(view, keepingOrder) });
