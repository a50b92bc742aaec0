"""Heat: can one partition sustain its reads and writes?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, KeyTemplates, Placement, Schema
from keyfold.design.template import Slot, Template
from keyfold.review.check.domains import DESIGN, KEYS
from keyfold.review.check.field_facts import field_facts, mentions
from keyfold.review.check.key_sets import keys_of
from keyfold.review.check.reach import Reach, slots
from keyfold.review.check.rule import Found, hit, rule
from keyfold_engine.limits import (
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
    READ_UNIT_BYTES,
    WRITE_UNIT_BYTES,
)

FEW_PARTITIONS = 10
FEW_ITEMS = 10_000
"""With at most this many items, a few partitions are not hot."""


@rule("S2", DESIGN)
def hot_key(facts: Reach, schema: Schema) -> Iterator[Found]:
    yield from _hot_counters(schema)
    for feed in () if schema.enforced else schema.feeds:
        if feed.mode != "fan_out" and feed.max_followers is None:
            yield hit("feed", element=feed, takes=PARTITION_READ_UNITS)
    for entity in schema.entities:
        units = (entity.peak or 0) * _units(entity)
        if units > PARTITION_WRITE_UNITS:
            yield _hot("peak", entity, units)
        yield from _hot_writes(entity)
    yield from _hot_reads(facts)
    yield from _single_items(facts)
    yield from _shared_partitions(facts)


def _hot(case: str, element: object, units: float, **more: object) -> Found:
    takes, shards = PARTITION_WRITE_UNITS, int(-(-units // PARTITION_WRITE_UNITS))
    return hit(case, element=element, units=units, takes=takes, shards=shards, **more)


def _hot_counters(schema: Schema) -> Iterator[Found]:
    for counter in schema.counters:
        if counter.peak is not None and counter.peak > PARTITION_WRITE_UNITS * counter.shards:
            keys = "one key" if counter.shards == 1 else f"{counter.shards} keys"
            yield _hot("counter", counter, counter.peak, keys=keys)
        elif counter.peak is None and not schema.enforced and counter.shards == 1:
            yield hit("unknown", element=counter, takes=PARTITION_WRITE_UNITS)


def _hot_writes(entity: EntitySchema) -> Iterator[Found]:
    """Writes that a constant, a day or a frequent value concentrates in one partition."""
    if entity.rate is None or entity.peak is not None:
        return
    for _, key, placement in keys_of(entity):
        share, why = _hottest(entity, key.partition)
        units = entity.rate * share * _units(entity)
        if units > PARTITION_WRITE_UNITS:
            yield _hot("writes", placement or entity, units, entity=entity, key=key, why=why)


def _hottest(entity: EntitySchema, template: Template) -> tuple[float, str]:
    """The busiest partition's share of the writes, and why; 0 if unknown."""
    if template.is_literal:
        return 1.0, "is one partition"
    share, why = 1.0, ""
    for slot in slots(template):
        attribute = entity.by_field.get(slot.field)
        if attribute is not None and attribute.shards:
            share /= attribute.shards
        elif attribute is not None and attribute.hottest is not None:
            share *= attribute.hottest
            why = f"has {attribute.hottest:.0%} of its items under one {slot.field}"
        elif attribute is not None and (attribute.values or attribute.type == "boolean"):
            count = len(attribute.values) or 2
            share /= count
            why = why or f"has {count} values"
        elif attribute is not None and attribute.type == "date":
            why = f"is one partition for each {slot.field}, and today's takes every write"
        else:
            return 0.0, ""
    return share, why or "is one partition"


def _hot_reads(facts: Reach) -> Iterator[Found]:
    """Patterns that read one key more often than one key supports."""
    for pattern in facts.schema.patterns:
        if pattern.rate is None or pattern.partition is None or not pattern.partition.is_literal:
            continue
        items = 1 if pattern.kind in ("get", "latest", "exists") else pattern.limit
        items = items or facts.most(pattern) or 1
        units = math.ceil(items * facts.size(pattern) / READ_UNIT_BYTES)
        load = pattern.rate * units * (1.0 if pattern.consistent else 0.5)
        if load > PARTITION_READ_UNITS:
            yield hit("reads", element=pattern, load=load, takes=PARTITION_READ_UNITS)


