/* Sellers for people: stands, the seasons of one, and the order form of a season. Each view loads by
   REST and loads again when a subscription tells of a change. */
import { $, become, count, day, doing, face, form, h, list, live, me, onPerson, path, redraw, rest, route, say, show, welcome, when } from "../../assets/app.js";

const operates = () => Boolean(me()?.groups?.includes("admin"));

const MINE = "subscription ($id: String!) { mineChanged(ownerAccountId: $id) { kind } }";
const SHARED = "subscription ($id: String!) { sharedChanged(targetAccountId: $id) { kind } }";
const PROFILE = "subscription ($id: String!) { profileChanged(profileId: $id) { kind } }";
const SEASON = "subscription ($id: String!, $profileId: String!) { seasonChanged(profileId: $profileId, seasonId: $id) { kind } }";
const PAYMENTS = [["CASH", "Cash"], ["CHECK", "Check"], ["CREDIT_CARD", "Card"], ["OTHER", "Other"]];

/* ---------- small things ---------- */

const money = (amount) => new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).format(Number(amount));
const go = (hash) => { location.hash = hash; };
const today = () => new Date(Date.now() - new Date().getTimezoneOffset() * 6e4).toISOString().slice(0, 10);
const empty = (title, words) => () => h(".empty", h("b", title), h("span", words));
const isPublic = (catalog) => catalog.isPublicStr === "true";
const writes = (profile) => profile.isOwner || profile.permissions.includes("WRITE");

