"use strict";
const at = (id) => document.getElementById(id);
const cell = (text, tag = "td") => Object.assign(document.createElement(tag), { textContent: text });
let source = "";

function row(event) {
  const made = document.createElement("tr");
  const payload = document.createElement("td");
  payload.append(cell(JSON.stringify(event.payload), "code"));
  made.append(cell(new Date(event.at).toLocaleTimeString()), cell(event.source), cell(event.name), payload);
  return made;
}

async function show() {
  const answer = await fetch(`events.json?source=${encodeURIComponent(source)}`).catch(() => null);
  if (!answer?.ok) return;
  const { taken, counts, events } = await answer.json();
  at("taken").textContent = taken.toLocaleString();
  at("rows").replaceChildren(...events.map(row));
  const sources = ["", ...new Set(counts.map((one) => one.source))];
  at("sources").replaceChildren(...sources.map((one) => {
    const sum = counts.filter((each) => !one || each.source === one).reduce((all, each) => all + each.count, 0);
    const button = cell(`${one || "All"} ${sum.toLocaleString()}`, "button");
    button.setAttribute("aria-pressed", one === source);
    button.addEventListener("click", () => { source = one; show(); });
    return button;
  }));
}
show();
setInterval(() => { if (!document.hidden) show(); }, 2000);
