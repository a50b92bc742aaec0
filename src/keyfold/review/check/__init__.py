"""The reviewer: every rule of the catalogue, run over a design."""

from __future__ import annotations

from collections.abc import Iterable

from keyfold.design.schema import NOWHERE, Schema
from keyfold.errors import KeyfoldError
from keyfold.review.check import (
    document,
    indexes,
    keys,
    migrations,
    queries,
    streams,
    writes,
)
from keyfold.review.check.facts import Facts
from keyfold.review.check.report import Crash, Finding, Report, Silenced
from keyfold.review.check.rule import RULES, SEVERITIES, Problem, Rule
from keyfold.settings import nearest

FAMILIES = {
    "K": ("Keys", keys),
    "Q": ("Access patterns", queries),
    "X": ("Indexes", indexes),
    "W": ("Writes", writes),
    "S": ("Streams, counters, feeds", streams),
    "M": ("Migrations", migrations),
    "D": ("The document itself", document),
}


def rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Rule]:
    """The rules that a selection names: by code (K4) or family (K)."""
    wanted, unwanted = list(select), list(ignore)
    for code in (*wanted, *unwanted):
        if code not in RULES and code not in FAMILIES:
            raise KeyfoldError(f"there is no rule {code!r}; {nearest(code, [*RULES, *FAMILIES])}")
    chosen = [r for r in RULES.values() if not wanted or {r.code, r.family} & set(wanted)]
    return sorted(
        (r for r in chosen if not {r.code, r.family} & set(unwanted)), key=lambda r: r.order
    )


def check(schema: Schema, *, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Report:
    """Run the rules over a design."""
    facts = Facts(schema)
    findings: list[Finding] = []
    silenced: list[Silenced] = []
    crashes: list[Crash] = []
    for rule in rules(select, ignore):
        try:
            problems = list(rule.check(facts))
        except Exception as error:
            crashes.append(Crash(rule.code, f"{type(error).__name__}: {error}"))
            continue
        for problem in problems:
            finding = _finding(rule, problem)
            reason = _silence(schema, rule, problem)
            if reason is None:
                findings.append(finding)
            else:
                silenced.append(Silenced(finding, reason))
    return Report(schema.name, tuple(dict.fromkeys(findings)), tuple(silenced), tuple(crashes))


def _finding(rule: Rule, problem: Problem) -> Finding:
    elements = (problem.element, *problem.within)
    place = next((e.place for e in elements if e.place != NOWHERE), NOWHERE)
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        subject=problem.subject,
        message=problem.message,
        suggestion=problem.suggestion,
        place=place,
    )


def _silence(schema: Schema, rule: Rule, problem: Problem) -> str | None:
    for element in (problem.element, *problem.within, schema):
        for silence in element.silences:
            if silence.code == rule.code:
                return silence.reason
    return None


__all__ = [
    "FAMILIES",
    "RULES",
    "SEVERITIES",
    "Crash",
    "Finding",
    "Report",
    "Rule",
    "Silenced",
    "check",
    "rules",
]
