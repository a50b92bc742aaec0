/* keyfold studio: behaviour. Every page works as plain HTML; this adds keys, tabs, pictures. */
"use strict";
const $ = (q, at = document) => at.querySelector(q);
const $$ = (q, at = document) => [...at.querySelectorAll(q)];
const url = new URL(location.href);

/* Theme: follows the system until somebody chooses. */
const root = document.documentElement;
const chosen = url.searchParams.get("theme") || localStorage.getItem("theme");
if (chosen) root.dataset.theme = chosen;
$("#theme")?.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  draw();
});

/* Keys as this machine names them. */
if (!/Mac|iPhone|iPad/.test(navigator.platform)) for (const key of $$("kbd")) key.textContent = key.textContent.replace("⌘", key.textContent === "⌘" ? "Ctrl" : "Ctrl ");

/* State in the address, so that every view can be shared. */
const keep = (name, value) => {
  url.searchParams.set(name, value);
  history.replaceState(null, "", url);
};

/* Say something once, politely. */
const say = (words) => {
  $(".toast")?.remove();
  const toast = Object.assign(document.createElement("div"), { className: "toast", textContent: words });
  toast.setAttribute("role", "status");
  document.body.append(toast);
  setTimeout(() => toast.remove(), 1800);
};

/* Tabs: left and right move, the panel follows. */
const wireTabs = (place) => {
  for (const tabs of $$('[role="tablist"]', place)) {
    const all = $$('[role="tab"]', tabs);
    const show = (tab) => {
      for (const one of all) {
        const on = one === tab;
        one.setAttribute("aria-selected", on);
        one.tabIndex = on ? 0 : -1;
        $("#" + one.getAttribute("aria-controls")).hidden = !on;
      }
    };
    tabs.addEventListener("click", (e) => { const t = e.target.closest('[role="tab"]'); if (t) show(t); });
    tabs.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
      next.focus(); show(next);
    });
  }
};
wireTabs(document);

/* Parts of a page come from the same address; an answer that is overtaken is dropped. */
const part = async (href, place) => {
  const mine = place.asked = (place.asked ?? 0) + 1;
  const show = (body) => { if (mine === place.asked) place.innerHTML = body; };
  const notice = (kind, words) => show(`<div class="banner ${kind}" role="status">${words}</div>`);
  const slow = setTimeout(notice, 2000, "warn", "The backend has not answered yet.");
  try {
    const answer = await fetch(href, { headers: { "X-Part": "1" }, credentials: "same-origin" });
    show(await answer.text());
  } catch { notice("bad", "The studio does not answer."); }
  clearTimeout(slow);
  return mine === place.asked;
};

/* A page that is not ready is loaded again, unless somebody is on the way to another one. */
if ($("[data-late]")) {
  const again = setTimeout(() => location.reload(), 1000);
  addEventListener("beforeunload", () => clearTimeout(again));
}

/* A list with a detail. Rows are links, so it works without this; here arrows or j and k move. */
const list = $(".rows");
if (list) {
  const split = list.closest(".split"), narrow = matchMedia("(max-width: 1080px)");
  const select = async (row) => {
    $$("[aria-current]", list).forEach((o) => o.removeAttribute("aria-current"));
    row.setAttribute("aria-current", "true");
    history.replaceState(history.state, "", row.href);
    /* What stands there is another item's until the answer comes. */
    const detail = $("#detail");
    detail.inert = true;
    if (await part(row.href, detail)) detail.inert = false;
  };
  /* Narrow: the detail takes the list's place, and the browser's way back leads to the list. */
  const open = () => {
    if (!narrow.matches || split.classList.contains("open")) return;
    split.classList.add("open");
    history.pushState("item", "", location.href);
    scrollTo(0, 0);
  };
  const close = () => { split.classList.remove("open"); $("[aria-current]", list)?.focus(); };
  addEventListener("popstate", close);
  $("[data-back]")?.addEventListener("click", () => (history.state === "item" ? history.back() : close()));
  list.addEventListener("click", (e) => {
    const row = e.target.closest(".row");
    if (!split || !row || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    select(row); open();
  });
  list.addEventListener("keydown", (e) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const rows = $$(".row", list).filter((r) => !r.hidden);
    const next = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(document.activeElement) + step))];
    next.focus();
    if (!narrow.matches) select(next);
  });
  $("[aria-current]", list)?.scrollIntoView({ block: "nearest" });
  for (const chip of $$("button[data-show]")) chip.addEventListener("click", () => {
    const on = chip.getAttribute("aria-pressed") !== "true";
    chip.setAttribute("aria-pressed", on);
    $$(".row", list).filter((r) => r.dataset.kind === chip.dataset.show).forEach((r) => { r.hidden = !on; });
  });
}

