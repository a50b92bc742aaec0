"""W, continued: consequences of a change. Do copies follow it, and does a delete reach
everything?
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, OperationSchema
from keyfold.review.check.domains import DELETES, ENTITIES
from keyfold.review.check.field_facts import field_facts, means, mentions, words_of
from keyfold.review.check.reach import Reach, is_own_id
from keyfold.review.check.rule import Found, hit, rule


@rule("W4", ENTITIES)
def propagation_missing(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    totals = [a.field for a in entity.attributes if _is_unkept_total(facts, entity, a)]
    if totals and facts.copy(entity) is None and not facts.schema.enforced:
        yield hit("total", totals=totals)
    declared = facts.copy(entity) is not None
    past = facts.schema.enforced or mentions(entity.name, "record")
    named = {} if declared or past else _named_copies(facts, entity)
    for owner, held in named.items():
        yield hit("held", source=facts.schema.by_entity[owner], stale=held)
    second_hand = {field for held in named.values() for field in held}
    for source, copied in _copies(facts, entity):
        if not copied and declared and not _is_written_with(facts, entity, source):
            yield hit("unnamed", source=source)
        stale = [
            field
            for field in copied
            if field not in second_hand
            and facts.changes(source, field)
            and not _is_snapshot(facts, entity, field)
            and not _is_propagated(facts, entity, source, field)
        ]
        if stale:
            changed = any(_is_updated(facts, source, field) for field in stale)
            case = "declared" if declared else "changed" if changed else "held"
            yield hit(case, source=source, stale=stale)


def _is_unkept_total(facts: Reach, entity: EntitySchema, attribute: AttributeSchema) -> bool:
    """Whether a number sums up other items, and no write and no counter keeps it."""
    name = attribute.field
    holds = field_facts(entity, name).holds
    if not attribute.mutable or holds not in ("sum", "count"):
        return False
    others = {words_of(one.name)[-1] for one in facts.schema.entities if one is not entity}
    counted = {word for each in words_of(name) for word in (each, each.removesuffix("s"))}
    parts = (
        means(entity.name, "count", "sum")
        or bool(counted & others)
        or any(
            facts.references.target(other, field) == entity.name
            for other in facts.schema.entities
            for field in (other.by_field if holds == "sum" else ())
        )
    )
    every = (effect for _, effect in facts.all_writes if effect.entity == entity.name)
    written = any(name in effect.fields for effect in every)
    kept = any(c.target == entity.name for c in facts.schema.counters)
    return parts and not written and not kept


def _is_snapshot(facts: Reach, entity: EntitySchema, field: str) -> bool:
    """Whether a field keeps what was true when the item was made, as the price of an order."""
    held = entity.by_field.get(field)
    return facts.copy(entity) is None and held is not None and not held.mutable


def _is_written_with(facts: Reach, copy: EntitySchema, source: EntitySchema) -> bool:
    return any(
        effect.entity == copy.name
        for operation, _ in facts.writes(source.name, "update")
        for effect in operation.effects
    )


_OWN = re.compile(
    r"(created|updated|joined|added)_?(at|by|on)|ttl|type|status|state|role|name|title|description|"
    r"version|.*_?id|timestamp|kind|count|tags|attributes|data|body|text",
    re.I,
)
"""Fields that every entity has under the same name."""


def _copies(facts: Reach, entity: EntitySchema) -> Iterator[tuple[EntitySchema, tuple[str, ...]]]:
    """What an entity copies: as declared, as a mirror, or by matching names."""
    copy = facts.copy(entity)
    if copy is not None:
        source = facts.schema.by_entity.get(copy.source)
        if source is not None and copy.sync == "none":
            yield source, copy.writes
        return
    if facts.schema.enforced:
        return
    for other in facts.schema.entities:
        if other is entity or facts.copy(other) is not None:
            continue
        shared = [f for f in entity.by_field if f in other.by_field and not _in_key(entity, f)]
        if _is_mirror(entity, other):
            yield other, tuple(shared)
        elif _points_to(facts, entity, other):
            link = other.key is not None and {*other.key.fields} <= {*_linked(facts, entity)}
            mine = (f for f in shared if not _OWN.fullmatch(f) or (link and f in ("name", "title")))
            own = tuple(f for f in mine if not _in_key(other, f))
            yield other, own


def _named_copies(facts: Reach, entity: EntitySchema) -> dict[str, list[str]]:
    """Fields that are called as those of what an id refers to: `studentName` by `studentId`."""
    found: dict[str, list[str]] = {}
    free = {words_of(a.field): a.field for a in entity.attributes if a.mutable and not a.refers}
    for id_ in entity.attributes:
        source = facts.schema.by_entity.get(id_.refers)
        if source is None or source is entity:
            continue
        for stem in dict.fromkeys((words_of(id_.field)[:-1], words_of(source.name))):
            for origin in source.by_field if stem else ():
                held = free.get((*stem, *words_of(origin)))
                if held and facts.changes(source, origin) and not _is_updated(facts, entity, held):
                    found.setdefault(source.name, []).append(held)
    return found


def _linked(facts: Reach, entity: EntitySchema) -> tuple[str, ...]:
    """The fields of a key that is only made of others' ids: such items link them."""
    fields = entity.key.fields if entity.key else ()
    whole = len(fields) > 1 and not any(is_own_id(entity, field) for field in fields)
    return fields if whole and all(facts.is_identifier(entity, f) for f in fields) else ()


