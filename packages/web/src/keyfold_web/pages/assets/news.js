/* Somebody's news, by the operations of `keyfold_web.Notifications`: their number in the bar, live,
   and the place where they are read. */
import { badge, doing, face, h, list, me, onPerson, path, rest, show, subscribe, when } from "./app.js";

const NOTIFIED = "subscription ($userId: String!) { notified(userId: $userId) { unread } }";
const own = () => path`/users/${me().id}/notifications`;

/** Keep the number of what was not read in the bar, for whoever is here. */
export function countNews() {
  let end = null;
  onPerson((person) => {
    end?.();
    end = null;
    badge(0);
    if (!person) return;
    const look = () => rest.get(`${own()}/unread`).then(({ unread }) => badge(unread)).catch(show);
    end = subscribe(NOTIFIED, { userId: person.id }, { open: look, next: ({ notified }) => badge(notified.unread) });
  });
}

/**
 * The place of news, drawn into `view`. `told(one)` says of a notification { id, who, picture, words,
 * at, read, href }. Returns what ends it.
 */
export function news(view, { title = "News", words, told, quiet }) {
  const rows = h(".rows"), all = h("button.btn", { type: "button", onclick: doing(async () => { await mark({}); await load(); }) }, "Mark all as read");
  const mark = (which) => rest.post(`${own()}/read`, which);
  async function load() {
    const { items } = await rest.get(`${own()}?limit=60`);
    all.hidden = !items.some((one) => !told(one).read);
    list(rows, items, (one) => told(one).id, (one) => row(told(one)), () => h(".empty", h("b", "No news"), h("p", quiet)));
  }
  const row = ({ id, who, picture = "", words: said, at, read, href }) => h(`a.news${read ? "" : ".unread"}`, {
    href, onclick: () => { if (!read) mark({ notificationIds: [id] }).catch(show); },
  }, who ? face(who, { picture }) : h("span.face", { "aria-hidden": "true" }, "★"),
  h("span.what", h("span", said, !read && h("span.hide", " (new)")), h("small", when(at))), h("span.dot", { "aria-hidden": "true" }));
  view.replaceChildren(h(".stack.narrow.middle", h(".head", h("div", h("h1", title), h("p", words)), h(".acts", all)), h("section.panel", rows)));
  const again = () => load().catch(show);
  return subscribe(NOTIFIED, { userId: me().id }, { open: again, next: again });
}
