"""Q, continued: is each pattern served by a key, at a cost that does not grow with its answer?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from keyfold.design.condition import fields_of
from keyfold.design.schema import PatternSchema, Schema
from keyfold.design.template import Template
from keyfold.review.check.domains import DESIGN, PATTERNS
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule


def condition_words(pattern: PatternSchema) -> str:
    """The condition on the sort key, in the words of the design."""
    return pattern.condition.raw or f"{pattern.condition.operator} {pattern.condition.template}"


@rule("Q8", PATTERNS)
def fan_in_unbounded(pattern: PatternSchema) -> Found | None:
    if pattern.kind != "merge" or pattern.max_partitions is not None:
        return None
    return hit(over=pattern.partitions or "its partitions")


@rule("Q9", PATTERNS)
def merge_no_dedupe(facts: Reach, pattern: PatternSchema) -> Iterator[Found]:
    # Shards are not chosen by the caller, and each item is in one of them.
    fixed = pattern.max_partitions is not None and not pattern.partitions
    if pattern.kind != "merge" or pattern.deduplicated or fixed:
        return
    for name in pattern.entities:
        entity = facts.schema.by_entity.get(name)
        copy = None if entity is None else facts.copy(entity)
        if copy is not None:
            yield hit(source=copy.source)


@rule("Q10", PATTERNS)
def pattern_unserved(facts: Reach, pattern: PatternSchema) -> Iterable[Found]:
    table, where = facts.schema.by_table.get(pattern.table), pattern.index or pattern.table
    if table is None or (pattern.index and table.index(pattern.index) is None):
        return [hit("store", where=where)]
    if pattern.partition is None and pattern.kind != "scan":
        return [hit("scan")]
    keyed = table.index(pattern.index) if pattern.index else table
    named = {*fields_of(pattern.filter)} & {*(keyed.key_attributes if keyed else ())}
    if named and pattern.kind != "scan":
        return [hit("filter", named=sorted(named))]
    whole = pattern.index or pattern.at_once or pattern.condition.operator == "eq"
    if pattern.kind == "get" and table.sort and not whole:
        return [hit("sort", sort=table.sort)]
    return _unwritten_partitions(facts, pattern, where)


def _unwritten_partitions(facts: Reach, pattern: PatternSchema, where: str) -> Iterator[Found]:
    reached = {a.entity.name for a in facts.reached(pattern)}
    asked = [f"`{pattern.partition}`"]
    if pattern.condition.template:
        asked.append(f"`{condition_words(pattern)}`")
    named = [one for one in facts.schema.entities if one.name in pattern.entities]
    lost = [e for e in named if e.name not in reached and (e.key is not None or pattern.index)]
    if lost:
        yield hit("entity", lost=lost, where=where, asked=asked)
    for shape in (pattern.partition, *pattern.other_partitions):
        if shape is None or not pattern.other_partitions or pattern.at_once:
            continue
        served = any(
            facts.meet(shape, None, a.key.partition, a.entity)
            and facts.meets_condition(pattern, a)
            and a.entity.name in pattern.entities
            for a in facts.appearances(pattern.table, pattern.index)
        )
        if not served:
            yield hit("partition", shape=shape, where=where)


@rule("Q11", DESIGN)
def pattern_name_drift(facts: Reach, schema: Schema) -> Iterator[Found]:
    known = schema.by_entity
    for pattern in schema.patterns:
        unknown = [name for name in pattern.entities if name not in known]
        if unknown:
            yield _unknown("entities", pattern, unknown, known)
        yield from _drift(facts, pattern)
        yield from _unknown_fields(facts, pattern, pattern.entities, pattern.shows)
    for operation in schema.operations:
        for effect in operation.effects:
            yield from _unknown_fields(facts, operation, (effect.entity,), effect.fields)
        names = [name for name in operation.reads if name not in schema.by_pattern]
        names += [effect.entity for effect in operation.effects if effect.entity not in known]
        if names:
            yield _unknown("names", operation, names, {**known, **schema.by_pattern})
    for entity, attribute in facts.all_attributes:
        refers = attribute.refers
        if refers and refers not in known and (near := _nearest([refers], known)):
            yield hit("ids", element=entity, attribute=attribute, near=near)


def _unknown(case: str, element: Any, names: list[str], known: Iterable[str]) -> Found:
    near = _nearest(names, known)
    return hit(f"{case} near" if near else case, element=element, names=names, near=near)


def _unknown_fields(
    facts: Reach, element: Any, entities: Iterable[str], named: Iterable[str]
) -> Iterator[Found]:
    """Unknown fields that are nearly spelled like a known one."""
    held = [facts.schema.by_entity[name] for name in entities if name in facts.schema.by_entity]
    known = {field for entity in held for field in (*entity.by_field, *facts.templates(entity))}
    unknown = [name for name in named if name not in known]
    if near := _nearest(unknown, known):
        yield hit("fields", element=element, names=unknown, held=held, near=near)


def _nearest(names: Iterable[str], known: Iterable[str]) -> str:
    """The declared name that an unknown one resembles."""
    known = [*known]
    near = (get_close_matches(name, known, 1, 0.75) for name in names if name not in known)
    return next((each[0] for each in near if each), "")


def _drift(facts: Reach, pattern: PatternSchema) -> Iterator[Found]:
    """Key fields that a pattern calls by other names."""
    drifted: dict[str, str] = {}
    swapped: dict[str, str] = {}
    for appearance in facts.reached(pattern):
        entity = appearance.entity
        if entity.name not in pattern.entities or not entity.by_field:
            continue
        others = dict(_other_names(facts, pattern, appearance))
        if not others:
            return
        for mine, theirs in others.items():
            (swapped if mine in entity.by_field else drifted)[mine] = theirs
    if swapped:
        pairs = [f"{mine} where the key has {theirs}" for mine, theirs in swapped.items()]
        yield hit("swapped", element=pattern, pairs=pairs)
    if drifted:
        pairs = [f"{mine} for {theirs}" for mine, theirs in drifted.items()]
        yield hit("drifted", element=pattern, pairs=pairs)


def _other_names(
    facts: Reach, pattern: PatternSchema, appearance: Appearance
) -> Iterator[tuple[str, str]]:
    """Parameters in place of key fields with other names."""
    shapes = (pattern.partition, *pattern.other_partitions)
    pairs: list[tuple[Template | None, Template | None]] = [
        (shape, appearance.key.partition)
        for shape in shapes
        if shape and facts.meet(shape, None, appearance.key.partition, appearance.entity)
    ]
    if pattern.condition.operator in ("eq", "begins_with"):
        pairs.append((pattern.condition.template, appearance.key.sort))
    for mine, theirs in pairs:
        if mine is not None and theirs is not None:
            both = zip(mine.fields, theirs.fields, strict=False)
            yield from ((a, b) for a, b in both if a != b)
