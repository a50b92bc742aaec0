"""S: streams, counters and feeds. What happens when a record comes twice, late, or never?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema
from keyfold.limits import PARTITION_READ_UNITS, PARTITION_WRITE_UNITS, READ_UNIT_BYTES
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule


@rule("S1", "counter-not-exactly-once", "error", "A count that a second delivery changes again")
def counter_not_exactly_once(facts: Reach) -> Iterator[Defect]:
    for counter in facts.schema.counters:
        problems = []
        if not counter.exactly_once:
            stream = "from a stream that delivers at least once"
            how = stream if counter.sync == "stream" else "in a write of its own"
            problems.append(f"is changed {how}: a repeat counts twice")
        if counter.floor is not None:
            problems.append(f"has a floor at {counter.floor}, which only hides that it is wrong")
        if not problems:
            continue
        what = f"{counter.target}.{counter.attribute} {', and '.join(problems)}"
        yield Defect(
            counter,
            counter.name,
            what,
            "Change it in one transaction with the item it counts, or with a marker for the "
            "record.",
        )


@rule("S2", "hot-counter-or-edge", "warning", "More than 1,000 writes a second on one key")
def hot_counter_or_edge(facts: Reach) -> Iterator[Defect]:
    for counter in facts.schema.counters:
        if counter.peak is not None and counter.peak > PARTITION_WRITE_UNITS * counter.shards:
            yield Defect(
                counter,
                counter.name,
                f"is changed {counter.peak:,.0f} times a second at its peak on "
                f"{_keys(counter.shards)}; one takes {PARTITION_WRITE_UNITS:,}",
                f"Use {_shards(counter.peak)} shards, and add them up when reading.",
            )
    for entity in facts.schema.entities:
        units = (entity.peak or 0) * _units(entity)
        if units > PARTITION_WRITE_UNITS:
            yield Defect(
                entity,
                entity.name,
                f"writes {units:,.0f} units a second to one partition at its peak; one takes "
                f"{PARTITION_WRITE_UNITS:,}",
                f"Spread the partition key over {_shards(units)} shards.",
            )

    yield from _hot_reads(facts)


def _hot_reads(facts: Reach) -> Iterator[Defect]:
    """Patterns that read one and the same key more often than one key can be read."""
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
                pattern.name,
                f"reads `{pattern.partition}` with {load:,.0f} units a second; one key gives "
                f"{PARTITION_READ_UNITS:,}",
                "Keep several copies under different keys, or cache the answer.",
            )


def _units(entity: EntitySchema) -> int:
    return -(-(entity.bytes or 1) // 1024)


def _keys(shards: int) -> str:
    return "one key" if shards == 1 else f"{shards} keys"


def _shards(peak: float) -> int:
    return int(-(-peak // PARTITION_WRITE_UNITS))


@rule("S3", "remove-or-ttl-event-unhandled", "warning", "Deletes and expiry are not followed")
def remove_unhandled(facts: Reach) -> Iterator[Defect]:
    for consumer in facts.schema.consumers:
        if "REMOVE" in consumer.events or not consumer.effects:
            continue
        going = [
            name
            for name in consumer.entities
            if (entity := facts.schema.by_entity.get(name)) is not None and _goes(facts, entity)
        ]
        if going:
            yield Defect(
                consumer,
                consumer.name,
                f"does not act when {', '.join(going)} is removed: what it made stays behind",
                "Act on REMOVE records too; deletes by TTL come as such, by the service.",
            )


def _goes(facts: Reach, entity: EntitySchema) -> bool:
    # An edge or a member goes away in every system, whether the document says so or not.
    return facts.is_deleted(entity) or entity.role == "edge"


@rule("S4", "no-dlq-or-bounds", "warning", "One record that cannot be handled blocks its shard")
def no_dead_letter(facts: Reach) -> Iterator[Defect]:
    for consumer in facts.schema.consumers:
        if not consumer.dead_letter:
            bound = "" if consumer.attempts else " and no bound on its attempts"
            yield Defect(
                consumer,
                consumer.name,
                f"has no dead-letter queue{bound}: one record it cannot handle blocks the shard "
                "until the stream forgets it after 24 hours",
                "Bound the attempts, and put what failed where it can be looked at and replayed.",
            )


@rule("S6", "fan-out-amplification", "error", "The cost of a post grows with its followers")
def fan_out_amplification(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        if feed.mode != "fan_in" and feed.max_followers is None:
            yield Defect(
                feed,
                feed.name,
                f"writes one {feed.item} for each follower of an author, and nothing bounds the "
                "followers",
                "Fan out below a stated number of followers, and gather the others' posts when "
                "reading.",
            )


@rule("S7", "audience-ambiguous", "error", "It is not decided who gets a copy")
def audience_ambiguous(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        if feed.mode == "hybrid" and feed.audience == "unstated":
            yield Defect(
                feed,
                feed.name,
                "gathers some posts and copies others, and does not say which way a post goes "
                "when its author changes sides: posts are missing, or come twice",
                f"Record the way on each {feed.post} when it is written, read both, and drop "
                "duplicates.",
            )


@rule("S8", "copy-incomplete", "warning", "A copy lacks what its view shows")
def copy_incomplete(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        post, item = (facts.schema.by_entity.get(name) for name in (feed.post, feed.item))
        if post is None or item is None or not item.attributes:
            continue
        lacking = _lacking(post, item)
        if lacking:
            yield Defect(
                feed,
                f"{feed.item} of {feed.name}",
                f"lacks {', '.join(lacking)}, which {feed.post} has: the same post looks "
                "different, or needs a read for each row",
                f"Copy {', '.join(lacking)} too.",
                (item,),
            )
    for pattern in facts.schema.patterns:
        for name in pattern.entities:
            entity = facts.schema.by_entity.get(name)
            copy = None if entity is None else facts.copy(entity)
            if entity is None or copy is None:
                continue
            absent = [field for field in pattern.shows if field not in entity.by_field]
            if absent:
                yield Defect(
                    pattern,
                    pattern.name,
                    f"shows {', '.join(absent)}, which {name} does not hold",
                    f"Copy {', '.join(absent)} from {copy.source}.",
                    (entity,),
                )


def _lacking(post: EntitySchema, item: EntitySchema) -> list[str]:
    keyed = post.key.fields if post.key else ()
    stamps = [a.field for a in post.attributes if a.field in keyed]
    return [
        a.field for a in post.attributes if a.field not in item.by_field and a.field not in stamps
    ]


@rule("S9", "expiring-value-stored", "warning", "A signed URL is stored past its life")
def expiring_value_stored(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            if attribute.type == "signed_url":
                yield Defect(
                    entity,
                    f"{entity.name}.{attribute.field}",
                    f"{attribute.field} stores a signed URL, which is dead long before the item is",
                    "Store the object's key, and sign when reading.",
                )


@rule("S10", "cap-without-mechanism", "warning", "A cap that nothing trims")
def cap_without_mechanism(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        if feed.cap is not None and not feed.trimmed_by:
            yield Defect(
                feed,
                feed.name,
                f"keeps the last {feed.cap:,} items, and nothing removes the others: TTL goes by "
                "age, not by number",
                "Name what trims, such as a consumer that deletes beyond the cap.",
            )


@rule("S11", "sharding-breaks-pattern", "error", "A sharded key is read as if it were one")
def sharding_breaks_pattern(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for placement in entity.placements:
            sharded = placement.sharded
            if sharded is None:
                continue
            for pattern in facts.schema.patterns:
                if pattern.index != placement.index or entity.name not in pattern.entities:
                    continue
                shapes = (pattern.partition, *pattern.other_partitions)
                if any(s is not None and facts.meet(s, None, sharded, entity) for s in shapes):
                    continue
                yield Defect(
                    placement,
                    f"{entity.name} on {placement.index}",
                    f"with `{sharded}`, {pattern.name} (`{pattern.partition}`) finds nothing",
                    "Read all shards and merge them; move the existing items first.",
                    (entity, pattern),
                )
