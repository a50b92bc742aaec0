/* Choosing people by name. */
import { $, face, h, me, rest } from "../../assets/app.js";

/** A field that finds people by name; `ids()` are those chosen. */
export function picker(container, label) {
  const chosen = new Map(), id = `${container.id}-name`;
  const input = h("input", { id, type: "search", placeholder: "Type a name", autocomplete: "off", autofocus: true });
  const chips = h(".chips"), matches = h(".rows.matches");
  const draw = () => chips.replaceChildren(...[...chosen].map(([userId, name]) => h("button.tag.on", {
    type: "button", ariaLabel: `Leave ${name} out`, onclick: () => { chosen.delete(userId); draw(); },
  }, name, " ✕")));
  let turn = 0, found = "";
  input.addEventListener("input", async () => {
    const mine = ++turn, name = input.value.trim();
    if (!name) return matches.replaceChildren();
    const people = await rest.get(`/people?limit=6&name=${encodeURIComponent(name)}`).catch(() => null);
    if (mine !== turn) return undefined;
    if (!people) return matches.replaceChildren();
    found = name;
    const others = people.items.filter((one) => one.userId !== me()?.id && !chosen.has(one.userId));
    matches.replaceChildren(...others.map((one) => h("button", {
      type: "button",
      onclick: () => { chosen.set(one.userId, one.name); input.value = ""; matches.replaceChildren(); draw(); input.focus(); },
    }, face(one.name, { size: "small" }), h("span.what", one.name))), ...(others.length ? [] : [h("div.muted", "Nobody found.")]));
    return matches.scrollIntoView({ block: "nearest" });
  });
  /* Enter chooses the first one; it would send the form without them. */
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (found === input.value.trim()) $("button", matches)?.click();
  });
  container.replaceChildren(h("label", { htmlFor: id }, label), chips, input, matches);
  return { ids: () => [...chosen.keys()] };
}