/* A filter reads on to its end, to Stop, or to a bill that somebody should agree to. */
const looked = $(".looked[data-next]"), MOST_FOUND = 300, MOST_UNITS = 1000;
if (looked && list) {
  const stop = $("button", looked);
  let on = true;
  stop.hidden = false;
  const sum = { found: +looked.dataset.found, read: +looked.dataset.read, units: +looked.dataset.units };
  const readOn = async () => {
    on = true;
    for (let spent = 0; on && looked.dataset.next && sum.found < MOST_FOUND && spent < MOST_UNITS;) {
      const answer = await fetch(looked.dataset.next, { headers: { "X-Part": "1" }, credentials: "same-origin" }).catch(() => null);
      if (!answer?.ok) { say("The backend does not answer"); break; }
      const came = document.createElement("template");
      came.innerHTML = await answer.text();
      const { next = "", ...took } = $(".looked", came.content).dataset;
      for (const name of Object.keys(sum)) {
        sum[name] += +took[name];
        $(`[data-sum="${name}"]`, looked).textContent = sum[name].toLocaleString("en", { maximumFractionDigits: 1 });
      }
      spent += +took.units;
      looked.dataset.next = next;
      list.append(...$$(".row", came.content));
    }
    stop.textContent = "Read on";
    stop.hidden = !looked.dataset.next;
    on = false;
  };
  stop.addEventListener("click", () => {
    if (on) { on = false; return; }
    stop.textContent = "Stop";
    readOn();
  });
  readOn();
}

/* A diagram as PNG, in twice its size. */
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-png]");
  if (!button) return;
  const svg = await (await fetch(button.dataset.png, { credentials: "same-origin" })).text();
  const picture = Object.assign(new Image(), { src: "data:image/svg+xml," + encodeURIComponent(svg) });
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * picture.width, height: 2 * picture.height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const name = button.dataset.png.split("/").pop().replace(/\.svg$/, ".png");
  Object.assign(document.createElement("a"), { href: canvas.toDataURL("image/png"), download: name }).click();
});

/* Copy: the text of an element, or a text of the button's own. */
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy]");
  if (!button) return;
  const { copy, text } = button.dataset;
  const from = copy.startsWith("#") ? $(copy) : copy === "tab" ? $('[role="tabpanel"]:not([hidden])', button.closest(".panel")) : null;
  try {
    await navigator.clipboard.writeText(copy === "address" ? location.href : text ?? from.textContent.trim());
    say("Copied");
  } catch { say("The browser did not allow copying"); }
});

