"""S: streams, counters and feeds. What if a record arrives twice, late, or never?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from keyfold.design.schema import (
    AttributeSchema,
    ConsumerSchema,
    EntitySchema,
    PatternSchema,
    Placement,
    Schema,
)
from keyfold.review.check.domains import ATTRIBUTES, CONSUMERS, DESIGN
from keyfold.review.check.example import wanted_entries
from keyfold.review.check.field_facts import means
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule


@rule("S1", DESIGN, enforced=False)
def counter_not_exactly_once(facts: Reach, schema: Schema) -> Iterator[Found]:
    for counter in schema.counters:
        alone = counter.sync == "none" and not _is_atomic(facts, counter.target)
        problems = ["stream"] if counter.sync == "stream" else ["alone"] if alone else []
        problems += ["floor"] if counter.floor is not None else []
        if problems:
            yield hit(" ".join(problems), element=counter)
    counted = {counter.target for counter in schema.counters}
    for consumer in schema.consumers:
        marked = any(e.guarded and e.action in ("create", "put") for e in consumer.effects)
        for effect in () if marked else consumer.effects:
            if effect.action in ("increment", "decrement") and effect.entity not in counted:
                fields = f".{', '.join(effect.fields)}" if effect.fields else ""
                yield hit("consumer", element=consumer, effect=effect, fields=fields)


def _is_atomic(facts: Reach, target: str) -> bool:
    """Whether every operation that counts does so in one transaction."""
    found = facts.writes(target, "increment", "decrement", "update")
    return bool(found) and all(operation.atomic for operation, _ in found)


@rule("S3", DESIGN)
def remove_unhandled(facts: Reach, schema: Schema) -> Iterator[Found]:
    for consumer in schema.consumers:
        going = [
            schema.by_entity[name]
            for name in consumer.entities
            if name in schema.by_entity and _is_removed(facts, schema.by_entity[name])
        ]
        if going and consumer.effects and "REMOVE" not in consumer.events:
            yield hit("consumer", element=consumer, going=going)
    if schema.enforced:
        return
    for entity in schema.entities:
        yield from _missed_decrements(facts, entity)
        yield from _left_states(facts, entity)
    for feed in schema.feeds:
        for operation, _ in facts.writes(feed.edge, "delete"):
            touched = {effect.entity for effect in operation.effects}
            if feed.mode != "fan_in" and feed.item and feed.item not in touched:
                yield hit("feed", element=feed, feed=feed, operation=operation)


def _left_states(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    """What an expiring item set in others when it was made, and nothing sets back."""
    handled = any(
        entity.name in consumer.entities and "REMOVE" in consumer.events
        for consumer in facts.schema.consumers
    )
    made = facts.writes(entity.name, "create", "put") if entity.ttl and not handled else ()
    for operation, _ in made:
        for effect in operation.effects:
            state = next((f for f in effect.fields if means(f, "state")), None)
            if effect.action == "update" and effect.entity != entity.name and state:
                yield hit(
                    "state", element=operation, entity=entity, target=effect.entity, field=state
                )


def _missed_decrements(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    """A delete of what was counted when it was created, without the way back."""
    counted = {
        (effect.entity, field)
        for operation, _ in facts.writes(entity.name, "create", "put")
        for effect in operation.effects
        if effect.action == "increment"
        for field in effect.fields or ("its number",)
    }
    consumed = {
        effect.entity
        for consumer in facts.schema.consumers
        if entity.name in consumer.entities and "REMOVE" in consumer.events
        for effect in consumer.effects
    }
    for operation, _ in facts.writes(entity.name, "delete"):
        touched = {effect.entity for effect in operation.effects} | consumed
        for target, field in sorted(counted):
            if target not in touched:
                yield hit("count", element=operation, entity=entity, target=target, field=field)


def _is_removed(facts: Reach, entity: EntitySchema) -> bool:
    # Edges and members are removed in every system, stated or not.
    return facts.is_deleted(entity) or entity.role == "edge"


@rule("S4", CONSUMERS)
def no_dead_letter(consumer: ConsumerSchema) -> Found | None:
    if consumer.dead_letter:
        return None
    return hit("bounded" if consumer.attempts else "unbounded")


_IMAGES = {"INSERT": ("NEW_IMAGE",), "MODIFY": ("NEW_IMAGE", "OLD_IMAGE"), "REMOVE": ("OLD_IMAGE",)}
"""The kinds of streams, beside the one with both images, whose records hold the item."""


@rule("S12", CONSUMERS)
def stream_image_missing(facts: Reach, consumer: ConsumerSchema) -> Found | None:
    entity = facts.schema.by_entity.get(next(iter(consumer.entities), ""))
    table = facts.schema.by_table.get(consumer.table or (entity.table if entity else ""))
    stream = table.stream if table else None
    if table is None or stream in (None, "NEW_AND_OLD_IMAGES"):
        return None
    lost = [event for event in consumer.events if stream not in _IMAGES[event]]
    return hit(lost=lost, table=table) if lost else None


@rule("S9", ATTRIBUTES)
def expiring_value_stored(attribute: AttributeSchema) -> bool:
    return "signed_url" in (attribute.type, *attribute.also)


@rule("S11", DESIGN)
def sharding_breaks_pattern(facts: Reach, schema: Schema) -> Iterator[Found]:
    for entity in schema.entities:
        for placement, whole in permutations(entity.placements, 2):
            if placement.index != whole.index or not _spreads(placement, whole):
                continue
            for pattern in schema.patterns:
                if pattern.index != placement.index or entity.name not in pattern.entities:
                    continue
                reached = {id(a.placement) for a in facts.reached(pattern)}
                if id(whole) in reached and id(placement) not in reached:
                    yield hit("missed", element=placement, entity=entity, pattern=pattern)
    for pattern in schema.patterns:
        shards = _one_shard(facts, pattern)
        if shards:
            yield hit("one", element=pattern, shards=shards)


def _one_shard(facts: Reach, pattern: PatternSchema) -> int:
    """The number of shards of which a list reads one, where nothing reads the others."""
    if pattern.kind in ("get", "exists", "scan", "merge") or pattern.partition is None:
        return 0
    wide = [p for p in facts.schema.patterns if p.kind in ("merge", "scan")]
    if any((p.table, p.index) == (pattern.table, pattern.index) for p in wide):
        return 0
    for appearance in wanted_entries(facts, pattern):
        entity = appearance.entity
        given = (entity.by_field.get(name) for name in appearance.key.partition.fields)
        shards = next((one.shards for one in given if one is not None and one.shards), None)
        if shards and not facts.is_one(pattern, appearance):
            return shards
    return 0


def _spreads(placement: Placement, whole: Placement) -> bool:
    """Whether one placement is another with more in its partition key."""
    wide, narrow = placement.key.partition.fields, whole.key.partition.fields
    return len(wide) > len(narrow) and wide[: len(narrow)] == narrow
