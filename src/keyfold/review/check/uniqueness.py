"""X, continued: what an index is trusted with. It lags behind, and it keeps nothing apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PatternSchema, Placement
from keyfold.review.check.evidence import Evidence, course
from keyfold.review.check.reach import NAMES_ONE, Reach
from keyfold.review.check.rule import Defect, Element, rule
from keyfold.review.check.sample import field_value, item_key, named

_CLAIMED = re.compile(r"uniq|dedup|duplicat|log ?in|sign ?in|one of a kind", re.I)


@rule("X5", "unique-via-index", "error", "An index does not enforce uniqueness")
def unique_via_index(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for unique in entity.uniques:
            if unique.by == "index":
                yield _not_unique(entity, unique.fields, entity)
        for placement in entity.placements:
            fields = _looked_up(facts, entity, placement)
            if not fields or _is_marked(facts, entity, fields):
                continue
            index = facts.schema.by_table[entity.table].index(placement.index)
            words = f"{index.purpose if index else ''} {_asked_of(facts, entity, placement)}"
            if _CLAIMED.search(words):
                yield _not_unique(entity, fields, placement, placement.index)
            elif any(NAMES_ONE.fullmatch(field) for field in fields):
                yield Defect(
                    placement,
                    f"{entity.name}.{', '.join(fields)}",
                    f"must {', '.join(fields)} be one of a kind? {placement.index} finds items by "
                    "it, and does not stop two from having it",
                    "If it must, write a marker item keyed by it in the same transaction, on the "
                    "condition that it does not exist.",
                    (entity,),
                    severity="question",
                    evidence=_both_find_nothing(entity, fields, placement.index),
                )


def _not_unique(
    entity: EntitySchema, fields: tuple[str, ...], element: Element, index: str = "the index"
) -> Defect:
    named = ", ".join(fields)
    return Defect(
        element,
        f"{entity.name}.{named}",
        f"{named} is to be unique by looking in an index: two writers at once both find nothing",
        f"Write a marker item keyed by {named} in the same transaction, on the condition that it "
        "does not exist.",
        (entity,),
        evidence=_both_find_nothing(entity, fields, index),
    )


def _both_find_nothing(entity: EntitySchema, fields: tuple[str, ...], index: str) -> Evidence:
    """Two writers at once, and what is there after them."""
    given = {f: field_value(entity.by_field.get(f), f) for f in fields}
    values = [f"{field} = {value}" for field, value in given.items()]
    keys = [item_key(entity.key, entity, n, given) if entity.key else f"{n}" for n in (1, 2)]
    return course(
        f"A asks {index} for {', '.join(values)}: nothing",
        "B asks the same: nothing",
        f"A puts {entity.name} {keys[0]}",
        f"B puts {entity.name} {keys[1]}",
        so=f"two items have {', '.join(values)}"
        if keys[0] != keys[1]
        else "the second put replaces the first",
    )


def _looked_up(facts: Reach, entity: EntitySchema, placement: Placement) -> tuple[str, ...]:
    """The fields by which an index finds one item: its own, and no other item's id."""
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


def _is_list(
    facts: Reach, entity: EntitySchema, pattern: PatternSchema, placement: Placement
) -> bool:
    """Whether what is left of the sort key tells many items apart that share the partition."""
    rest = facts.free(pattern, placement.key)
    return any(facts.is_moment(entity, slot) for slot in rest)


def _asked_of(facts: Reach, entity: EntitySchema, placement: Placement) -> str:
    """What the patterns that read a placement are called."""
    return " ".join(
        f"{pattern.name} {pattern.description}"
        for pattern in facts.schema.patterns
        if pattern.index == placement.index and entity.name in pattern.entities
        if any(a.placement is placement for a in facts.reached(pattern))
    )


def _is_marked(facts: Reach, entity: EntitySchema, fields: tuple[str, ...]) -> bool:
    """Whether an item keyed by these fields, or a unique of the design, keeps others out."""
    if any(set(unique.fields) <= set(fields) and unique.by != "index" for unique in entity.uniques):
        return True
    others = (other for other in facts.schema.entities if other is not entity and other.key)
    return any(other.key and set(other.key.fields) == set(fields) for other in others)


@rule("X6", "read-after-write-index", "warning", "Read through an index right after the write")
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
                made[0].name,
                f"makes {entity.name}, and {pattern.name}, the only read of one, goes through "
                f"{pattern.index}: what was just written may not be there yet",
                "Answer from what was written, or let the caller keep the whole key and read the "
                "table by it.",
                (pattern,),
                evidence=course(
                    f"{made[0].name} puts {named(entity)}",
                    f"{pattern.name} asks {pattern.index} a few milliseconds later: nothing",
                    f"the entry reaches {pattern.index}, usually within a second",
                ),
            )
            break


def _is_direct(facts: Reach, entity: EntitySchema, pattern: PatternSchema) -> bool:
    """Whether a pattern reads one item from the table by its key."""
    found = [a for a in facts.reached(pattern) if a.entity is entity]
    return pattern.index is None and any(facts.is_one(pattern, a) for a in found)


@rule("X14", "integrity-via-index", "error", "A guard read from an eventual index is racy")
def integrity_via_index(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        for name in operation.reads:
            pattern = facts.schema.by_pattern.get(name)
            if pattern is None or not pattern.index:
                continue
            yield Defect(
                operation,
                operation.name,
                f"decides by {name}, read from {pattern.index}: what was written a moment ago is "
                "not there yet, and nothing holds between the read and the write",
                "Guard with a condition in the same transaction: a counter, or a marker item.",
                (pattern,),
                evidence=course(
                    f"A writes what {name} looks for; {pattern.index} does not have it yet",
                    f"B runs {operation.name}: {name} answers as before A",
                    f"B writes {', '.join(e.entity for e in operation.effects) or 'its items'}",
                    so="B has written what A's write forbids",
                ),
            )