/* Search and help. */
const find = $("#find"), help = $("#help");
if (find) {
  const box = $("input", find);
  const hits = () => $$(".hits a", find).filter((a) => !a.hidden);
  const mark = (a) => { $$(".hits .on").forEach((o) => o.classList.remove("on")); a?.classList.add("on"); };
  const open = () => { find.showModal(); box.select(); mark(hits()[0]); };
  $$("[data-find]").forEach((b) => b.addEventListener("click", open));
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    $$(".hits:not(.live) a", find).forEach((a) => { a.hidden = !words.every((w) => a.textContent.toLowerCase().includes(w)); });
    $(".empty", find).hidden = hits().length > 0;
    mark(hits()[0]);
    clearTimeout(waiting);
    if (find.dataset.ask && box.value.trim()) waiting = setTimeout(look, 120);
    else $(".live", find).replaceChildren();
  });
  const look = async () => {
    const query = "?q=" + encodeURIComponent(box.value.trim());
    if (!await part(find.dataset.ask + query, $(".live", find))) return;
    $(".empty", find).hidden = hits().length > 0;
    mark(hits()[0]);
  };
  let waiting = 0;
  box.addEventListener("keydown", (e) => {
    const all = hits(), at = all.findIndex((a) => a.classList.contains("on"));
    if (e.key === "ArrowDown") mark(all[Math.min(at + 1, all.length - 1)]);
    else if (e.key === "ArrowUp") mark(all[Math.max(at - 1, 0)]);
    else if (e.key === "Enter") all[at]?.click();
    else return;
    e.preventDefault();
  });
  let g = 0;
  document.addEventListener("keydown", (e) => {
    if (e.target.closest("input, textarea, select, dialog[open]") || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/") { e.preventDefault(); open(); }
    else if (e.key === "?") help.showModal();
    else if (e.key === "t") $("#theme").click();
    else if (e.key === "g") { g = e.timeStamp; }
    else if (e.timeStamp - g < 900) {
      const to = $(`.side a[data-go="${e.key}"]`) || (e.key === "h" && $(".brand"));
      if (to) to.click();
    }
  });
  $("[data-help]")?.addEventListener("click", () => help.showModal());
  for (const d of [find, help]) d.addEventListener("click", (e) => { if (e.target === d) d.close(); });
}
$(".side [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

/* Map: frames are HTML and flow; lines are drawn over them and only repeat what the rows say. */
const map = $(".map");
function draw() {
  if (!map) return;
  const svg = $("svg", map), at = map.getBoundingClientRect();
  const narrow = !getComputedStyle(map).gridTemplateColumns.includes(" ");
  svg.replaceChildren();
  const put = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, v);
    svg.append(made);
  };
  const box = (id) => {
    const r = document.getElementById(id)?.getBoundingClientRect();
    if (!r || !r.width) return null;
    const z = Number(map.dataset.zoom || 1);
    return { l: (r.left - at.left) / z, r: (r.right - at.left) / z, y: (r.top - at.top) / z + (map.classList.contains("compact") ? 13 : 17), h: r.height / z };
  };
  const ports = {};
  const port = (id) => { ports[id] = (ports[id] ?? -1) + 1; return ports[id] * 8; };
  let lane = 0;
  const lanes = $$("[data-from]:not([data-edge=index])", map).length;
  const long = ({ dataset: d }) => Math.abs((box(d.from)?.y ?? 0) - (box(d.to)?.y ?? 0));
  for (const link of $$("[data-from]", map).sort((p, q) => long(p) - long(q))) {
    const [a, b] = [box(link.dataset.from), box(link.dataset.to)];
    if (!a || !b) continue;
    const kind = link.dataset.edge, names = `${link.dataset.from} ${link.dataset.to}`;
    const c = `edge ${kind} ${link.dataset.e}`;
    if (kind === "index") {
      if (narrow) continue;
      const x1 = a.r, x2 = b.l, y1 = a.y, y2 = b.y, m = (x1 + x2) / 2;
      put("path", { class: c, d: `M${x1} ${y1}C${m} ${y1} ${m} ${y2} ${x2} ${y2}`, "data-names": names });
      put("circle", { class: `tip ${link.dataset.e}`, cx: x2, cy: y2, r: 2.5, "data-names": names });
      continue;
    }
    const gap = Math.min(narrow ? 5 : 9, (narrow ? 42 : 74) / Math.max(1, lanes));
    const x = Math.min(a.l, b.l) - 12 - gap * lane++;
    const y1 = a.y + port(link.dataset.from), y2 = b.y + port(link.dataset.to);
    const down = y2 > y1 ? 1 : -1, r = Math.min(6, Math.abs(y2 - y1) / 2);
    put("path", {
      class: c, "data-names": names,
      d: `M${a.l} ${y1}H${x + r}Q${x} ${y1} ${x} ${y1 + down * r}V${y2 - down * r}Q${x} ${y2} ${x + r} ${y2}H${b.l - 5}`,
    });
    put("path", { class: `tip ${link.dataset.e}`, d: `M${b.l} ${y2}l-7 -3.5v7z`, "data-names": names });
  }
}
if (map) {
  const light = (...ids) => {
    map.classList.toggle("dim", ids.length > 0);
    $$(".lit", map).forEach((x) => x.classList.remove("lit"));
    const near = new Set(ids);
    for (const line of $$("[data-names]", map)) {
      const names = line.dataset.names.split(" ");
      if (ids.some((id) => names.includes(id))) { line.classList.add("lit"); names.forEach((n) => near.add(n)); }
    }
    near.forEach((n) => document.getElementById(n)?.classList.add("lit"));
  };
  for (const node of $$(".node", map)) {
    node.addEventListener("pointerenter", () => light(node.id));
    node.addEventListener("pointerleave", () => light());
    node.addEventListener("focus", () => light(node.id));
    node.addEventListener("blur", () => light());
  }
  $$("[data-lines]").forEach((b) => b.addEventListener("click", () => {
    $$("[data-lines]").forEach((o) => o.setAttribute("aria-pressed", o === b));
    map.classList.toggle("quiet", b.dataset.lines === "none");
  }));
  /* Zoom by steps or with the wheel and Ctrl; drag the ground to move. */
  const frame = map.parentElement, steps = [0.4, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2];
  const zoom = (z) => { map.dataset.zoom = z; map.style.zoom = z; keep("zoom", z); draw(); };
  const step = (by) => zoom(steps[Math.max(0, Math.min(steps.length - 1, steps.indexOf(Number(map.dataset.zoom || 1)) + by))]);
  $$("[data-zoom]").forEach((b) => b.tagName === "BUTTON" && b.addEventListener("click", () => (b.dataset.zoom === "fit" ? zoom(1) : step(b.dataset.zoom === "in" ? 1 : -1))));
  frame.addEventListener("wheel", (e) => { if (e.ctrlKey) { e.preventDefault(); step(e.deltaY < 0 ? 1 : -1); } }, { passive: false });
  frame.addEventListener("pointerdown", (e) => {
    if (e.target.closest("a, summary, button") || e.pointerType === "touch") return;
    const from = { x: e.clientX + frame.scrollLeft, y: e.clientY + frame.scrollTop };
    const move = (m) => { frame.scrollLeft = from.x - m.clientX; frame.scrollTop = from.y - m.clientY; };
    frame.setPointerCapture(e.pointerId);
    frame.addEventListener("pointermove", move);
    frame.addEventListener("pointerup", () => frame.removeEventListener("pointermove", move), { once: true });
  });
  if (steps.includes(Number(url.searchParams.get("zoom")))) zoom(Number(url.searchParams.get("zoom")));
  $("[data-sift]")?.addEventListener("input", (e) => {
    const word = e.target.value.trim().toLowerCase();
    const name = (node) => node.dataset.name.toLowerCase();
    const hits = word ? $$(".node", map).filter((node) => name(node).includes(word)) : [];
    const best = hits.find((node) => name(node) === word) || hits.find((node) => name(node).startsWith(word)) || hits[0];
    if (best && name(best) === word) light(best.id); else light(...hits.map((node) => node.id));
    best?.scrollIntoView({ block: "nearest" });
  });
  new ResizeObserver(draw).observe(map);
  const lit = map.dataset.lit && $$(".node", map).find((node) => node.dataset.name === map.dataset.lit);
  if (lit) requestAnimationFrame(() => requestAnimationFrame(() => { light(lit.id); lit.scrollIntoView({ block: "center" }); }));
  $$("details", map).forEach((d) => d.addEventListener("toggle", draw));
}