def _single_items(facts: Reach) -> Iterator[Found]:
    """Numbers that every call of an operation changes in one item."""
    for operation, effect in () if facts.schema.enforced else facts.all_writes:
        entity = facts.schema.by_entity.get(effect.entity)
        adds = effect.action in ("increment", "decrement")
        if not adds or entity is None or entity.key is None:
            continue
        if not slots(entity.key.partition) and entity.peak is None and entity.rate is None:
            yield hit("single", element=operation, entity=entity, takes=PARTITION_WRITE_UNITS)


def _shared_partitions(facts: Reach) -> Iterator[Found]:
    """Partitions of what many people write to at once, where no number says how often."""
    for entity in () if facts.schema.enforced else facts.schema.entities:
        key = entity.key
        stated = entity.peak is not None or entity.per_partition is not None
        if stated or key is None or key.fields == key.partition.fields:
            continue
        parts = slots(key.partition)
        shared = parts and all(mentions(slot.field, "shared") for slot in parts)
        often = (entity.rate or 0) * _units(entity) > PARTITION_WRITE_UNITS
        unknown = not _hottest(entity, key.partition)[0]
        made = facts.writes(entity.name, "create", "put")
        if unknown and (often or (shared and made and entity.rate is None)):
            yield hit("shared", element=entity, key=key, takes=PARTITION_WRITE_UNITS)


def _units(entity: EntitySchema) -> int:
    return -(-(entity.bytes or 1) // WRITE_UNIT_BYTES)


@rule("X8", KEYS)
def low_cardinality_partition(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> Found | None:
    if entity.rate is not None or _is_small(entity, placement):
        return None
    if placement is not None and not facts.is_listed(entity, placement.index):
        return None
    if placement is not None and entity.key and key.partition == entity.key.partition:
        return None  # Already reported for the table.
    count = _values(entity, key.partition)
    if count is not None:
        case = "one" if count == 1 else "few"
        return hit(case, count=count) if count < FEW_PARTITIONS else None
    return _guessed(facts, entity, key, placement)


def _guessed(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> Found | None:
    """A partition for each value of what has few values by its name, or for each day."""
    parts = slots(key.partition)
    if entity.role not in ("canonical", "feed_item") or not parts:
        return None
    if placement is not None and placement.is_partial:
        return None
    each = [field_facts(entity, slot.field, slot) for slot in parts]
    kinds = {one.variety for one in each}
    if kinds == {"few"} and not all(one.stated for one in each):
        return hit("guess", field=parts[0].field)
    # Today's partition takes the writes of a day that something was made, not of one that is due.
    periods = [s for s, one in zip(parts, each, strict=True) if one.variety == "period"]
    made_today = all(facts.is_past(entity, slot) for slot in periods)
    several = {*key.fields} > {*key.partition.fields}
    hot = periods and kinds <= {"period", "few"} and made_today and several
    return hit("period", field=_period(periods[0])) if hot else None


def _period(slot: Slot) -> str:
    """What a partition is made of: a day or month of a time, or a field."""
    if not slot.format.coarse:
        return slot.field
    return "day" if "%d" in slot.format.name else "month"


def _is_small(entity: EntitySchema, placement: Placement | None) -> bool:
    """Whether the few partitions hold little: by a bound, or because the key names a single
    item.
    """
    if entity.per_partition is not None:
        return entity.per_partition <= FEW_ITEMS
    fields = placement.key.fields if placement else entity.key.fields if entity.key else ()
    return placement is None and not fields


def _values(entity: EntitySchema, template: Template) -> int | None:
    """The number of distinct keys of a template, if known."""
    count = 1
    for slot in slots(template):
        attribute = entity.by_field.get(slot.field)
        if attribute is None or attribute.shards:
            return None  # Shards are deliberate; S2 compares them with the rate.
        if attribute.type == "boolean":
            count *= 2
        elif attribute.values:
            count *= len(attribute.values)
        else:
            return None
    return count
