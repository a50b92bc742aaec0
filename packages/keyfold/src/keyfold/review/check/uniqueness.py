"""X, continued: what an index cannot guarantee. It lags, and it does not enforce uniqueness."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PatternSchema, Placement
from keyfold.review.check.evidence import Evidence, steps_example
from keyfold.review.check.reach import NAMES_ONE, Reach
from keyfold.review.check.rule import Defect, Element, rule
from keyfold.review.check.sample import field_value, item_key, item_name

_CLAIMED = re.compile(r"uniq|dedup|duplicat|log ?in|sign ?in|one of a kind", re.I)


@rule("X5", "unique-via-index", "error", "An index does not enforce uniqueness")
def unique_via_index(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for unique in entity.uniques:
            if unique.by == "index":
                yield _race_defect(entity, unique.fields, entity)
        for placement in entity.placements:
            got = _get_fields(facts, entity, placement)
            fields = _lookup_fields(facts, entity, placement) or got
            if not fields or _is_marked(facts, entity, fields):
                continue
            index = facts.schema.by_table[entity.table].index(placement.index)
            words = f"{index.purpose if index else ''} {_pattern_names(facts, entity, placement)}"
            if _CLAIMED.search(words):
                yield _race_defect(entity, fields, placement, placement.index)
            elif got or any(NAMES_ONE.fullmatch(field) for field in fields):
                yield Defect(
                    placement,
                    f"must {', '.join(fields)} be unique? {placement.index} finds items by it but "
                    "does not prevent duplicates",
                    "If so, write a marker item keyed by it in the same transaction, on the "
                    "condition that it does not exist.",
                    (entity,),
                    subject=f"{entity.name}.{', '.join(fields)}",
                    severity="question",
                    evidence=_race_example(entity, fields, placement.index),
                )


def _race_defect(
    entity: EntitySchema, fields: tuple[str, ...], element: Element, index: str = "the index"
) -> Defect:
    named = ", ".join(fields)
    return Defect(
        element,
        f"{named} is kept unique by a lookup in an index: two concurrent writers both find nothing",
        f"Write a marker item keyed by {named} in the same transaction, on the condition that it "
        "does not exist.",
        (entity,),
        subject=f"{entity.name}.{named}",
        evidence=_race_example(entity, fields, index),
    )


def _race_example(entity: EntitySchema, fields: tuple[str, ...], index: str) -> Evidence:
    """Two concurrent writers, and the result."""
    given = {f: field_value(entity.by_field.get(f), f) for f in fields}
    values = [f"{field} = {value}" for field, value in given.items()]
    keys = [item_key(entity.key, entity, n, given) if entity.key else f"{n}" for n in (1, 2)]
    return steps_example(
        f"A asks {index} for {', '.join(values)}: nothing",
        "B asks the same: nothing",
        f"A puts {entity.name} {keys[0]}",
        f"B puts {entity.name} {keys[1]}",
        so=f"two items have {', '.join(values)}"
        if keys[0] != keys[1]
        else "the second put replaces the first",
    )


def _lookup_fields(facts: Reach, entity: EntitySchema, placement: Placement) -> tuple[str, ...]:
    """The fields by which an index finds one item: its own, not another's id."""
    if entity.role != "canonical" or facts.copy(entity) is not None:
        return ()
    fields = placement.key.partition.fields
    own = [f for f in fields if f in entity.by_field and not entity.by_field[f].refers]
    keyed = entity.key.fields if entity.key else ()
    if not fields or len(own) != len(fields) or any(field in keyed for field in fields):
        return ()
    if all(facts.is_identifier(entity, field) for field in fields):
        return ()
    index = facts.schema.by_table[entity.table].index(placement.index)
    single = (index is not None and _CLAIMED.search(index.purpose)) or any(
        pattern.index == placement.index
        and entity.name in pattern.entities
        and (pattern.limit in (None, 1) and not pattern.paged)
        and not (facts.free(pattern, placement.key) and _is_list(facts, entity, pattern, placement))
        for pattern in facts.schema.patterns
    )
    return fields if single else ()