/* Buttons that show what is folded. */
document.addEventListener("click", (e) => {
  const toggle = e.target.closest("[data-toggle]"), more = e.target.closest("[data-all]");
  if (toggle) {
    const folded = $(toggle.dataset.toggle);
    folded.hidden = !folded.hidden;
    toggle.setAttribute("aria-expanded", !folded.hidden);
  }
  if (more) {
    const on = $(more.dataset.all).classList.toggle("all");
    more.setAttribute("aria-expanded", on);
    more.textContent = on ? "Show less" : "Show all";
  }
});

/* Boxes that choose what a button does; the button says how many. */
document.addEventListener("change", (e) => {
  if (!e.target.closest("[data-fix]")) return;
  const chosen = $$("[data-fix]").filter((f) => f.checked).length;
  $("#repair").textContent = `Repair ${chosen}`;
  $("#repair").disabled = !chosen;
});

/* Parts that follow the server's work: asked for again until they come as parts that stay. Nothing
   that somebody types in, presses, or has opened, is taken away under their hands. */
const PLACES = "a, button, summary, input, [tabindex]";
let pressed = false;
for (const one of ["pointerdown", "pointerup", "pointercancel"]) addEventListener(one, () => { pressed = one === "pointerdown"; }, true);
const renew = async () => {
  const live = $$("[data-live]");
  if (!live.length) return;
  let wait = 1000;
  if (!document.hidden) try {
    const names = live.map((one) => one.id).join(" ");
    const answer = await fetch(location.href, { headers: { "X-Part": names }, credentials: "same-origin" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) { say($(".banner", fresh)?.textContent ?? "The studio does not answer."); wait = 5000; }
    for (const old of live) {
      const next = fresh.getElementById(old.id);
      if (!next || pressed || old.contains(document.activeElement?.closest("input, select"))) continue;
      const opened = $$("details", old).map((d) => d.open);
      $$("details", next).forEach((d, at) => { d.open ||= opened[at]; });
      if (old.isEqualNode(next)) continue;
      const focused = $$(PLACES, old).indexOf(document.activeElement);
      old.replaceWith(next);
      wireTabs(next);
      $$(PLACES, next)[focused]?.focus({ preventScroll: true });
    }
  } catch { say("The studio does not answer."); wait = 5000; }
  setTimeout(renew, wait);
};
if ($("[data-live]")) setTimeout(renew, $("#run") ? 0 : 1000);

/* What ran in this browser, kept here only. */
const ran = $("#history");
if (ran) {
  let runs = [];
  try { runs = JSON.parse(localStorage.getItem("runs")) || []; } catch { runs = []; }
  if (ran.dataset.call) {
    const { at, call, items, requests, units, time } = ran.dataset;
    runs = [{ at, call, items, requests, units, time, href: location.href }, ...runs].slice(0, 20);
    localStorage.setItem("runs", JSON.stringify(runs));
  }
  const body = $("tbody", ran);
  for (const one of runs) {
    const row = body.insertRow();
    row.insertCell().textContent = one.at;
    const to = Object.assign(document.createElement("a"), { href: one.href, textContent: one.call });
    row.insertCell().append(to);
    for (const name of ["items", "requests", "units", "time"]) {
      const cell = row.insertCell();
      cell.className = "num"; cell.textContent = one[name];
    }
  }
  ran.hidden = !runs.length;
}

/* Several of something: typing in the last box brings one more, × takes one out. */
document.addEventListener("input", (e) => {
  const one = e.target.closest("[data-more] > .one");
  if (!one || one.nextElementSibling || !e.target.value) return;
  const next = one.cloneNode(true);
  $$("input", next).forEach((box) => { box.value = ""; });
  $("small", one)?.remove();
  one.after(next);
});
document.addEventListener("click", (e) => {
  const one = e.target.closest("[data-gone]")?.closest(".one");
  if (!one) return;
  if (one.nextElementSibling) one.remove();
  else $$("input, select", one).forEach((box) => { box.value = ""; });
});

/* Send what the plan shows. */
document.addEventListener("keydown", (e) => {
  if (e.key === "Enter" && (e.metaKey || e.ctrlKey)) $("#send")?.click();
});
