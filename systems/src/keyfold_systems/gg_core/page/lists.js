/* Lists of the service: whole ones, one's own, and what stands in the place of an empty one. */
import { h, me, path, rest } from "../../assets/app.js";

const AT_ONCE = 200, MOST = 1000;

/** The first of a list, and whether there are more. */
export async function upTo(most, url) {
  const items = [];
  for (let cursor = ""; ;) {
    const page = await rest.get(`${url}?limit=${Math.min(AT_ONCE, most - items.length)}${cursor && path`&cursor=${cursor}`}`);
    items.push(...page.items);
    cursor = page.cursor || "";
    if (!cursor || items.length >= most) return { items, more: !!cursor };
  }
}
/** A list as far as anybody reads it. */
export const all = async (url) => (await upTo(MOST, url)).items;

/** Where something of one's own is. */
export const own = (more) => `${path`/users/${me().id}`}${more}`;

export const nothing = (words, more = "") => () => h(".empty", h("b", words), more && h("p", more));
