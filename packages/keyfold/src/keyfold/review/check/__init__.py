"""The reviewer: every rule of the catalogue, run over a design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from keyfold.design.schema import INTENTS, NOWHERE, Intent, Place, Schema, Silence
from keyfold.errors import KeyfoldError
from keyfold.review.check import (
    document,
    expiry,
    feeds,
    heat,
    index_allocation,
    index_use,
    indexes,
    key_order,
    key_values,
    keys,
    live_table,
    migrations,
    patterns,
    propagation,
    queries,
    reads,
    result_order,
    sizes,
    states,
    streams,
    uniqueness,
    vectors,
    writes,
)
from keyfold.review.check.example import example_of
from keyfold.review.check.page import unknown_rule
from keyfold.review.check.reach import Reach
from keyfold.review.check.report import SEVERITIES, Crash, Finding, Idle, Review, Severity, Silenced
from keyfold.review.check.rule import RULES, Defect, DesignRule, Element

FAMILIES = {
    "K": ("Keys", (keys, key_order, key_values)),
    "Q": ("Access patterns", (queries, result_order, patterns, reads)),
    "X": ("Indexes", (indexes, index_use, index_allocation, uniqueness, vectors)),
    "W": ("Writes", (writes, propagation, states, sizes, expiry)),
    "S": ("Streams, counters, feeds", (streams, feeds, heat)),
    "M": ("Migrations", (migrations,)),
    "D": ("The document itself", (document,)),
    "L": ("The live table", (live_table,)),
}
"""The families of rules, with their modules."""


def rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[DesignRule]:
    """The rules of a selection: by code (K4) or family (K)."""
    wanted, unwanted = list(select), list(ignore)
    for code in (*wanted, *unwanted):
        if code not in RULES and code not in FAMILIES:
            raise KeyfoldError(unknown_rule(code, [*RULES, *FAMILIES]))
    chosen = [r for r in RULES.values() if not wanted or {r.code, r.family} & set(wanted)]
    return sorted(
        (r for r in chosen if not {r.code, r.family} & set(unwanted)), key=lambda r: r.order
    )


def check(
    schema: Schema,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    severity: Mapping[str, Severity] | None = None,
) -> Review:
    """Run the rules over a design; `severity` overrides that of rules or families."""
    facts = Reach(schema)
    ran = rules(select, ignore)
    changed = severity or {}
    findings: list[Finding] = []
    silenced: list[Silenced] = []
    crashes: list[Crash] = []
    used: set[int] = set()
    for rule in ran:
        try:
            defects = list(rule.check(facts))
        except Exception as error:
            crashes.append(Crash(rule.code, f"{type(error).__name__}: {error}"))
            continue
        open_: list[Defect] = []
        for defect in defects:
            silence = _silence(schema, rule, defect)
            if silence is None:
                open_.append(defect)
            else:
                used.add(id(silence))
                silenced.append(Silenced(_finding(facts, rule, [defect], changed), silence.reason))
        if open_:
            findings += [_finding(facts, rule, group, changed) for group in _by_cause(open_)]
    idle = _idle(schema, {rule.code for rule in ran}, used)
    return Review(
        schema.name, tuple(dict.fromkeys(findings)), tuple(silenced), tuple(crashes), tuple(idle)
    )


def _by_cause(defects: list[Defect]) -> list[list[Defect]]:
    """Defects grouped by cause, in order of first occurrence."""
    groups: dict[object, list[Defect]] = {}
    for number, defect in enumerate(defects):
        cause = (defect.cause, defect.severity) if defect.cause else number
        groups.setdefault(cause, []).append(defect)
    return list(groups.values())


def _idle(schema: Schema, ran: set[str], used: set[int]) -> Iterator[Idle]:
    """Suppressions that are unused or name no rule."""
    for element in _elements(schema):
        for silence in element.silences:
            unknown = silence.code not in RULES
            if id(silence) not in used and (silence.code in ran or unknown):
                place = element.place if silence.place == NOWHERE else silence.place
                yield Idle(silence.code, place, unknown)


def _elements(schema: Schema) -> Iterator[Element]:
    yield schema
    for table in schema.tables:
        yield table
        yield from table.indexes
        yield from table.vectors
    for entity in schema.entities:
        yield entity
        yield from entity.placements
    yield from schema.patterns
    yield from schema.searches
    yield from schema.counters
    yield from schema.operations
    yield from schema.consumers
    yield from schema.feeds
    yield from schema.steps
    yield from schema.stated
    yield from schema.retentions


def _place(defect: Defect) -> Place:
    elements = (defect.element, *defect.within)
    return next((e.place for e in elements if e.place != NOWHERE), NOWHERE)


def _finding(
    facts: Reach, rule: DesignRule, defects: list[Defect], severity: Mapping[str, Severity]
) -> Finding:
    first = defects[0]
    stated = severity.get(rule.code, severity.get(rule.family))
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=stated or first.severity or rule.severity,
        subject=first.about,
        message=first.message,
        suggestion=first.suggestion,
        place=_place(first),
        also=tuple(dict.fromkeys(d.about for d in defects[1:] if d.about != first.about)),
        example=example_of(facts, (first.element, *first.elements, *first.within)),
        fixes=tuple((_place(d), d.fix) for d in defects if d.fix is not None),
    )


def _silence(schema: Schema, rule: DesignRule, defect: Defect) -> Silence | Intent | None:
    for element in (defect.element, *defect.within, schema):
        for silence in element.silences:
            if silence.code == rule.code:
                return silence
        for intent in getattr(element, "intents", ()):
            if rule.code in INTENTS[intent.what]:
                found: Intent = intent
                return found
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
