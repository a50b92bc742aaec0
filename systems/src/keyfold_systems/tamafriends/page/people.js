/* People in lists: their faces, whether one follows them, and pages of them. */
import { $, doing, face, h, list, me, path, rest, when } from "../../assets/app.js";

export const profileOf = (person) => `#/people/${encodeURIComponent(person.handle)}`;
export const portrait = (person, size = "") => face(person.displayName, { picture: person.picture?.url || "", size });

/** The first pages of a list, as one. */
export async function firstPages(url, count) {
  const items = [];
  for (let cursor = ""; ; count -= 1) {
    const page = await rest.get(`${url}?limit=50${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    items.push(...page.items);
    cursor = page.cursor;
    if (!cursor || count <= 1) return { items, cursor };
  }
}

/** A list that grows by a page at a time: `draw(items)` shows what is there. */
export function growing(url, draw) {
  let pages = 1;
  const more = h("button.btn.quiet.wide", { type: "button", hidden: true, onclick: doing(() => { pages += 1; return load(); }) }, "Show more");
  async function load() {
    const { items, cursor } = await firstPages(url, pages);
    more.hidden = !cursor;
    draw(items);
  }
  return { more, load };
}

/** People of a URL in rows; `row(one, again)` is one of them. */
export function peopleList(url, row, nobody = "Nobody yet.") {
  const rows = h(".rows");
  const { more, load } = growing(url, (items) => list(rows, items, (one) => one.user.userId, (one) => row(one, load), () => h(".empty", h("p", nobody))));
  return { element: h("div", rows, more), load };
}

export function followButton(person, changed) {
  if (!me() || person.userId === me().id) return null;
  const press = doing(async () => {
    const all = path`/users/${me().id}/following`;
    if (person.followed) await rest.delete(all + path`/${person.userId}`);
    else await rest.post(all, { followeeId: person.userId });
    changed();
  });
  return h(person.followed ? "button.btn.small" : "button.btn.main.small", { type: "button", onclick: press }, person.followed ? "Following" : "Follow");
}

/** People of a URL in a dialog. */
export async function showPeople(title, url) {
  const people = peopleList(url, ({ user, since }, again) => h("div",
    portrait(user), h("a.what", { href: profileOf(user), onclick: () => $("#people-list").close() }, h("b", user.displayName), h("small", `@${user.handle} · `, when(since))), followButton(user, again)));
  $("#list-title").textContent = title;
  $("#people-rows").replaceChildren(people.element);
  await people.load();
  $("#people-list").showModal();
}
