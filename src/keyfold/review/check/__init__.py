"""The reviewer: every rule of the catalogue, run over a design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keyfold.design.schema import NOWHERE, Schema, Silence
from keyfold.errors import KeyfoldError
from keyfold.review.check import (
    document,
    indexes,
    keys,
    live_table,
    migrations,
    patterns,
    queries,
    streams,
    writes,
)
from keyfold.review.check.reach import Reach
from keyfold.review.check.report import Crash, Finding, Idle, Review, Silenced
from keyfold.review.check.rule import RULES, SEVERITIES, Defect, DesignRule, Element
from keyfold.settings import nearest

FAMILIES = {
    "K": ("Keys", (keys,)),
    "Q": ("Access patterns", (queries, patterns)),
    "X": ("Indexes", (indexes,)),
    "W": ("Writes", (writes,)),
    "S": ("Streams, counters, feeds", (streams,)),
    "M": ("Migrations", (migrations,)),
    "D": ("The document itself", (document,)),
    "L": ("The live table", (live_table,)),
}
"""The families of rules with the modules that register them."""


def rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[DesignRule]:
    """The rules that a selection names: by code (K4) or family (K)."""
    wanted, unwanted = list(select), list(ignore)
    for code in (*wanted, *unwanted):
        if code not in RULES and code not in FAMILIES:
            raise KeyfoldError(f"there is no rule {code!r}; {nearest(code, [*RULES, *FAMILIES])}")
    chosen = [r for r in RULES.values() if not wanted or {r.code, r.family} & set(wanted)]
    return sorted(
        (r for r in chosen if not {r.code, r.family} & set(unwanted)), key=lambda r: r.order
    )


def check(schema: Schema, *, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Review:
    """Run the rules over a design."""
    facts = Reach(schema)
    ran = rules(select, ignore)
    findings: list[Finding] = []
    silenced: list[Silenced] = []
    crashes: list[Crash] = []
    used: set[int] = set()
    for rule in ran:
        try:
            problems = list(rule.check(facts))
        except Exception as error:
            crashes.append(Crash(rule.code, f"{type(error).__name__}: {error}"))
            continue
        for problem in problems:
            finding = _finding(rule, problem)
            silence = _silence(schema, rule, problem)
            if silence is None:
                findings.append(finding)
            else:
                used.add(id(silence))
                silenced.append(Silenced(finding, silence.reason))
    idle = _idle(schema, {rule.code for rule in ran}, used)
    return Review(
        schema.name, tuple(dict.fromkeys(findings)), tuple(silenced), tuple(crashes), tuple(idle)
    )


def _idle(schema: Schema, ran: set[str], used: set[int]) -> Iterator[Idle]:
    """Silences that nothing needs any more, or that name no rule."""
    for element in _elements(schema):
        for silence in element.silences:
            if id(silence) not in used and (silence.code in ran or silence.code not in RULES):
                yield Idle(silence.code, element.place)


def _elements(schema: Schema) -> Iterator[Element]:
    yield schema
    for table in schema.tables:
        yield table
        yield from table.indexes
    for entity in schema.entities:
        yield entity
        yield from entity.placements
    yield from schema.patterns
    yield from schema.counters
    yield from schema.operations
    yield from schema.consumers
    yield from schema.feeds
    yield from schema.steps
    yield from schema.claims
    yield from schema.retentions


def _finding(rule: DesignRule, problem: Defect) -> Finding:
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


def _silence(schema: Schema, rule: DesignRule, problem: Defect) -> Silence | None:
    for element in (problem.element, *problem.within, schema):
        for silence in element.silences:
            if silence.code == rule.code:
                return silence
    return None


__all__ = [
    "FAMILIES",
    "RULES",
    "SEVERITIES",
    "Crash",
    "DesignRule",
    "Finding",
    "Review",
    "Silenced",
    "check",
    "rules",
]
