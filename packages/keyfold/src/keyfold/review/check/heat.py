"""Heat: can one partition sustain its reads and writes?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, Placement
from keyfold.design.template import Template
from keyfold_engine.limits import (
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
    READ_UNIT_BYTES,
    WRITE_UNIT_BYTES,
)
from keyfold.review.check.evidence import Evidence, keys_example, sum_example
from keyfold.review.check.key_sets import keys_of
from keyfold.review.check.reach import Reach, slots
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import text_of

FEW_PARTITIONS = 10
FEW_ITEMS = 10_000
"""With at most this many items, a few partitions are not hot."""


@rule(
    "S2",
    "hot-key",
    "warning",
    "One key gets more reads or writes a second than a partition can serve",
)
def hot_key(facts: Reach) -> Iterator[Defect]:
    for counter in facts.schema.counters:
        if counter.peak is not None and counter.peak > PARTITION_WRITE_UNITS * counter.shards:
            yield Defect(
                counter,
                f"is changed {counter.peak:,.0f} times a second at its peak on "
                f"{_keys(counter.shards)}; one takes {PARTITION_WRITE_UNITS:,}",
                f"Use {_shards(counter.peak)} shards, and add them up when reading.",
                evidence=sum_example(
                    "one key at the peak",
                    [("changes a second", counter.peak / counter.shards, 1)],
                    f"one key takes {PARTITION_WRITE_UNITS:,}",
                    "write units a second",
                ),
            )
        elif counter.peak is None and not facts.schema.enforced and counter.shards == 1:
            yield Defect(
                counter,
                f"how often does one {counter.target} change at its peak? One key takes "
                f"{PARTITION_WRITE_UNITS:,} writes a second",
                "State its peak; beyond that, shard it.",
                severity="question",
                cause="peaks of counters",
            )
    for feed in () if facts.schema.enforced else facts.schema.feeds:
        if feed.mode != "fan_out" and feed.max_followers is None:
            yield Defect(
                feed,
                f"how many readers ask for the {feed.post} of one author a second? They all read "
                f"one partition, which serves {PARTITION_READ_UNITS:,} units",
                "State the most followers of an author (max_followers), or cache the newest posts "
                "of large ones.",
                severity="question",
                cause="readers of one author",
            )
    for entity in facts.schema.entities:
        units = (entity.peak or 0) * _units(entity)
        if units > PARTITION_WRITE_UNITS:
            yield Defect(
                entity,
                f"writes {units:,.0f} units a second to one partition at its peak; a partition "
                f"takes {PARTITION_WRITE_UNITS:,}",
                f"Spread the partition key over {_shards(units)} shards.",
                evidence=_load_example("one partition", entity.peak or 0, _units(entity)),
            )
        yield from _hot_writes(entity)
    yield from _hot_reads(facts)


def _hot_writes(entity: EntitySchema) -> Iterator[Defect]:
    """Writes that a constant, a day or a frequent value concentrates in one partition."""
    if entity.rate is None or entity.peak is not None:
        return
    for _, key, placement in keys_of(entity):
        share, why = _hottest(entity, key.partition)
        units = entity.rate * share * _units(entity)
        if units > PARTITION_WRITE_UNITS:
            yield Defect(
                placement or entity,
                f"`{key.partition}` {why}: {units:,.0f} units a second go to one partition, which "
                f"takes {PARTITION_WRITE_UNITS:,}",
                f"Spread it over {_shards(units)} shards, and read them together.",
                (entity,),
                evidence=_load_example(
                    f"the partition `{text_of(key.partition, entity)}`",
                    entity.rate * share,
                    _units(entity),
                ),
            )


def _load_example(where: str, writes: float, units: int) -> Evidence:
    takes = f"one partition takes {PARTITION_WRITE_UNITS:,}"
    return sum_example(where, [("writes a second", writes, units)], takes, "write units a second")


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


def _hot_reads(facts: Reach) -> Iterator[Defect]:
    """Patterns that read one key more often than one key supports."""
    for pattern in facts.schema.patterns:
        if pattern.rate is None or pattern.partition is None or not pattern.partition.is_literal:
            continue
        items = 1 if pattern.kind in ("get", "latest", "exists") else pattern.limit
        items = items or facts.most(pattern) or 1
        units = math.ceil(items * facts.size(pattern) / READ_UNIT_BYTES)
        load = pattern.rate * units * (1.0 if pattern.consistent else 0.5)
        if load > PARTITION_READ_UNITS:
            yield Defect(
                pattern,
                f"reads `{pattern.partition}` with {load:,.0f} units a second; one partition "
                f"serves {PARTITION_READ_UNITS:,}",
                "Keep several copies under different keys, or cache the answer.",
                evidence=sum_example(
                    f"the key `{pattern.partition}`",
                    [("calls a second", pattern.rate, load / pattern.rate)],
                    f"one key gives {PARTITION_READ_UNITS:,}",
                    "read units a second",
                ),
            )


def _units(entity: EntitySchema) -> int:
    return -(-(entity.bytes or 1) // WRITE_UNIT_BYTES)


def _keys(shards: int) -> str:
    return "one key" if shards == 1 else f"{shards} keys"


def _shards(peak: float) -> int:
    return int(-(-peak // PARTITION_WRITE_UNITS))


@rule("X8", "low-cardinality-partition", "warning", "A partition key has too few values")
def low_cardinality_partition(facts: Reach) -> Iterator[Defect]:
    for entity, key, placement in facts.all_keys():
        count = _values(entity, key.partition)
        if count is None or count >= FEW_PARTITIONS:
            continue
        if entity.rate is not None or _is_small(entity, placement):
            continue
        if placement is not None and entity.key and key.partition == entity.key.partition:
            continue  # Already reported for the table.
        yield Defect(
            placement or entity,
            f"`{key.partition}` has {count} value{'s' * (count > 1)}: all items share "
            + ("one partition" if count == 1 else f"{count} partitions")
            + " of 1,000 writes a second",
            "Add a part that spreads the items, such as a month or a shard number, and read "
            "the shards together; or say how few they are (per_partition, rate).",
            (entity,),
            evidence=_partitions_example(entity, key.partition, count),
        )


def _partitions_example(entity: EntitySchema, template: Template, count: int) -> Evidence:
    """The number of possible partitions."""
    texts = dict.fromkeys(text_of(template, entity, n) for n in range(1, count + 1))
    rows = ((f"`{text}`", f"{PARTITION_WRITE_UNITS:,} writes a second") for text in texts)
    return keys_example(f"every {entity.name} goes to", *rows)


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
