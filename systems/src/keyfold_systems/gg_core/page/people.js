/* People and groups: whom one follows, what a group is about, and the way in or out. */
import { $, count, doing, face, form, h, list, me, path, redraw, rest, say } from "../../assets/app.js";
import { entry, named, reportOf } from "./feed.js";
import { all, nothing, own, upTo } from "./lists.js";
import { openRoom, roomRow, writeTo } from "./rooms.js";

const POSTS = 50;

/* ---------- people ---------- */

const follow = (one, followed, change, kind = "button.btn") => h(kind, { ariaPressed: String(followed), onclick: doing(async () => {
  await (followed ? rest.delete(path`/following/${one.id}`) : rest.post(path`/following/${one.id}`));
  await change();
}) }, followed ? "Following" : "Follow");

const row = ({ person: one, followedByMe }) => h("div", face(one.fullName), h(".what", h("span.clip", named(one.fullName, one.id)), h("small.clip", `@${one.nickname} · ${one.xp} XP`)),
  one.id !== me().id && h("button.icon", { ariaLabel: `Write to ${one.fullName}`, onclick: doing(() => writeTo(one.id)) }, "✉"),
  one.id !== me().id && follow(one, followedByMe, loadPeople, "button.btn.small"));

export async function loadPeople() {
  const lists = await Promise.all(["following", "followers"].map((name) => all(own(`/${name}`))));
  for (const [name, edges] of [["following", lists[0]], ["followers", lists[1]]]) {
    list($(`#${name}`), edges.filter((one) => one.person), (one) => one.person.id, row, nothing("Nobody yet"));
  }
}
form($("#find"), async ({ nickname }) => { location.hash = path`#/people/${(await rest.get(path`/nicknames/${nickname.replace(/^@/, "")}`)).id}`; });

/** Activities of a person or a group. */
const posts = (items, again, quiet) => h(".stack.entries", items.length ? items.map((one) => entry(one, { taken: again, commented: again })) : h("section.panel", nothing("Nothing yet", quiet)()));

/** One person: how they and whoever looks stand to each other, and what they did. */
export async function loadPerson(id) {
  const url = path`/users/${id}`, one = await rest.get(url), again = () => loadPerson(id);
  const change = (work) => doing(async () => { await work(); await again(); });
  const { items, apart } = await upTo(POSTS, `${url}/activities`).catch((error) => {
    if (error.code !== "BLOCKED") throw error;
    return { items: [], apart: true };
  });
  redraw($("#person"), h(".head", h(".line", face(one.fullName), h("div", h("h1", one.fullName), h("p", `@${one.nickname} · ${one.xp} XP · ${count(one.followers, "follower")} · follows ${one.following}`, one.followsMe && " · follows you"))),
    id !== me().id && h(".acts", !apart && follow(one, one.followedByMe, again), !apart && h("button.btn", { onclick: doing(() => writeTo(id)) }, "Write"),
      h("button.btn.quiet", { onclick: change(() => (one.blockedByMe ? rest.delete(path`/blocks/${id}`) : confirm(`Block ${one.fullName}?`) && rest.post(path`/blocks/${id}`))) }, one.blockedByMe ? "Unblock" : "Block"), reportOf("user", id))),
  h(".narrow", apart ? h("section.panel", nothing("Nothing to see", "One of you blocked the other.")()) : posts(items, again, "They have not posted anything.")));
}

/* ---------- groups ---------- */

export async function loadGroups() {
  const groups = await all(own("/groups"));
  list($("#groups"), groups, (one) => one.groupId, (one) => h("a", { href: path`#/groups/${one.groupId}` }, face(one.groupName), h(".what", h("b.clip", one.groupName),
    h("small", `${count(one.memberCount, "member")} · you are ${one.role}`))), nothing("No group yet", "Found one, or open the link of a friend’s."));
  const chosen = $("#where").value;
  $("#where").replaceChildren(h("option", { value: "" }, "For my followers"), ...groups.map((one) => h("option", { value: one.groupId }, one.groupName)));
  $("#where").value = groups.some((one) => one.groupId === chosen) ? chosen : "";
}