def _in_key(entity: EntitySchema, field: str) -> bool:
    return entity.key is not None and field in entity.key.fields


def _points_to(facts: Reach, entity: EntitySchema, other: EntitySchema) -> bool:
    """Whether an entity refers to another, by declaration or by having all fields of its key."""
    if other.name in facts.referred(entity):
        return True
    if (
        entity.key is None
        or other.key is None
        or not set(other.key.fields) < set(entity.key.fields)
    ):
        return False
    # A parent and a time do not identify an item; its own number or name does.
    return len(other.key.fields) > 1 and any(
        not facts.references.target(other, slot.field) and not facts.is_moment(other, slot)
        for slot in other.key.slots
    )


def _is_mirror(entity: EntitySchema, other: EntitySchema) -> bool:
    """Whether two entities are one edge, stored from both ends; the first declared is the
    source.
    """
    if entity.key is None or other.key is None or entity.key.sort is None or other.key.sort is None:
        return False
    ends = (entity.key.partition.fields, entity.key.sort.fields)
    turned = ends == (other.key.sort.fields, other.key.partition.fields)
    return turned and ends[0] != ends[1] and entity.place.line > other.place.line


def _is_updated(facts: Reach, entity: EntitySchema, field: str) -> bool:
    return any(field in effect.fields for _, effect in facts.writes(entity.name, "update"))


def _is_propagated(facts: Reach, copy: EntitySchema, source: EntitySchema, field: str) -> bool:
    for operation, _ in facts.writes(source.name, "update"):
        for effect in operation.effects:
            covers = not effect.fields or field in effect.fields
            if covers and effect.entity == copy.name and effect.action in ("update", "put"):
                return True
    return any(
        effect.entity == copy.name and (not effect.fields or field in effect.fields)
        for consumer in facts.schema.consumers
        if source.name in consumer.entities
        for effect in consumer.effects
    )


@rule("W5", DELETES)
def cascade_incomplete(
    facts: Reach, entity: EntitySchema, operation: OperationSchema
) -> Found | None:
    deleted = {effect.entity for effect in operation.effects if effect.action == "delete"}
    orphans = _orphans(facts, entity, deleted | _looked_for(facts, operation))
    if not orphans:
        return None
    below = [f"{name} (below {parent})" if parent else name for name, parent in orphans]
    return hit(below=below, orphans=[facts.schema.by_entity[name] for name, _ in orphans])


def _looked_for(facts: Reach, operation: OperationSchema) -> set[str]:
    """What an operation reads before it deletes: it refuses to leave these behind."""
    read = (facts.schema.by_pattern.get(name) for name in operation.reads)
    return {name for pattern in read if pattern is not None for name in pattern.entities}


def _orphans(facts: Reach, entity: EntitySchema, deleted: set[str]) -> list[tuple[str, str]]:
    """What stays behind on any level below, with its parent if that is not the entity."""
    found: dict[str, str] = {}
    waiting, seen = [entity], {entity.name}
    while waiting:
        parent = waiting.pop(0)
        gone = deleted | set(parent.cascades) | _removed_by_consumers(facts, parent)
        for child in _dependants(facts, parent):
            if child.name not in gone and child.ttl is None:
                found.setdefault(child.name, "" if parent is entity else parent.name)
            if child.name not in seen:
                seen.add(child.name)
                waiting.append(child)
    return [(name, parent) for name, parent in found.items() if name not in deleted]


def _dependants(facts: Reach, entity: EntitySchema) -> Iterator[EntitySchema]:
    """Copies of an entity, items in its partition, and items that it owns."""
    for other in facts.schema.entities:
        if other is entity or other.role in ("counter", "support"):
            continue
        copy = facts.copy(other)
        copied = copy is not None and copy.source == entity.name
        keyed = other.key is not None and any(
            facts.references.target(other, field) == entity.name
            for field in (other.key.fields if other.role == "edge" else other.key.partition.fields)
            if field in other.by_field
        )
        owner = other.by_field.get(other.owner)
        owned = owner is not None and owner.refers == entity.name
        if copied or keyed or owned or _is_head(entity, other):
            yield other


def _is_head(entity: EntitySchema, other: EntitySchema) -> bool:
    """Whether an entity is the one item that its partition is about, and another lies in it."""
    if entity.key is None or other.key is None or entity.key.sort is None or other.key.sort is None:
        return False
    named = set(entity.key.partition.fields)
    together = entity.table == other.table and entity.key.partition == other.key.partition
    return together and set(entity.key.sort.fields) <= named < set(other.key.fields)


def _removed_by_consumers(facts: Reach, entity: EntitySchema) -> set[str]:
    return {
        effect.entity
        for consumer in facts.schema.consumers
        if entity.name in consumer.entities and "REMOVE" in consumer.events
        for effect in consumer.effects
        if effect.action == "delete"
    } | {each.target for each in facts.follows if each.source == entity.name and each.deletes}
