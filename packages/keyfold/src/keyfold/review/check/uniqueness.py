"""X, continued: what an index cannot guarantee. It lags, and it does not enforce uniqueness."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, OperationSchema, PatternSchema, Placement
from keyfold.review.check.domains import ENTITIES, OPERATIONS
from keyfold.review.check.field_facts import MACHINE_MADE, NAMES_ONE, words_of
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule

_CLAIMED = re.compile(r"uniq|dedup|duplicat|log ?in|sign ?in|one of a kind", re.I)


@rule("X5", ENTITIES)
def unique_via_index(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    for unique in entity.uniques:
        if unique.by == "index":
            yield hit("claimed", placement=None, fields=unique.fields)
    for placement in entity.placements:
        got = _get_fields(facts, entity, placement)
        fields = _lookup_fields(facts, entity, placement) or got
        if not fields or _is_marked(facts, entity, fields):
            continue
        index = facts.schema.by_table[entity.table].index(placement.index)
        words = f"{index.purpose if index else ''} {_pattern_names(facts, entity, placement)}"
        if _CLAIMED.search(words):
            yield hit("claimed", placement=placement, fields=fields)
        elif (
            got
            or any(NAMES_ONE.fullmatch(field) for field in fields)
            or _asks_for_one(facts, entity, placement)
        ):
            yield hit("looked up", placement=placement, fields=fields)


def _lookup_fields(facts: Reach, entity: EntitySchema, placement: Placement) -> tuple[str, ...]:
    """The fields by which an index finds one item: its own, not another's id."""
    if entity.role != "canonical" or facts.copy(entity) is not None:
        return ()
    fields = placement.key.partition.fields
    own = [f for f in fields if f in entity.by_field and not entity.by_field[f].refers]
    keyed = entity.key.fields if entity.key else ()
    parts = [field for field in fields if field in keyed and not NAMES_ONE.fullmatch(field)]
    if not fields or len(own) != len(fields) or parts or fields == keyed:
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


def _asks_for_one(facts: Reach, entity: EntitySchema, placement: Placement) -> bool:
    """Whether a pattern's name says that it finds one: `Booking by reference`, not `Bookings`."""
    if any(MACHINE_MADE.search(field) for field in placement.key.partition.fields):
        return False  # Programs keep what they make apart.
    one = words_of(entity.name)
    for pattern in facts.schema.patterns:
        said = words_of(pattern.name)
        said = said[1:] if said[0] in ("get", "find") else said
        if pattern.index == placement.index and said[: len(one) + 1] == (*one, "by"):
            return pattern.entities == (entity.name,)
    return False


def _is_marked(facts: Reach, entity: EntitySchema, fields: tuple[str, ...]) -> bool:
    """Whether an item keyed by these fields, or a unique, enforces uniqueness."""
    if any(set(unique.fields) <= set(fields) and unique.by != "index" for unique in entity.uniques):
        return True
    own = set(entity.key.fields) if entity.key else set()
    return any(
        other is not entity
        and other.key is not None
        and set(other.key.fields) == set(fields)
        and (not other.by_field or own <= {*other.by_field} or entity.name in facts.referred(other))
        for other in facts.schema.entities
    )


@rule("X6", ENTITIES)
def read_after_write_index(facts: Reach, entity: EntitySchema) -> Found | None:
    made = [operation for operation, _ in facts.writes(entity.name, "create", "put")]
    lookups = [p for p in facts.schema.patterns if p.entities == (entity.name,)]
    if not made or any(_is_direct(facts, entity, pattern) for pattern in lookups):
        return None
    for pattern in lookups:
        reached = [a for a in facts.reached(pattern) if a.entity is entity]
        several = pattern.paged or pattern.descending or (pattern.limit or 1) > 1
        if pattern.index and not several and any(facts.is_one(pattern, a) for a in reached):
            return hit(operation=made[0], pattern=pattern)
    return None


def _is_direct(facts: Reach, entity: EntitySchema, pattern: PatternSchema) -> bool:
    """Whether a pattern reads one item from the table by its key."""
    reached = [a for a in facts.reached(pattern) if a.entity is entity]
    return pattern.index is None and any(facts.is_one(pattern, a) for a in reached)


@rule("X14", OPERATIONS)
def integrity_via_index(facts: Reach, operation: OperationSchema) -> Iterator[Found]:
    ends = any(e.guarded or e.action in ("create", "delete") for e in operation.effects)
    written = {effect.entity for effect in operation.effects}
    for name in operation.reads:
        pattern = facts.schema.by_pattern.get(name)
        if pattern and pattern.index:
            decides = ends or written & {*pattern.entities}
            yield hit(said=True if decides else None, pattern=pattern)