let changed = null;
/** Open the form of a new group, or of one that changes; a community stays one. */
function editGroup(now = null) {
  changed = now;
  const fields = $("#new-group form").elements;
  $("#new-group-title").textContent = now ? "Change the group" : "A group";
  $("#new-group .btn.main").textContent = now ? "Save" : "Found it";
  fields.name.value = now?.name ?? "";
  fields.description.value = now?.description ?? "";
  fields.kind.value = now && !now.isPersistent ? "project" : "community";
  fields.kind.disabled = Boolean(now?.isPersistent);
  $("#new-group").showModal();
}
$("#found-group").addEventListener("click", () => editGroup());
form($("#new-group form"), async ({ name, description = "", kind }) => {
  const lasting = kind === "community";
  if (changed) {
    await rest.patch(path`/groups/${changed.groupId}`, { name, description, ...(lasting && { isPersistent: true }) });
    await loadGroup(changed.groupId);
  } else location.hash = path`#/groups/${(await rest.post("/groups", { name, description, isPersistent: lasting })).groupId}`;
  $("#new-group").close();
});

/* What an owner or an admin can do about a member. */
function charge(id, one, mine, change) {
  const url = path`/groups/${id}/members/${one.userId}`, name = one.person?.fullName || "them", role = one.role === "member" ? "admin" : "member";
  const owner = mine?.role === "owner", leads = owner || mine?.role === "admin";
  if (one === mine || (!owner && !(leads && one.role === "member"))) return null;
  return h("span.acts", owner && one.role !== "owner" && h("button.btn.small", { onclick: change(() => rest.put(`${url}/role`, { role })) }, `Make ${role}`),
    owner && one.role === "admin" && h("button.btn.small", { onclick: change(() => confirm(`Make ${name} an owner too?`) && rest.put(`${url}/role`, { role: "owner" })) }, "Make owner"),
    h("button.icon", { ariaLabel: `Remove ${name}`, onclick: change(() => confirm(`Remove ${name} from the group?`) && rest.delete(url)) }, "✕"));
}

/** One group: what it does, where it talks, who is in it, and the way in or out. */
export async function loadGroup(id) {
  const url = path`/groups/${id}`, again = () => loadGroup(id), [found, members] = await Promise.all([rest.get(url), all(`${url}/members`)]);
  const mine = members.find((one) => one.userId === me().id), change = (work) => doing(async () => { await work(); await again(); });
  const owner = mine?.role === "owner", leads = owner || mine?.role === "admin", alone = owner && members.filter((one) => one.role === "owner").length === 1;
  const [{ items }, rooms] = mine ? await Promise.all([upTo(POSTS, `${url}/activities`), all(`${url}/rooms`)]) : [{ items: [] }, []];
  redraw($("#group"), h(".head", h("div", h("h1", found.name), h("p", found.isPersistent ? "Community" : "Project", ` · ${count(Math.max(found.memberCount, members.length), "member")}`, found.description && ` · ${found.description}`)),
    h(".acts", mine ? h("button.btn", { onclick: doing(async () => { await navigator.clipboard?.writeText(location.href); say(navigator.clipboard ? "Copied. Whoever opens it can join." : location.href); }) }, "Copy the link")
      : h("button.btn.main", { onclick: change(() => rest.post(`${url}/members`)) }, "Join"),
    mine && !alone && h("button.btn", { onclick: change(() => confirm(`Leave ${found.name}?`) && rest.delete(`${url}/membership`)) }, "Leave"),
    leads && h("button.btn", { onclick: () => editGroup(found) }, "Change"),
    owner && !found.isPersistent && h("button.btn.danger", { onclick: doing(async () => { if (confirm(`Delete ${found.name} with its rooms and posts?`)) { await rest.delete(url); location.hash = "#/people"; } }) }, "Delete"),
    found.ownerId !== me().id && reportOf("group", id))),
  h(".cols", mine ? posts(items.map((one) => ({ ...one, groupName: null })), again, "Post something for the group from your feed.") : h("section.panel", nothing("For members", "Join to see what the group does.")()),
    h(".stack", mine && h("section.panel", h("header", h("h2", "Rooms"), leads && h("button.btn.small", { onclick: doing(() => openRoom({ scope: "group", groupId: id })) }, "Open a room")),
      h(".rows", rooms.length ? rooms.map(roomRow) : nothing("No room yet", leads ? "" : "An admin can open one.")())),
    h("section.panel", h("header", h("h2", "Members")), h(".rows", members.map((one) => h("div", face(one.person?.fullName || "?"),
      h(".what", h("span.clip", named(one.person?.fullName, one.userId)), h("small", one.person && `@${one.person.nickname}`)), one.role !== "member" && h("span.tag.on", one.role), charge(id, one, mine, change))))))));
}