/** All pages of a list. */
async function all(url) {
  const found = [];
  for (let cursor = null; ;) {
    const page = await rest.get(`${url}${url.includes("?") ? "&" : "?"}limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    found.push(...page.items);
    cursor = page.cursor;
    if (!cursor) return found;
  }
}

function signedOut(view) {
  if (me()) return false;
  view.replaceChildren(welcome("Sell with a little order", "Your stand, your catalog, and an order form that adds up by itself.", [
    ["Catalog", "What you sell, and for how much."], ["Season", "Take orders on a phone; the sums are always right."], ["Helpers", "Share a stand with friends who sell with you."]]));
  return true;
}

/* ---------- stands ---------- */

const standCard = (one) => h("a.card.stand", { href: path`#/stands/${one.profileId}` },
  h("h3", one.sellerName),
  h(".line.wrap", one.isOwner ? h("span.tag", "Yours") : h("span.tag.on", writes(one) ? "You take orders" : "You may look"),
    h("small.muted", one.isOwner ? `since ${day(one.createdAt)}` : one.ownerName && `of ${one.ownerName}`)));

/** The order form of what is being sold; who sells nothing sees the stands. */
async function home(_, view) {
  if (signedOut(view)) return undefined;
  view.replaceChildren(h(".head", h("h1", "Your desk")));
  const [own, given] = await Promise.all([all("/profiles"), all("/shared-profiles")]);
  for (const { profileId } of [...own, ...given].filter(writes)) {
    const season = newest(await all(path`/profiles/${profileId}/seasons`)).find((one) => !isOver(one));
    if (season) return oneSeason({ profileId, id: season.seasonId }, view);
  }
  return stands(_, view);
}

function stands(_, view) {
  if (signedOut(view)) return undefined;
  const mine = h(".grid"), shared = h(".grid"), others = h("section.stack", { hidden: true }, h("h2", "You help at"), shared);
  view.replaceChildren(
    h(".head", h("div", h("h1", "Your stands"), h("p", "Where you sell, and where you help others sell.")),
      h(".acts", h("button.btn", { onclick: () => open("#code") }, "Use a code"), h("button.btn.main", { onclick: () => stand() }, "New stand"))),
    mine, others);
  return live(async () => {
    const [own, given] = await Promise.all([all("/profiles"), all("/shared-profiles")]);
    list(mine, own, (one) => one.profileId, standCard, empty("No stand yet", "Open one, and start a season at it."));
    list(shared, given, (one) => one.profileId, standCard);
    others.hidden = !given.length;
  }, [MINE, { id: me().id }], [SHARED, { id: me().id }]);
}

let renamed = null;
function stand(profile = null) {
  renamed = profile;
  $("#stand-title").textContent = profile ? "Another name" : "A new stand";
  $("#stand .btn.main").textContent = profile ? "Rename it" : "Open it";
  $("#seller-name").value = profile?.sellerName ?? "";
  open("#stand");
}
form($("#stand form"), async (values) => {
  if (renamed) await rest.put(path`/profiles/${renamed.profileId}`, values);
  else go(path`#/stands/${(await rest.post("/profiles", values)).profileId}`);
  $("#stand").close();
});
form($("#code form"), async ({ code }) => {
  const found = await rest.post(path`/invites/${code.trim().toUpperCase()}/redeem`);
  $("#code").close();
  say(`You help at ${found.sellerName}`);
  go(path`#/stands/${found.profileId}`);
});

/* ---------- one stand ---------- */

let here = null;

const days = (one) => [one.startDate, one.endDate].filter(Boolean).map((date) => day(`${date}T12:00`)).join(" – ");
const newest = (found) => [...found].sort((one, other) => other.createdAt.localeCompare(one.createdAt));
const isOver = (one) => Boolean(one.endDate) && one.endDate < today();
const seasonUrl = (one) => path`#/stands/${one.profileId}/seasons/${one.seasonId}`;

const seasonCard = (one) => h("a.card.season", { href: seasonUrl(one) },
  h(".line.apart", h("h3", one.seasonName), isOver(one) ? h("span.tag", "Over") : h("span.tag.on", "Selling")),
  h("small.muted", days(one)));

function helperRow(one) {
  const name = one.givenName || one.targetAccountId;
  return h("div", face(name, { size: "small" }), h("span.what", h("b", name), h("small", one.permissions.includes("WRITE") ? "takes orders" : "may look")),
    h("button.btn.small.quiet", { ariaLabel: `${name} no longer helps`, onclick: doing(() => confirm(`Shall ${name} no longer help?`) && rest.delete(path`/profiles/${one.profileId}/shares/${one.targetAccountId}`)) }, "Remove"));
}

const codeRow = (one) => h("div", h("span.what", h("b.code", one.inviteCode), h("small", `${one.permissions.includes("WRITE") ? "to take orders" : "to look"}, until ${day(one.expiresAt)}`)),
  h("button.btn.small.quiet", { ariaLabel: `Revoke the code ${one.inviteCode}`, onclick: doing(() => confirm(`Shall ${one.inviteCode} no longer work?`) && rest.delete(path`/invites/${one.inviteCode}`)) }, "Revoke"));

async function stopHelping(profile) {
  if (!confirm(`Stop helping at ${profile.sellerName}?`)) return;
  await rest.delete(path`/profiles/${profile.profileId}/shares/${me().id}`);
  go("#/stands");
}

function oneStand({ id }, view) {
  if (signedOut(view)) return undefined;
  const title = h("h1", "A stand"), acts = h(".acts"), seasons = h(".grid"), sold = h("p");
  const rows = h(".rows"), helpers = h("section.panel", { hidden: true }, h("header", h("h2", "Helpers"), h("button.btn.small", { onclick: () => open("#helper") }, "Share")), rows);
  view.replaceChildren(h(".head", h("div", title, sold), acts), h(".cols", h("section.stack", h("h2", "Seasons"), seasons), helpers));
  return live(async () => {
    const [profile, found] = await Promise.all([rest.get(path`/profiles/${id}`), all(path`/profiles/${id}/seasons`)]);
    here = profile;
    title.textContent = profile.sellerName;
    sold.textContent = count(found.length, "season");
    redraw(acts,
      ...(writes(profile) ? [h("button.btn.main", { onclick: doing(newSeason) }, "New season"), h("button.btn", { onclick: () => stand(profile) }, "Rename")] : []),
      profile.isOwner ? h("button.btn.quiet", { onclick: doing(() => remove(profile)) }, "Delete") : operates() ? null : h("button.btn.quiet", { onclick: doing(() => stopHelping(profile)) }, "Stop helping"));
    list(seasons, newest(found), (one) => one.seasonId, seasonCard, empty("No season yet", "Choose a catalog and start one."));
    helpers.hidden = !profile.isOwner;
    if (!profile.isOwner) return;
    const [people, codes] = await Promise.all([all(path`/profiles/${id}/shares`), all(path`/profiles/${id}/invites`)]);
    list(rows, [...people, ...codes.filter((one) => !one.usedAt)], (one) => one.targetAccountId ?? one.inviteCode, (one) => (one.inviteCode ? codeRow(one) : helperRow(one)), empty("Nobody yet", "Share the stand with friends."));
  }, [PROFILE, { id }]);
}

async function remove(profile) {
  if (!confirm(`Delete ${profile.sellerName} with its seasons and orders?`)) return;
  await rest.delete(path`/profiles/${profile.profileId}`);
  say(`${profile.sellerName} is gone`);
  go("#/stands");
}

async function newSeason() {
  const [own, everybodys] = await Promise.all([all("/my-catalogs"), all("/catalogs")]);
  const known = new Map([...own, ...everybodys].map((one) => [one.catalogId, one]));
  if (!known.size) { say("Make a catalog first", { bad: true }); return go("#/catalogs"); }
  $("#season form").reset();
  $("#season-catalog").replaceChildren(...[...known.values()].map((one) => h("option", { value: one.catalogId }, `${one.catalogName} (${count(one.products.length, "product")})`)));
  $("#season-start").value = today();
  return open("#season");
}
form($("#season form"), async (values) => {
  const made = await rest.post("/seasons", { ...values, profileId: here.profileId });
  $("#season").close();
  go(seasonUrl(made));
});

form($("#helper form"), async ({ targetAccountEmail, may }) => {
  const given = { profileId: here.profileId, permissions: may === "WRITE" ? ["READ", "WRITE"] : ["READ"] };
  if (targetAccountEmail) {
    await rest.post("/shares", { ...given, targetAccountEmail });
    $("#helper").close();
    return say("Shared");
  }
  const { inviteCode } = await rest.post("/invites", given);
  return $("#helper form").replaceChildren(h("p", "Give this code to who should help. It works once, for two weeks."), h("p.code", inviteCode),
    h(".acts", h("button.btn.main.wide", { type: "button", onclick: () => $("#helper").close() }, "Done")));
});
const asked = [...$("#helper form").childNodes];
$("#helper").addEventListener("close", () => { $("#helper form").replaceChildren(...asked); $("#helper form").reset(); });

/* ---------- a season and its order form ---------- */

/** A row of the form: a product, and how many of it. */
function productRow(product, changed, number = 0) {
  const id = `number-${product.productId}`;
  const input = h("input", { id, name: id, type: "number", min: 0, max: 100000, defaultValue: 0, value: number, inputMode: "numeric", dataset: { productId: product.productId } });
  const by = (step) => () => { input.value = Math.max(0, Number(input.value || 0) + step); changed(); };
  input.addEventListener("input", changed);
  return h("div", h("label.what", { htmlFor: id }, h("b", product.productName), h("small", money(product.price))),
    h(".steps", h("button.btn", { type: "button", ariaLabel: `Less ${product.productName}`, onclick: by(-1) }, "−"), input,
      h("button.btn", { type: "button", ariaLabel: `More ${product.productName}`, onclick: by(1) }, "+")));
}

function orderForm(season, catalog) {
  const sum = h("b.big", money(0)), rows = h(".rows.products"), from = h("span.muted");
  let prices = new Map();
  const lines = () => [...rows.querySelectorAll("input")].map((one) => ({ productId: one.dataset.productId, quantity: Number(one.value) })).filter((one) => one.quantity > 0);
  const changed = () => { sum.textContent = money(lines().reduce((total, one) => total + one.quantity * Number(prices.get(one.productId)), 0)); };
  const offer = ({ catalogName, products }) => {
    const chosen = new Map(lines().map((one) => [one.productId, one.quantity]));
    from.textContent = catalogName;
    prices = new Map(products.map((one) => [one.productId, one.price]));
    rows.replaceChildren(...products.map((one) => productRow(one, changed, chosen.get(one.productId))));
    changed();
  };
  offer(catalog);
  const made = h("form.panel.take", h("header", h("h2", "Take an order"), from), rows,
    h(".pad.stack", h(".fields",
      h(".field", h("label", { htmlFor: "customer" }, "Who orders?"), h("input", { id: "customer", name: "customerName", required: true, maxLength: 200, autocomplete: "off" })),
      h(".field", h("label", { htmlFor: "phone" }, "Phone"), h("input", { id: "phone", name: "customerPhone", type: "tel", maxLength: 40, autocomplete: "off" })),
      h(".field", h("label", { htmlFor: "payment" }, "Pays by"), h("select", { id: "payment", name: "paymentMethod" }, PAYMENTS.map(([id, word]) => h("option", { value: id }, word)))),
      h(".field", h("label", { htmlFor: "notes" }, "Notes"), h("input", { id: "notes", name: "notes", maxLength: 2000, autocomplete: "off" })))),
    h(".sum", h("span", "Total"), sum),
    h("footer", h("button.btn.main.wide", "Take the order")));
  return form(made, async ({ customerName, customerPhone, paymentMethod, notes }) => {
    const lineItems = lines().map((one) => ({ ...one, pricePerUnit: prices.get(one.productId) }));
    if (!lineItems.length) return say("Choose a product first", { bad: true });
    let order;
    try {
      order = await rest.post("/orders", { customerName, customerPhone, paymentMethod, notes, seasonId: season.seasonId, profileId: season.profileId, lineItems, orderDate: today() });
    } catch (error) {
      if (!error.errors?.some((one) => one.path.startsWith("lineItems."))) throw error;
      const { catalogId } = await rest.get(path`/seasons/${season.seasonId}?profileId=${season.profileId}`);
      offer(await rest.get(path`/catalogs/${catalogId}`));
      return say("The catalog has changed. Check the products and the total", { bad: true });
    }
    made.reset();
    changed();
    say(`${order.customerName} pays ${money(order.totalAmount)}`);
    return $("#customer").focus();
  });
}

const orderRow = (may) => (one) => h(".order", face(one.customerName, { size: "small" }),
  h("span.what", h("b", one.customerName), h("small", one.lineItems.map((line) => `${line.quantity} ${line.productName}`).join(", ")),
    h("small", [PAYMENTS.find(([id]) => id === one.paymentMethod)[1], one.customerPhone, one.notes].filter(Boolean).join(" · "), " · ", when(one.createdAt))),
  h("b.num", money(one.totalAmount)),
  may && h("button.icon", { ariaLabel: `Delete the order of ${one.customerName}`, onclick: doing(async () => {
    if (confirm(`Delete the order of ${one.customerName}?`)) await rest.delete(path`/orders/${one.orderId}?seasonId=${one.seasonId}`);
  }) }, "✕"));

async function report(season) {
  const file = await rest.post(path`/seasons/${season.seasonId}/report`);
  const made = new Blob([Uint8Array.from(atob(file.content), (one) => one.charCodeAt(0))], { type: file.mediaType });
  const link = h("a", { href: URL.createObjectURL(made), download: file.fileName });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** What was sold, how often, and what sells best. */
function sums(orders) {
  const sold = new Map();
  for (const line of orders.flatMap((one) => one.lineItems)) sold.set(line.productName, (sold.get(line.productName) ?? 0) + line.quantity);
  const [best] = [...sold].sort(([, one], [, other]) => other - one);
  return [[money(orders.reduce((sum, one) => sum + Number(one.totalAmount), 0)), "sold"], [orders.length, orders.length === 1 ? "order" : "orders"], [best ? best[0] : "–", "sells best"]];
}

async function oneSeason({ profileId, id }, view) {
  if (signedOut(view)) return undefined;
  view.replaceChildren(h(".head", h("div", h("h1", "A season"))));
  const url = path`/seasons/${id}`, there = path`?profileId=${profileId}`;
  const season = await rest.get(`${url}${there}`);
  const [profile, catalog] = await Promise.all([rest.get(path`/profiles/${profileId}`), rest.get(path`/catalogs/${season.catalogId}`)]);
  const above = h(".sums"), rows = h(".rows"), title = h("h1", season.seasonName), may = writes(profile);
  const orders = h("section.panel", h("header", h("h2", "Orders"),
    h("button.btn.small", { onclick: doing(() => report(season)) }, "CSV")), rows);
  const rename = async () => {
    const seasonName = prompt("The season’s name", title.textContent)?.trim();
    if (!seasonName) return;
    await rest.patch(url, { seasonName, profileId });
    title.textContent = seasonName;
  };
  const drop = async () => {
    if (!confirm(`Delete ${title.textContent} with all its orders?`)) return;
    await rest.delete(`${url}${there}`);
    go(path`#/stands/${profileId}`);
  };
  view.replaceChildren(
    h(".head", h("div", title, h("p", h("a", { href: path`#/stands/${profileId}` }, profile.sellerName), ` · ${days(season)}`))),
    above, h(".cols.even", may ? orderForm(season, catalog) : h(".note", "You may look at this season. Its owner lets others take orders."), orders),
    ...(may ? [h(".acts", h("button.btn.small", { onclick: doing(rename) }, "Rename the season"), h("button.btn.small.quiet", { onclick: doing(drop) }, "Delete the season"))] : []));
  return live(async () => {
    const found = await all(`${url}/orders${there}`);
    above.replaceChildren(...sums(found).map(([big, small]) => h("div", h("b.clip", big), h("small", small))));
    list(rows, newest(found), (one) => one.orderId, orderRow(may), empty("No order yet", "The first one comes soon."));
  }, [SEASON, { id, profileId }]);
}

/* ---------- catalogs ---------- */

const catalogCard = (mine) => (one) => h("article.card", h(".line.apart", h("h3", one.catalogName), isPublic(one) ? h("span.tag.on", "Public") : h("span.tag", "Private")),
  h("small.muted", one.products.map((product) => `${product.productName} ${money(product.price)}`).join(" · ")),
  mine ? h(".line.wrap", h("button.btn.small", { onclick: () => editCatalog(one) }, "Edit"), h("button.btn.small", { onclick: doing(() => rest.patch(path`/catalogs/${one.catalogId}`, { isPublicStr: String(!isPublic(one)) })) }, isPublic(one) ? "Make it private" : "Make it public"),
    h("button.btn.small.quiet", { onclick: doing(() => confirm(`Delete ${one.catalogName}?`) && rest.delete(path`/catalogs/${one.catalogId}`)) }, "Delete"))
    : h("small.muted", one.ownerName && `by ${one.ownerName}`));

function catalogs(_, view) {
  if (signedOut(view)) return undefined;
  const mine = h(".grid"), others = h(".grid");
  view.replaceChildren(
    h(".head", h("div", h("h1", "Catalogs"), h("p", "What can be sold, and for how much.")), h(".acts", h("button.btn.main", { onclick: () => editCatalog() }, "New catalog"))),
    mine, h("h2", "Everybody’s"), others);
  return live(async () => {
    const [own, found] = await Promise.all([all("/my-catalogs"), all("/catalogs")]);
    list(mine, own, (one) => one.catalogId, catalogCard(true), empty("No catalog yet", "Make one, or sell from everybody’s."));
    list(others, found.filter((one) => one.ownerAccountId !== me().id), (one) => one.catalogId, catalogCard(false), empty("None yet", "Public catalogs of others stand here."));
  }, [MINE, { id: me().id }]);
}

let numbered = 0, edited = null;
/** A product keeps its id: orders name it. */
function addProduct({ productId = `p${Date.now().toString(36)}${numbered}`, productName = "", price = "" } = {}) {
  const number = ++numbered;
  const made = h(".product", { dataset: { productId } },
    h("input", { name: `product-${number}`, value: productName, required: true, maxLength: 200, placeholder: "Thin mint", ariaLabel: "Product", autocomplete: "off", className: "name" }),
    h("input", { name: `price-${number}`, value: price, required: true, type: "number", min: 0, step: "0.01", placeholder: "5.50", ariaLabel: "Price", inputMode: "decimal", className: "price" }),
    h("button.icon", { type: "button", ariaLabel: "Leave this product out", onclick: () => made.remove() }, "✕"));
  $("#products").append(made);
  return made;
}
function editCatalog(catalog = null) {
  edited = catalog;
  $("#catalog form").reset();
  $("#catalog-title").textContent = catalog ? "Change the catalog" : "A new catalog";
  $("#catalog-name").value = catalog?.catalogName ?? "";
  $("#catalog [name=isPublicStr]").checked = Boolean(catalog && isPublic(catalog));
  $("#products").replaceChildren();
  for (const one of catalog?.products ?? [{}, {}]) addProduct(one);
  open("#catalog");
}
$("#more-products").addEventListener("click", () => $("input", addProduct()).focus());
form($("#catalog form"), async ({ catalogName, isPublicStr }) => {
  const products = [...$("#products").children].map((one) => ({
    productId: one.dataset.productId, productName: $(".name", one).value, price: Number($(".price", one).value).toFixed(2),
  }));
  if (!products.length) return say("Add a product first", { bad: true });
  await (edited ? rest.patch(path`/catalogs/${edited.catalogId}`, { catalogName, isPublicStr: String(isPublicStr), products }) : rest.post("/catalogs", { catalogName, isPublicStr: String(isPublicStr), products }));
  $("#catalog").close();
  return say(`${catalogName} is ready`);
});

/* ---------- you ---------- */

async function details() {
  const mine = await rest.get("/accounts/me");
  const made = h("form.panel", h("header", h("h2", "Your account")),
    h(".pad.stack", h(".field", h("label", { htmlFor: "given" }, "Name"), h("input", { id: "given", name: "givenName", value: mine.givenName, required: true, maxLength: 200 })),
      h(".field", h("label", { htmlFor: "address" }, "Email"), h("input", { id: "address", name: "email", type: "email", value: mine.email, required: true })),
      h(".acts", h("button.btn.main", "Save"))));
  return form(made, async (values) => { await rest.patch("/accounts/me", values); become({ ...me(), name: values.givenName }); }, { done: "Saved" });
}

async function you(_, view) {
  if (signedOut(view)) return undefined;
  view.replaceChildren(h(".head", h("h1", "You")));
  view.append(await details());
  return undefined;
}

/* ---------- beginning ---------- */

const open = (dialog) => $(dialog).showModal();

form($("#hello form"), async (values) => {
  await rest.post("/accounts", values);
  $("#hello").close();
  become({ ...me(), name: values.givenName });
});

onPerson(async (person) => {
  if (!person) return;
  try { await rest.get("/accounts/me"); } catch (error) {
    if (error.status !== 404) return show(error);
    if (operates()) return undefined;
    $("#my-name").value = person.name === person.id ? "" : person.name.split(" ")[0];
    open("#hello");
  }
});

route({ "": home, stands, "stands/:id": oneStand, "stands/:profileId/seasons/:id": oneSeason, catalogs, you });
