"""Q, continued: is each pattern served by a key, at a cost that does not grow with its answer?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from keyfold.design.schema import OperationSchema, PatternSchema
from keyfold.design.template import Template
from keyfold.review.check.answer import asked_key, wanted_entries
from keyfold.review.check.evidence import Evidence, keys_example
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of, text_of


def condition_words(pattern: PatternSchema) -> str:
    """The condition on the sort key, in the words of the design."""
    return pattern.condition.raw or f"{pattern.condition.operator} {pattern.condition.template}"


@rule("Q8", "fan-in-unbounded", "warning", "The number of queries grows with the data")
def fan_in_unbounded(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.kind == "merge" and pattern.max_partitions is None:
            over = pattern.partitions or "its partitions"
            yield Defect(
                pattern,
                f"makes one query for each of {over}, and their number is not limited",
                "State max_partitions and what happens beyond it, or keep a copy per reader.",
                evidence=_queries_example(pattern),
            )


def _queries_example(pattern: PatternSchema) -> Evidence | None:
    if pattern.partition is None:
        return None
    rows = ((f"`{text_of(pattern.partition, None, n)}`", "one query") for n in (1, 2, 1000))
    return keys_example("a call with 1,000 of them reads", *rows, so="it makes 1,000 queries")


@rule(
    "Q9", "merge-no-dedupe", "warning", "A merge returns an item twice when two partitions hold it"
)
def merge_no_dedupe(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.kind != "merge" or pattern.deduplicated or _is_fixed(pattern):
            continue
        for name in pattern.entities:
            entity = facts.schema.by_entity.get(name)
            copy = None if entity is None else facts.copy(entity)
            if copy is not None:
                yield Defect(
                    pattern,
                    f"merges partitions that hold copies of one {copy.source}: an item in two of "
                    "them is returned twice",
                    f"Drop duplicates by the id of {copy.source} while merging.",
                    evidence=_duplicate_example(facts, pattern, copy.source),
                )


def _duplicate_example(facts: Reach, pattern: PatternSchema, source: str) -> Evidence | None:
    """One item in two of the merged partitions."""
    found_here = [a for a in wanted_entries(facts, pattern) if a.key.sort is not None]
    if not found_here:
        return None
    key, entity = found_here[0].key, found_here[0].entity
    assert key.sort is not None, f"{key} has no sort key"
    sort = text_of(key.sort, entity)
    rows = ((f"`{text_of(key.partition, entity, n)}` / `{sort}`", f"one {source}") for n in (1, 2))
    return keys_example("a merged page holds", *rows, so=f"its reader sees that {source} twice")


def _is_fixed(pattern: PatternSchema) -> bool:
    """Whether the partitions are shards: not chosen by the caller, each item in one of them."""
    return pattern.max_partitions is not None and not pattern.partitions


@rule(
    "Q10",
    "pattern-unserved",
    "error",
    "No key or index serves the pattern, or nothing writes what it reads",
)
def pattern_unserved(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        table = facts.schema.by_table.get(pattern.table)
        if table is None or (pattern.index and table.index(pattern.index) is None):
            where = pattern.index or pattern.table
            yield Defect(
                pattern,
                f"reads {where}, which the design does not have",
                "Declare it, or read from an index that exists.",
            )
            continue
        if pattern.partition is None and pattern.kind != "scan":
            yield Defect(
                pattern,
                "gives no partition key, so only a scan could serve it",
                "Give the key or index that serves it, or drop the pattern.",
                evidence=_keys_to_find_example(facts, pattern),
            )
            continue
        whole = pattern.index or pattern.at_once or pattern.condition.operator == "eq"
        if pattern.kind == "get" and table.sort and not whole:
            yield Defect(
                pattern,
                f"gets one item and gives no {table.sort}, but GetItem needs the whole key",
                f"Add {table.sort} to the condition, or make it a query.",
                evidence=_keys_to_find_example(facts, pattern),
            )
            continue
        yield from _unwritten_partitions(facts, pattern)


def _keys_to_find_example(facts: Reach, pattern: PatternSchema) -> Evidence | None:
    """The keys that can find the items."""
    table = facts.schema.by_table[pattern.table]
    rows = [
        (key_of(a.key, a.entity), f"{a.entity.name} in {index or table.name}")
        for index in (None, *(one.name for one in table.indexes))
        for a in facts.appearances(table.name, index)
        if a.entity.name in pattern.entities
    ]
    return keys_example("items are found by", *rows) if rows else None


def _unwritten_partitions(facts: Reach, pattern: PatternSchema) -> Iterator[Defect]:
    reached = {a.entity.name for a in facts.reached(pattern)}
    where = pattern.index or pattern.table
    for name in pattern.entities:
        entity = facts.schema.by_entity.get(name)
        if entity is None or name in reached or (entity.key is None and pattern.index is None):
            continue
        yield Defect(
            pattern,
            f"no {name} has a key in {where} that matches `{pattern.partition}`"
            + (f", `{condition_words(pattern)}`" if pattern.condition.template else ""),
            f"Give {name} this key, or query by the key that it has.",
            evidence=keys_example(
                f"in {where}",
                (asked_key(pattern), "is asked for"),
                (_own_key(facts, pattern, name), f"is what {name} has"),
            ),
        )
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
            yield Defect(
                pattern,
                f"reads the partition `{shape}` of {where}, but no {', '.join(pattern.entities)} "
                "is written there",
                "Write items with this key, or remove the partition from the pattern.",
                evidence=keys_example(
                    f"in {where}",
                    (f"`{text_of(shape, None)}`", "is read"),
                    *(
                        (_own_key(facts, pattern, name), f"is what {name} has")
                        for name in pattern.entities
                    ),
                ),
            )


def _own_key(facts: Reach, pattern: PatternSchema, name: str) -> str:
    """The key of an entity in what a pattern reads."""
    there = facts.appearances(pattern.table, pattern.index)
    keys = (key_of(a.key, a.entity) for a in there if a.entity.name == name)
    return next(keys, "no key")


@rule(
    "Q11",
    "pattern-name-drift",
    "note",
    "A pattern or operation names something that is not declared",
)
def pattern_name_drift(facts: Reach) -> Iterator[Defect]:
    known = facts.schema.by_entity
    for pattern in facts.schema.patterns:
        unknown = [name for name in pattern.entities if name not in known]
        if unknown:
            yield Defect(
                pattern,
                f"reads {', '.join(unknown)}, which the design does not declare"
                + _suggestion(unknown, known),
                "Declare the entity, or correct the name.",
                severity="warning" if _suggestion(unknown, known) else None,
            )
        yield from _drift(facts, pattern)
        yield from _unknown_fields(facts, pattern, pattern.entities, pattern.shows)
    for operation in facts.schema.operations:
        for effect in operation.effects:
            yield from _unknown_fields(facts, operation, (effect.entity,), effect.fields)
        names = [name for name in operation.reads if name not in facts.schema.by_pattern]
        names += [effect.entity for effect in operation.effects if effect.entity not in known]
        if names:
            yield Defect(
                operation,
                f"names {', '.join(dict.fromkeys(names))}, which the design does not declare"
                + _suggestion(names, {**known, **facts.schema.by_pattern}),
                "Declare the pattern or entity, or correct the name.",
                severity="warning"
                if _suggestion(names, {**known, **facts.schema.by_pattern})
                else None,
            )
    for entity, attribute in facts.all_attributes():
        meant = _suggestion([attribute.refers], known)
        if attribute.refers and attribute.refers not in known and meant:
            yield Defect(
                entity,
                f"holds ids of {attribute.refers}, which the design does not declare{meant}",
                "Correct the name.",
                subject=f"{entity.name}.{attribute.field}",
                severity="warning",
            )


def _unknown_fields(
    facts: Reach,
    element: PatternSchema | OperationSchema,
    entities: Iterable[str],
    named: Iterable[str],
) -> Iterator[Defect]:
    """Unknown fields that are nearly spelled like a known one."""
    held = [facts.schema.by_entity[name] for name in entities if name in facts.schema.by_entity]
    known = {field for entity in held for field in (*entity.by_field, *facts.templates(entity))}
    unknown = [name for name in named if name not in known]
    if meant := _suggestion(unknown, known):
        yield Defect(
            element,
            f"names {', '.join(unknown)}, which {', '.join(e.name for e in held)} does not "
            f"declare{meant}",
            "Correct the name.",
            severity="warning",
        )


def _suggestion(names: Iterable[str], known: Iterable[str]) -> str:
    """The declared name that an unknown one resembles."""
    known = [*known]
    near = (get_close_matches(name, known, 1, 0.75) for name in names if name not in known)
    return next((f": did you mean {found[0]}?" for found in near if found), "")


def _drift(facts: Reach, pattern: PatternSchema) -> Iterator[Defect]:
    drifted: dict[str, str] = {}
    swapped: dict[str, str] = {}
    for appearance in facts.reached(pattern):
        entity = appearance.entity
        if entity.name not in pattern.entities or not entity.by_field:
            continue
        found = dict(_other_names(facts, pattern, appearance))
        if not found:
            return
        drifted |= {mine: theirs for mine, theirs in found.items() if mine not in entity.by_field}
        swapped |= {mine: theirs for mine, theirs in found.items() if mine in entity.by_field}
    if swapped:
        pairs = ", ".join(f"{mine} where the key has {theirs}" for mine, theirs in swapped.items())
        yield Defect(
            pattern,
            f"queries by {pairs}, a different field of {', '.join(pattern.entities)}",
            "Query by the field in the key, or put the queried field into the key.",
            severity="warning",
            evidence=_names_example(facts, pattern),
        )
    if drifted:
        pairs = ", ".join(f"{mine} for {theirs}" for mine, theirs in drifted.items())
        yield Defect(
            pattern,
            f"its key condition uses {pairs}",
            "Use the entity's own names.",
            cause="names in key conditions",
            evidence=_names_example(facts, pattern),
        )


def _names_example(facts: Reach, pattern: PatternSchema) -> Evidence:
    """The key as the pattern states it, and as its items have it."""
    first = wanted_entries(facts, pattern)[0]
    return keys_example(
        "one item",
        (asked_key(pattern), "is asked for"),
        (key_of(first.key, first.entity), f"is a key of {first.entity.name}"),
    )


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
        if mine is None or theirs is None:
            continue
        for a, b in zip(mine.fields, theirs.fields, strict=False):
            if a != b:
                yield a, b
