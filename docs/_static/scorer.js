/* Titles before texts, the guide before the reference, everything about keyfold itself last. */
"use strict";
var Scorer = {
  asked: (new URLSearchParams(window.location.search).get("q") || "").toLowerCase().split(/\s+/).map((word) => word.replace(/s$/, "")).filter(Boolean),
  guide: /^(start|quickstart|guide\/)/,
  about: /^(about|adr\/|findings|judged|inspected|performance|reliability|threat-model|parts|size|dependencies)/,
  score: ([page, title, , , score]) => score
    + (Scorer.guide.test(page) ? 20 : 0) - (Scorer.about.test(page) ? 60 : 0)
    + (Scorer.asked.length && Scorer.asked.every((word) => title.toLowerCase().includes(word)) ? 40 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 40, partialTitle: 20, term: 5, partialTerm: 2,
};
