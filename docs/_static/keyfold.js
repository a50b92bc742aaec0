/* Copy without prompts, tabs, and "/" for the search. Pages read the same without it. */
"use strict";
const all = (query, at = document) => [...at.querySelectorAll(query)];
const named = { py: "Python", python: "Python", console: "Console", bash: "Console", yaml: "Design file", toml: "TOML", json: "JSON", text: "", js: "JavaScript" };

for (const block of all("div[class*='highlight-']")) {
  const pre = block.querySelector("pre");
  if (!pre) continue;
  const language = [...block.classList].find((one) => one.startsWith("highlight-")).slice(10);
  const head = document.createElement("header");
  head.className = "codehead";
  const title = document.createElement("span");
  title.textContent = named[language] ?? "";
  const button = document.createElement("button");
  button.type = "button"; button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${title.textContent || "the text"}`);
  button.addEventListener("click", async () => {
    const text = pre.cloneNode(true);
    all(".gp, .go", text).forEach((one) => one.remove());
    try { await navigator.clipboard.writeText(text.textContent.trim()); button.textContent = "Copied"; }
    catch { button.textContent = "Not allowed by the browser"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  head.append(title, button);
  block.prepend(head);
  pre.tabIndex = 0;
}

for (const table of all(".table-wrapper")) if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;

/* Tabs: one choice for the site, kept in the browser. */
const pick = (name) => {
  for (const box of all(".tabs-of-code")) {
    const tabs = all("[role=tab]", box);
    if (!tabs.some((tab) => tab.textContent === name)) continue;
    for (const tab of tabs) {
      const on = tab.textContent === name;
      tab.setAttribute("aria-selected", on); tab.tabIndex = on ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
    }
  }
  try { localStorage.setItem("tab", name); } catch { /* a browser may forbid it */ }
};
all(".tabs-of-code").forEach((box, number) => {
  const list = document.createElement("div");
  list.className = "tablist"; list.setAttribute("role", "tablist"); list.setAttribute("aria-label", "Language");
  all(":scope > div[class*='highlight-']", box).forEach((panel, at) => {
    const tab = document.createElement("button");
    panel.id = `tab-${number}-${at}`; panel.setAttribute("role", "tabpanel"); panel.hidden = at > 0;
    tab.type = "button"; tab.textContent = panel.querySelector(".codehead span").textContent;
    tab.setAttribute("role", "tab"); tab.setAttribute("aria-controls", panel.id); tab.setAttribute("aria-selected", at === 0); tab.tabIndex = at ? -1 : 0;
    panel.setAttribute("aria-label", tab.textContent);
    tab.addEventListener("click", () => pick(tab.textContent));
    list.append(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = all("[role=tab]", list), next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus(); pick(next.textContent);
  });
  box.prepend(list);
});
try { const before = localStorage.getItem("tab"); if (before) pick(before); } catch { /* a browser may forbid it */ }

addEventListener("keydown", (event) => {
  const field = document.querySelector(".topbar .find input");
  if (event.key === "/" && field && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); field.focus(); }
});
