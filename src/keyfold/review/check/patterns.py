"""Q, continued: is each pattern served by a key, at a price that does not grow with its answer?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from keyfold.design.schema import PatternSchema
from keyfold.design.template import Template
from keyfold.review.check.answer import asked_key, wanted
from keyfold.review.check.evidence import Evidence, found
from keyfold.review.check.reach import Appearance, Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of, text_of


def asked(pattern: PatternSchema) -> str:
    """The condition on the sort key, in the words of the design."""
    return pattern.condition.raw or f"{pattern.condition.operator} {pattern.condition.template}"


@rule("Q8", "fan-in-unbounded", "warning", "The number of queries grows with the edges")
def fan_in_unbounded(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.kind == "merge" and pattern.max_partitions is None:
            over = pattern.partitions or "its partitions"
            yield Defect(
                pattern,
                pattern.name,
                f"makes one query for each of {over}, and nothing limits their number",
                "State max_partitions and what happens beyond it, or keep a copy per reader.",
                evidence=_queries(pattern),
            )


def _queries(pattern: PatternSchema) -> Evidence | None:
    if pattern.partition is None:
        return None
    rows = ((f"`{text_of(pattern.partition, None, n)}`", "one query") for n in (1, 2, 1000))
    return found("a call with 1,000 of them reads", *rows, so="it makes 1,000 queries")


@rule("Q9", "merge-no-dedupe", "warning", "One thing reachable by two partitions comes twice")
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
                    pattern.name,
                    f"merges partitions that hold copies of one {copy.source}: a thing in two "
                    "of them comes twice",
                    f"Drop duplicates by the id of {copy.source} while merging.",
                    evidence=_twice(facts, pattern, copy.source),
                )


def _twice(facts: Reach, pattern: PatternSchema, source: str) -> Evidence | None:
    """One thing in two of the partitions that are merged."""
    found_here = [a for a in wanted(facts, pattern) if a.key.sort is not None]
    if not found_here:
        return None
    key, entity = found_here[0].key, found_here[0].entity
    assert key.sort is not None, f"{key} has no sort key"
    sort = text_of(key.sort, entity)
    rows = ((f"`{text_of(key.partition, entity, n)}` / `{sort}`", f"one {source}") for n in (1, 2))
    return found("a merged page holds", *rows, so=f"its reader sees that {source} twice")


def _is_fixed(pattern: PatternSchema) -> bool:
    """Shards: partitions that nobody chooses, and each thing is in one of them."""
    return pattern.max_partitions is not None and not pattern.partitions


@rule("Q10", "pattern-unserved", "error", "No key serves the pattern, or nothing writes its items")
def pattern_unserved(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        table = facts.schema.by_table.get(pattern.table)
        if table is None or (pattern.index and table.index(pattern.index) is None):
            where = pattern.index or pattern.table
            yield Defect(
                pattern,
                pattern.name,
                f"reads {where}, which the design does not have",
                "Declare it, or read from one that is there.",
            )
            continue
        if pattern.partition is None and pattern.kind != "scan":
            yield Defect(
                pattern,
                pattern.name,
                "names no partition key, so nothing but a scan can serve it",
                "Give the key or index that serves it, or drop the pattern.",
                evidence=_ways(facts, pattern),
            )
            continue
        yield from _unwritten(facts, pattern)


def _ways(facts: Reach, pattern: PatternSchema) -> Evidence | None:
    """The keys by which the items can be found."""
    table = facts.schema.by_table[pattern.table]
    rows = [
        (key_of(a.key, a.entity), f"{a.entity.name} in {index or table.name}")
        for index in (None, *(one.name for one in table.indexes))
        for a in facts.appearances(table.name, index)
        if a.entity.name in pattern.entities
    ]
    return found("items are found by", *rows) if rows else None


def _unwritten(facts: Reach, pattern: PatternSchema) -> Iterator[Defect]:
    reached = {a.entity.name for a in facts.reached(pattern)}
    where = pattern.index or pattern.table
    for name in pattern.entities:
        entity = facts.schema.by_entity.get(name)
        if entity is None or name in reached or (entity.key is None and pattern.index is None):
            continue
        yield Defect(
            pattern,
            pattern.name,
            f"no {name} has such a key in {where}: `{pattern.partition}`"
            + (f", `{asked(pattern)}`" if pattern.condition.template else ""),
            f"Give {name} this key, or ask for the key it has.",
            evidence=found(
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
                pattern.name,
                f"reads the partition `{shape}` of {where}, which no {', '.join(pattern.entities)} "
                "is written to",
                "Write the items that are to be found there, or drop the partition.",
                evidence=found(
                    f"in {where}",
                    (f"`{text_of(shape, None)}`", "is read"),
                    *(
                        (_own_key(facts, pattern, name), f"is what {name} has")
                        for name in pattern.entities
                    ),
                ),
            )


def _own_key(facts: Reach, pattern: PatternSchema, name: str) -> str:
    """The key under which an entity is in what a pattern reads."""
    there = facts.appearances(pattern.table, pattern.index)
    keys = (key_of(a.key, a.entity) for a in there if a.entity.name == name)
    return next(keys, "no key")


@rule(
    "Q11", "pattern-name-drift", "info", "A pattern or operation uses names that are not declared"
)
def pattern_name_drift(facts: Reach) -> Iterator[Defect]:
    known = facts.schema.by_entity
    for pattern in facts.schema.patterns:
        unknown = [name for name in pattern.entities if name not in known]
        if unknown:
            yield Defect(
                pattern,
                pattern.name,
                f"is about {', '.join(unknown)}, which the design does not declare"
                + _meant(unknown, known),
                "Declare the entity, or correct the name.",
                severity="warning" if _meant(unknown, known) else None,
            )
        yield from _drift(facts, pattern)
    for operation in facts.schema.operations:
        names = [name for name in operation.reads if name not in facts.schema.by_pattern]
        names += [effect.entity for effect in operation.effects if effect.entity not in known]
        if names:
            yield Defect(
                operation,
                operation.name,
                f"names {', '.join(dict.fromkeys(names))}, which the design does not declare"
                + _meant(names, {**known, **facts.schema.by_pattern}),
                "Declare the pattern or entity, or correct the name.",
                severity="warning" if _meant(names, {**known, **facts.schema.by_pattern}) else None,
            )
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            meant = _meant([attribute.refers], known)
            if attribute.refers and attribute.refers not in known and meant:
                yield Defect(
                    entity,
                    f"{entity.name}.{attribute.field}",
                    f"holds ids of {attribute.refers}, which the design does not declare{meant}",
                    "Correct the name.",
                    severity="warning",
                )


def _meant(names: Iterable[str], known: Iterable[str]) -> str:
    """The declared name that one which is not declared is nearly spelled like."""
    known = [*known]
    near = (get_close_matches(name, known, 1, 0.8) for name in names if name not in known)
    return next((f": did you mean {found[0]}?" for found in near if found), "")


def _drift(facts: Reach, pattern: PatternSchema) -> Iterator[Defect]:
    drifted: dict[str, str] = {}
    swapped: dict[str, str] = {}
    for appearance in facts.reached(pattern):
        entity = appearance.entity
        if entity.name not in pattern.entities or not entity.by_field:
            continue
        found = dict(_renamed(facts, pattern, appearance))
        if not found:
            return
        drifted |= {mine: theirs for mine, theirs in found.items() if mine not in entity.by_field}
        swapped |= {mine: theirs for mine, theirs in found.items() if mine in entity.by_field}
    if swapped:
        pairs = ", ".join(f"{mine} where the key has {theirs}" for mine, theirs in swapped.items())
        yield Defect(
            pattern,
            pattern.name,
            f"asks by {pairs}, which is another field of {', '.join(pattern.entities)}",
            "Ask by the field that the key holds, or place the items under the one that is asked.",
            severity="warning",
            evidence=_names(facts, pattern),
        )
    if drifted:
        pairs = ", ".join(f"{mine} for {theirs}" for mine, theirs in drifted.items())
        yield Defect(
            pattern,
            pattern.name,
            f"its key condition says {pairs}",
            "Use the entity's own names.",
            cause="names in key conditions",
            evidence=_names(facts, pattern),
        )


def _names(facts: Reach, pattern: PatternSchema) -> Evidence:
    """The key as the pattern asks for it, and as its items have it."""
    first = wanted(facts, pattern)[0]
    return found(
        "one item",
        (asked_key(pattern), "is asked for"),
        (key_of(first.key, first.entity), f"is a key of {first.entity.name}"),
    )


def _renamed(
    facts: Reach, pattern: PatternSchema, appearance: Appearance
) -> Iterator[tuple[str, str]]:
    """Parameters that stand where a key has a field of another name."""
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