def _get_fields(facts: Reach, entity: EntitySchema, placement: Placement) -> tuple[str, ...]:
    """The fields by which a pattern gets the one item that an index has for them."""
    for pattern in facts.schema.patterns:
        if pattern.kind != "get" or pattern.index != placement.index:
            continue
        if not any(a.placement is placement for a in facts.reached(pattern)):
            continue
        fields = tuple(dict.fromkeys(facts.given_fields(pattern, placement.key)))
        own = [f for f in fields if f in entity.by_field and not entity.by_field[f].refers]
        whole = entity.key is not None and set(entity.key.fields) <= set(fields)
        if own and not whole and not any(facts.is_identifier(entity, field) for field in own):
            return fields
    return ()


def _is_list(
    facts: Reach, entity: EntitySchema, pattern: PatternSchema, placement: Placement
) -> bool:
    """Whether the rest of the sort key distinguishes many items in the partition."""
    rest = facts.free(pattern, placement.key)
    return any(facts.is_moment(entity, slot) for slot in rest)


def _pattern_names(facts: Reach, entity: EntitySchema, placement: Placement) -> str:
    """The names of patterns that read a placement."""
    return " ".join(
        f"{pattern.name} {pattern.description}"
        for pattern in facts.schema.patterns
        if pattern.index == placement.index and entity.name in pattern.entities
        if any(a.placement is placement for a in facts.reached(pattern))
    )


def _is_marked(facts: Reach, entity: EntitySchema, fields: tuple[str, ...]) -> bool:
    """Whether an item keyed by these fields, or a unique, enforces uniqueness."""
    if any(set(unique.fields) <= set(fields) and unique.by != "index" for unique in entity.uniques):
        return True
    others = (other for other in facts.schema.entities if other is not entity and other.key)
    return any(other.key and set(other.key.fields) == set(fields) for other in others)


@rule("X6", "read-after-write-index", "warning", "A pattern reads an index right after the write")
def read_after_write_index(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        made = [o for o, _ in facts.writes(entity.name, "create", "put")]
        lookups = [p for p in facts.schema.patterns if p.entities == (entity.name,)]
        if not made or any(_is_direct(facts, entity, pattern) for pattern in lookups):
            continue
        for pattern in lookups:
            found = [a for a in facts.reached(pattern) if a.entity is entity]
            if not pattern.index or not any(facts.is_one(pattern, a) for a in found):
                continue
            yield Defect(
                made[0],
                f"creates {entity.name}, but {pattern.name}, the only pattern that reads a single "
                f"one, uses {pattern.index}: a new item may not be there yet",
                "Return the item from the write itself, or give callers the whole key so that "
                "they can read the table.",
                (pattern,),
                evidence=steps_example(
                    f"{made[0].name} puts {item_name(entity)}",
                    f"{pattern.name} asks {pattern.index} a few milliseconds later: nothing",
                    f"the entry reaches {pattern.index}, usually within a second",
                ),
            )
            break


def _is_direct(facts: Reach, entity: EntitySchema, pattern: PatternSchema) -> bool:
    """Whether a pattern reads one item from the table by its key."""
    found = [a for a in facts.reached(pattern) if a.entity is entity]
    return pattern.index is None and any(facts.is_one(pattern, a) for a in found)


@rule(
    "X14",
    "integrity-via-index",
    "error",
    "A write is guarded by a read of an eventually consistent index",
)
def integrity_via_index(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        for name in operation.reads:
            pattern = facts.schema.by_pattern.get(name)
            if pattern is None or not pattern.index:
                continue
            yield Defect(
                operation,
                f"decides by {name}, read from {pattern.index}: the index may be behind, and "
                "another writer can act between the read and the write",
                "Use a condition in the same transaction, on a counter or a marker item.",
                (pattern,),
                evidence=steps_example(
                    f"A writes what {name} looks for; {pattern.index} does not have it yet",
                    f"B runs {operation.name}: {name} answers as before A",
                    f"B writes {', '.join(e.entity for e in operation.effects) or 'its items'}",
                    so="B's write breaks what A's write relied on",
                ),
            )
