/* What Search Room says: numbers, statuses, criteria and activities in words, and homes as pictures. */
import { h } from "../../assets/app.js";

export const STATUS = {
  UNSEEN: ["New", "on"], SEEN: ["Seen", ""], VISIT_PLANNED: ["Visit planned", "warn"], VISITED: ["Visited", ""],
  APPLIED: ["Applied", "warn"], REJECTED: ["Dropped", "bad"], ACCEPTED: ["Ours!", "ok"],
};
const STEP = {
  SEEN: { VISIT_PLANNED: "Call the visit off", REJECTED: "Reconsider", "": "Seen" },
  VISIT_PLANNED: { "": "Plan a visit" }, VISITED: { "": "Visited" }, APPLIED: { "": "Apply" }, REJECTED: { "": "Drop" }, ACCEPTED: { "": "We got it" },
};
export const MODE = { mixed: "in the middle", strict: "what suits all", all: "what suits anyone" };

/** What a step is called from where a home stands. */
export const stepName = (step, from) => STEP[step][from] || STEP[step][""];

const number = new Intl.NumberFormat("de-CH");
export const figure = (amount) => number.format(amount >= 1000 ? Math.round(amount) : amount);
export const price = (amount) => `CHF ${figure(amount)}`;

/** A criterion in words. */
export function wish(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.join(", ");
  if (value && typeof value === "object") {
    if (value.min != null && value.max != null) return `${figure(value.min)}–${figure(value.max)}`;
    if (value.max != null) return `up to ${figure(value.max)}`;
    if (value.min != null) return `from ${figure(value.min)}`;
    return JSON.stringify(value);
  }
  return typeof value === "number" ? figure(value) : String(value);
}

/** An activity or a notification in words. */
export function happened(one) {
  const who = one.senderName || "Somebody", whom = one.aboutName || "somebody";
  const said = {
    RoomCreated: () => `${who} opened the room`,
    RoomRenamed: () => `${who} renamed the room to “${one.text}”`,
    RoomChanged: () => `${who} changed the room`,
    MemberInvited: () => `${who} asked ${whom}`,
    MemberJoined: () => `${who} joined`,
    MemberLeft: () => `${who} left`,
    MemberRemoved: () => `${who} took ${whom} out`,
    InvitationDeclined: () => `${who} does not come`,
    InvitationWithdrawn: () => `${who} took the invitation of ${whom} back`,
    LinkCreated: () => `${who} made a link`,
    LinkRevoked: () => `${who} took a link back`,
    RoleChanged: () => `${who} made ${whom} ${one.text === "owner" ? "an owner" : "a member"}`,
    ListingPinned: () => `${who} added “${one.text}”`,
    ListingChanged: () => `${who} changed “${one.text}”`,
    ListingMoved: () => `${who}: ${one.aboutName || "a home"} → ${STATUS[one.text]?.[0] || one.text}`,
    ListingRemoved: () => `${who} removed “${one.text}”`,
    CriteriaSaved: () => (one.text ? `${who} said what matters: ${one.text}` : `${who} has no wishes now`),
    CriteriaCombined: () => `${who} combined the wishes: ${one.text.replace(/^\w+/, (mode) => MODE[mode] || mode)}`,
    ContentRemoved: () => `A moderator removed ${one.text}`,
    CompatibilityComputed: () => `The wishes fit ${one.text}`,
  }[one.type];
  return said ? said() : `${who}: ${one.text || one.type}`;
}

/** A house in a colour of its own, for homes without a picture that can be shown. */
function shape(of) {
  let sum = 0;
  for (const one of of) sum = (sum * 31 + one.codePointAt(0)) % 100003;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 92 92");
  svg.setAttribute("class", `shape e${1 + (sum % 8)}`);
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "path");
  drawn.setAttribute("d", [
    "M46 22 20 44v28h18V54h16v18h18V44z", "M26 26h40v46H54V60H38v12H26zm8 8v8h8v-8zm16 0v8h8v-8z", "M18 48 36 32l18 16v24H18zm40-20h16v44H58z",
  ][sum % 3]);
  svg.append(drawn);
  return svg;
}

export function pictureOf(home) {
  // Pictures of this server alone are loaded: nobody else learns who looks at what.
  if (home.picture && new URL(home.picture).origin === location.origin) return h("img.picture", { src: home.picture, alt: "", loading: "lazy" });
  return shape(home.listingId);
}
