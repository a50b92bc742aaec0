"""X: indexes. Is each worth its writes, complete, and used for what it can guarantee?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

from keyfold.design.schema import EntitySchema, Index, PatternSchema, Placement, TableSchema
from keyfold.review.check.domains import ENTITIES, INDEXES, PATTERNS, PLACEMENTS
from keyfold.review.check.field_facts import means, words_of
from keyfold.review.check.reach import Reach, is_own_id
from keyfold.review.check.rule import Found, hit, rule


@rule("X1", ENTITIES)
def two_values_one_index(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    for attribute, held in facts.templates(entity).items():
        if len(held) > 1 and not _exclude_each_other(facts, entity):
            yield hit(attribute=attribute, values=[f"`{template}`" for template in held])


def _exclude_each_other(facts: Reach, entity: EntitySchema) -> bool:
    """Whether an item is in only one of its placements at a time."""
    pairs = [(a, b) for a, b in combinations(entity.placements, 2) if a.index == b.index]
    return bool(pairs) and all(facts.excludes(entity, one, other) for one, other in pairs)


@rule("X2", ENTITIES)
def redundant_index(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    for first, second in combinations(entity.placements, 2):
        if first.index == second.index or _shape(first) != _shape(second):
            continue
        if not any(_leads_others(facts, entity, one) for one in (first, second)):
            yield hit("twice", first=first, second=second)
    single = {
        pattern.index
        for pattern in facts.schema.patterns
        if pattern.entities == (entity.name,) and (pattern.limit == 1 or pattern.kind == "get")
    }
    for placement in (one for one in entity.placements if one.index in single):
        for other in facts.entities_of(entity.table):
            if _is_lookup_item(facts, entity, placement, other):
                yield hit("item", second=placement, other=other)


def _is_lookup_item(
    facts: Reach, entity: EntitySchema, placement: Placement, other: EntitySchema
) -> bool:
    """Whether another entity's one item is found by just what an index lists an entity by."""
    key, fields = other.key, placement.key.partition.fields
    if other is entity or key is None or not fields or key.fields != fields:
        return False
    owned = any(
        facts.references.target(one, field) or is_own_id(one, field)
        for one in (entity, other)
        for field in fields
    )
    return key.partition == placement.key.partition and not owned


def _leads_others(facts: Reach, entity: EntitySchema, placement: Placement) -> bool:
    """Whether a pattern reads it together with others: a parent before its children."""
    return any(
        len(pattern.entities) != 1
        for pattern in facts.schema.patterns
        if (pattern.index, pattern.table) == (placement.index, entity.table)
        if any(a.placement is placement for a in facts.reached(pattern))
    )


def _shape(placement: Placement) -> tuple[object, ...]:
    sort = placement.key.sort.fields if placement.key.sort else ()
    return placement.key.partition.text, sort, placement.when


@rule("X3", INDEXES)
def index_unused(facts: Reach, table: TableSchema, index: Index) -> Iterator[Found]:
    readers = readers_of(facts, table, index)
    followed = {entity for entity, via in _followed(facts) if via == index.name}
    if not readers and not followed:
        yield hit("index")
        return
    read = {
        (id(a.placement), a.entity.name)
        for pattern in readers
        for a in facts.reached(pattern)
        if not pattern.entities or a.entity.name in pattern.entities
    }
    for entity, placement in facts.schema.placed_on(table.name, index.name):
        used = (id(placement), entity.name) in read or entity.name in followed
        # An index can use only attributes that the item needs anyway, such as its own key.
        own = {*table.key_attributes, *(a.name for a in entity.attributes if a.is_stored)}
        if not used and not own >= {*index.key_attributes} and facts.is_listed(entity, index.name):
            yield hit("placement", entity=entity, placement=placement)


def _followed(facts: Reach) -> Iterator[tuple[str, str]]:
    """Entities and the indexes by which something other than a pattern finds them."""
    schema = facts.schema
    consumed = (effect for consumer in schema.consumers for effect in consumer.effects)
    for effect in chain(consumed, (effect for _, effect in facts.all_writes)):
        if effect.via_index:
            yield effect.entity, effect.via_index
    yield from ((each.target, each.found) for each in facts.follows if each.found)
    for feed in schema.feeds:
        for name in (feed.edge, *feed.edges, feed.post, feed.item):
            placed = schema.by_entity[name].placements if name in schema.by_entity else ()
            yield from ((name, placement.index) for placement in placed)


def readers_of(facts: Reach, table: TableSchema, index: Index) -> list[PatternSchema]:
    return [p for p in facts.schema.patterns if p.table == table.name and p.index == index.name]


@rule("X4", INDEXES)
def not_sparse(facts: Reach, table: TableSchema, index: Index) -> bool:
    entities = {entity.name for entity in facts.entities_of(table.name)}
    entries = facts.appearances(table.name, index.name)
    whole = {a.entity.name for a in entries if not _is_partial(a.entity, a.placement, a.key.fields)}
    return bool(index.sparse and entities) and entities <= whole


def _is_partial(entity: EntitySchema, placement: Placement | None, fields: tuple[str, ...]) -> bool:
    if placement is not None and placement.is_partial:
        return True
    return any(f in entity.by_field and entity.by_field[f].optional for f in fields)


@rule("X7", PATTERNS)
def consistency_regression(facts: Reach, pattern: PatternSchema) -> Found | None:
    was = facts.schema.before.by_pattern.get(pattern.name) if facts.schema.before else None
    changed = was is not None and was.index is None and pattern.index is not None
    return hit(was=was) if changed else None


@rule("X9", PLACEMENTS, enforced=False)
def mutable_index_key(
    facts: Reach,
    entity: EntitySchema,
    placement: Placement,
) -> Iterator[Found]:
    if placement.is_partial:
        return  # Entering and leaving is the purpose of a sparse index.
    slots = [
        s
        for s in placement.key.slots
        if facts.changes(entity, s.field) and not facts.is_moment(entity, s)
    ]
    changing = [*dict.fromkeys(slot.field for slot in slots)]
    updates = facts.writes(entity.name, "update")
    if {field for _, effect in updates for field in effect.fields} & set(changing):
        yield hit("changes", fields=changing)
    for field in () if updates else changing:
        attribute = entity.by_field[field]
        named = words_of(field)[-1] == "state" and attribute.values
        counts = attribute.type in ("number", "decimal") and means(field, "count", "result")
        if attribute.states or named or counts or means(field, "state"):
            yield hit("may", field=field)


@rule("X11", PLACEMENTS)
def same_partition_as_base(
    entity: EntitySchema,
    placement: Placement,
    index: Index | None,
) -> Found | None:
    if entity.key is None or index is None or index.local:
        return None
    own, listed = entity.key, placement.key
    again = own.partition.fields and listed.partition.fields == own.partition.fields
    if again and listed.fields == own.fields and not placement.is_partial:
        return hit("same")
    return hit("order") if listed.partition == own.partition else None
