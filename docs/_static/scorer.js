/* Titles before texts, the guide before the reference, everything about keyfold itself last. */
"use strict";
var Scorer = {
  score: ([page, , , , score]) => score + (/^(quickstart|guide\/)/.test(page) ? 20 : 0) - (/^(adr|about|scale|advice)\//.test(page) ? 40 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 40, partialTitle: 20, term: 5, partialTerm: 2,
};
