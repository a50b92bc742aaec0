"""Q, continued: what a read discards, and what it reads again."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PatternSchema
from keyfold.design.template import Literal, Template
from keyfold.review.check.domains import PATTERNS
from keyfold.review.check.example import wanted_entries
from keyfold.review.check.filters import equal_fields, other_fields
from keyfold.review.check.patterns import condition_words
from keyfold.review.check.reach import RANGES, Reach, slots
from keyfold.review.check.rule import Found, hit, rule
from keyfold_engine.limits import GB, PAGE_BYTES, READ_UNIT_BYTES


@rule("Q7", PATTERNS)
def n_plus_one(facts: Reach, pattern: PatternSchema) -> Iterator[Found]:
    rows = [facts.schema.by_entity[n] for n in pattern.entities if n in facts.schema.by_entity]
    for name in pattern.returns:
        target = facts.schema.by_entity.get(name)
        if target is None or name in pattern.entities or _has_key(facts, rows, target):
            continue
        way = facts.lookup_pattern(rows, target)
        how = f", a query of {way.index} that no batch can hold" if way and way.index else ""
        yield hit(target=target, key=str(target.key), how=how)


def _has_key(facts: Reach, rows: list[EntitySchema], target: EntitySchema) -> bool:
    """Whether each row holds the whole key of the next read, so that one batch suffices."""
    table = facts.schema.by_table[target.table]
    if target.key is None or (table.sort and target.key.sort is None):
        # The document does not give the key; a row that names its attributes can hold it.
        attributes = table.key_attributes
        return bool(rows) and all(_names_key_of(row, target, attributes) for row in rows)
    return bool(rows) and all(
        set(facts.held_key_fields(row, target)) >= set(target.key.fields) for row in rows
    )


def _names_key_of(row: EntitySchema, target: EntitySchema, attributes: tuple[str, ...]) -> bool:
    """`postSK` on a row holds the sort key of a POST."""
    wanted = {f"{target.name}{name}".casefold().replace("_", "") for name in attributes[-1:]}
    return wanted <= {field.casefold().replace("_", "") for field in row.by_field}


UNITS_OF_A_GB = GB // READ_UNIT_BYTES // 2
REQUESTS_OF_A_GB = GB // PAGE_BYTES


@rule("Q13", PATTERNS)
def scan(facts: Reach, pattern: PatternSchema) -> Found | None:
    if pattern.kind != "scan" or _reads_few(pattern):
        return None
    store = pattern.index or pattern.table
    if _is_sparse(facts, pattern) and not pattern.rate:
        return hit("sparse", store=store)
    rate = f", {pattern.rate:g} times a second" if pattern.rate else ""
    return hit("whole", store=store, units=UNITS_OF_A_GB, requests=REQUESTS_OF_A_GB, rate=rate)


def _is_sparse(facts: Reach, pattern: PatternSchema) -> bool:
    """Whether it scans a sparse index, which is what such an index is for."""
    there = facts.appearances(pattern.table, pattern.index) if pattern.index else ()
    return bool(there) and all(a.placement and a.placement.is_partial for a in there)


def _reads_few(pattern: PatternSchema) -> bool:
    """Whether it takes the first few of a sparse index."""
    few = pattern.limit is not None and pattern.filter is None and not pattern.order
    return few and pattern.index is not None


SMALL = 100
"""With at most this many items, reading everything is fine."""


@rule("Q14", PATTERNS)
def filter_instead_of_key(facts: Reach, pattern: PatternSchema) -> Found | None:
    if pattern.filter is None or pattern.kind in ("scan", "get") or pattern.partition is None:
        return None
    marker = facts.type_marker(pattern.table)
    bounds, searched = other_fields(pattern.filter)
    equal, ranged = (
        [f for f in fields if f != marker and not _is_ttl(facts, pattern, f)]
        for fields in (equal_fields(pattern.filter), bounds)
    )
    few = facts.most(pattern)
    small = few is not None and few <= SMALL
    if searched and not equal and pattern.partition.is_literal:
        return None if small else hit("text", said=None, fields=searched)
    # A key can serve only one of two ranges, and it does.
    if not equal and (not ranged or pattern.condition.operator in RANGES):
        return None
    sorted_by = ranged and any(ranged[0] in one.key.fields for one in facts.reached(pattern))
    case = "equal" if equal else "sorted" if sorted_by else "ranged"
    return hit(case, said=None if small else True, fields=equal or ranged)


def _is_ttl(facts: Reach, pattern: PatternSchema, field: str) -> bool:
    entities = (facts.schema.by_entity.get(name) for name in pattern.entities)
    return any(e is not None and e.ttl is not None and e.ttl.attribute == field for e in entities)


@rule("Q15", PATTERNS)
def prefix_cut(facts: Reach, pattern: PatternSchema) -> Found | None:
    prefix = pattern.condition.template
    if pattern.condition.operator != "begins_with" or prefix is None or not prefix.fields:
        return None
    for appearance in wanted_entries(facts, pattern):
        sort = appearance.key.sort
        if sort is None:
            continue
        inside, whole = _stops_inside(prefix, sort), prefix.parts == sort.parts
        if (inside or whole) and _is_open(appearance.entity, sort, prefix):
            field = slots(sort)[len(prefix.fields) - 1].field
            case = "inside" if inside else "whole"
            return hit(case, condition=condition_words(pattern), field=field, sort=sort)
    return None


def _stops_inside(prefix: Template, sort: Template) -> bool:
    """Whether a prefix ends with a value that continues in the key."""
    cut = len(prefix.parts)
    return not isinstance(prefix.parts[-1], Literal) and cut < len(sort.parts)


def _is_open(entity: EntitySchema, sort: Template, prefix: Template) -> bool:
    """Whether one value can be a prefix of another: not for ids of one length or times."""
    slot = slots(sort)[len(prefix.fields) - 1] if len(prefix.fields) <= len(slots(sort)) else None
    held = entity.by_field.get(slot.field) if slot else None
    if slot is None or slot.format.sortable:
        return False
    if held is None:
        return True
    if held.values:
        return any(a != b and a.startswith(b) for a in held.values for b in held.values)
    return held.type in ("string", "number") or _is_one_number(held.looks_like)


def _is_one_number(form: str) -> bool:
    """Whether ids are counters: `7` is a prefix of `70`. Several numbers have a fixed length."""
    return form.endswith("{number}") and form.count("{") == 1
