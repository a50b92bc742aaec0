"""S: streams, counters and feeds. What if a record arrives twice, late, or never?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from keyfold.design.schema import EntitySchema, PatternSchema, Placement
from keyfold.review.check.answer import wanted_entries
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, Element, rule
from keyfold.review.check.sample import item_name, text_of


@rule(
    "S1",
    "counter-not-exactly-once",
    "error",
    "A stream record that is delivered twice is counted twice",
)
def counter_not_exactly_once(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    counted: set[str] = set()
    for counter in facts.schema.counters:
        counted.add(counter.target)
        problems = []
        if counter.sync == "stream":
            problems.append(
                "is changed from a stream that delivers at least once: a repeat counts twice"
            )
        elif counter.sync == "none" and not _is_atomic(facts, counter.target):
            problems.append("is changed in a write of its own: a repeat counts twice")
        if counter.floor is not None:
            problems.append(f"has a floor at {counter.floor}, which only hides that it is wrong")
        if problems:
            yield _counted_twice(
                counter,
                counter.name,
                f"{counter.target}.{counter.attribute} {', and '.join(problems)}",
                _recount_example(facts, counter.counts, counter.target, counter.attribute),
            )
    for consumer in facts.schema.consumers:
        added = [e for e in consumer.effects if e.action in ("increment", "decrement")]
        marked = any(e.guarded and e.action in ("create", "put") for e in consumer.effects)
        for effect in () if marked else added:
            if effect.entity not in counted:
                fields = f".{', '.join(effect.fields)}" if effect.fields else ""
                yield _counted_twice(
                    consumer,
                    consumer.name,
                    f"changes {effect.entity}{fields} from a stream that delivers "
                    "at least once, and nothing marks a record as done: a repeat counts twice",
                    _recount_example(
                        facts,
                        next(iter(consumer.entities), "the record"),
                        effect.entity,
                        next(iter(effect.fields), "the number"),
                    ),
                )


def _recount_example(facts: Reach, counted: str, target: str, field: str) -> Evidence:
    """An item that is counted, and counted again."""
    item, holder = (facts.schema.by_entity.get(name) for name in (counted, target))
    return steps_example(
        f"{item_name(item) if item else counted} is written, {field} of "
        f"{item_name(holder) if holder else target} goes from 10 to 11",
        "the answer is lost, and the same is delivered or sent again",
        f"{field} goes from 11 to 12",
        so="it says 12, and there are 11",
    )


def _counted_twice(element: Element, subject: str, message: str, evidence: Evidence) -> Defect:
    return Defect(
        element,
        message,
        "Change it in one transaction with the item it counts, or with a marker for the record.",
        subject=subject,
        evidence=evidence,
    )


def _is_atomic(facts: Reach, target: str) -> bool:
    """Whether every operation that counts does so in one transaction."""
    found = facts.writes(target, "increment", "decrement", "update")
    return bool(found) and all(operation.atomic for operation, _ in found)


@rule("S3", "remove-or-ttl-event-unhandled", "warning", "A consumer ignores deletes or expiry")
def remove_unhandled(facts: Reach) -> Iterator[Defect]:
    for consumer in facts.schema.consumers:
        if "REMOVE" in consumer.events or not consumer.effects:
            continue
        going = [
            name
            for name in consumer.entities
            if (entity := facts.schema.by_entity.get(name)) is not None
            and _is_removed(facts, entity)
        ]
        if going:
            yield Defect(
                consumer,
                f"does not act when {', '.join(going)} is removed: whatever it created stays "
                "behind",
                "Handle REMOVE records too; expired items also arrive as REMOVE, sent by the "
                "service.",
                evidence=steps_example(
                    f"{item_name(facts.schema.by_entity[going[0]])} is removed",
                    f"{consumer.name} gets the REMOVE record and does nothing",
                    *(
                        f"its effect ({effect.action} {effect.entity}) remains"
                        for effect in consumer.effects
                    ),
                ),
            )

    for entity in facts.schema.entities:
        yield from _missed_decrements(facts, entity)
    for feed in () if facts.schema.enforced else facts.schema.feeds:
        for operation, _ in facts.writes(feed.edge, "delete"):
            touched = {effect.entity for effect in operation.effects}
            if feed.mode != "fan_in" and feed.item and feed.item not in touched:
                yield Defect(
                    feed,
                    f"what removes the {feed.item} of a {feed.post} when {operation.name} deletes "
                    f"the {feed.edge} it came by?",
                    f"Delete the {feed.item}, leave it out when reading, or say that it stays.",
                    (operation,),
                    severity="question",
                )


def _missed_decrements(facts: Reach, entity: EntitySchema) -> Iterator[Defect]:
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
            if target in touched or facts.schema.enforced:
                continue
            yield Defect(
                operation,
                f"deletes {entity.name}, which counts in {field} of {target}: the number stays as "
                "it was",
                f"Decrement {field} of {target} in the same transaction.",
                (entity,),
                evidence=steps_example(
                    f"{item_name(entity)} is created, {field} goes from 10 to 11",
                    f"{operation.name} deletes it, {field} stays at 11",
                ),
            )


def _is_removed(facts: Reach, entity: EntitySchema) -> bool:
    # Edges and members are removed in every system, stated or not.
    return facts.is_deleted(entity) or entity.role == "edge"


@rule("S4", "no-dlq-or-bounds", "warning", "One bad record blocks its shard")
def no_dead_letter(facts: Reach) -> Iterator[Defect]:
    for consumer in facts.schema.consumers:
        if not consumer.dead_letter:
            bound = "" if consumer.attempts else " and no bound on its attempts"
            yield Defect(
                consumer,
                f"has no dead-letter queue{bound}: one record that it cannot process blocks the "
                "shard until the record expires after 24 hours",
                "Limit the attempts, and send failed records to a queue from which they can be "
                "replayed.",
                evidence=steps_example(
                    f"09:00: {consumer.name} fails at a record of "
                    f"{next(iter(consumer.entities), 'its table')}",
                    "it receives the same record again and again; all records behind it wait",
                    "09:00 the next day: the record expires, and with it all records that waited "
                    "long",
                ),
            )


_IMAGES = {"INSERT": ("NEW_IMAGE",), "MODIFY": ("NEW_IMAGE", "OLD_IMAGE"), "REMOVE": ("OLD_IMAGE",)}
"""The kinds of streams, beside the one with both images, whose records hold the item."""


@rule("S12", "stream-image-missing", "warning", "A stream's records lack what a consumer needs")
def stream_image_missing(facts: Reach) -> Iterator[Defect]:
    for consumer in facts.schema.consumers:
        named_entity = facts.schema.by_entity.get(next(iter(consumer.entities), ""))
        owner = consumer.table or (named_entity.table if named_entity else "")
        table = facts.schema.by_table.get(owner)
        stream = table.stream if table else None
        if table is None or stream in (None, "NEW_AND_OLD_IMAGES"):
            continue
        lost = [event for event in consumer.events if stream not in _IMAGES[event]]
        if lost:
            yield Defect(
                consumer,
                f"handles {', '.join(lost)}, but the stream of {table.name} is {stream}: these "
                "records hold only the key, and the item may have changed or be gone",
                f"Set the stream of {table.name} to NEW_AND_OLD_IMAGES.",
                (table,),
                evidence=steps_example(
                    f"{item_name(named_entity) if named_entity else 'an item'} is written",
                    f"{consumer.name} gets a record with its key",
                    "it reads the item, which another write has changed",
                ),
            )


@rule("S9", "expiring-value-stored", "warning", "A signed URL is stored longer than it is valid")
def expiring_value_stored(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in facts.all_attributes():
        if "signed_url" in (attribute.type, *attribute.also):
            yield Defect(
                entity,
                f"{attribute.field} stores a signed URL, which expires long before the item does",
                "Store the object's key, and sign the URL when reading.",
                subject=f"{entity.name}.{attribute.field}",
                evidence=steps_example(
                    f"1 March: {item_name(entity)} is written with a URL signed for at most 7 days",
                    f"8 March at the latest: {attribute.field} answers 403",
                ),
            )


@rule(
    "S11",
    "sharding-breaks-pattern",
    "error",
    "A pattern reads a sharded key as if it were a single key",
)
def sharding_breaks_pattern(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for placement, whole in permutations(entity.placements, 2):
            if placement.index != whole.index or not _spreads(placement, whole):
                continue
            for pattern in facts.schema.patterns:
                if pattern.index != placement.index or entity.name not in pattern.entities:
                    continue
                reached = {id(a.placement) for a in facts.reached(pattern)}
                if id(whole) not in reached or id(placement) in reached:
                    continue
                yield Defect(
                    placement,
                    f"with `{placement.key.partition}`, {pattern.name} (`{pattern.partition}`) "
                    "finds nothing",
                    "Read all shards and merge them; move the existing items first.",
                    (entity, pattern),
                    evidence=keys_example(
                        f"in {placement.index}",
                        (f"`{text_of(placement.key.partition, entity)}`", "is where items are"),
                        (
                            f"`{text_of(whole.key.partition, entity)}`",
                            f"is what {pattern.name} queries",
                        ),
                    ),
                )

    for pattern in facts.schema.patterns:
        shards = _one_shard(facts, pattern)
        if shards:
            yield Defect(
                pattern,
                f"reads one of {shards} shards (`{pattern.partition}`), and no pattern reads them "
                "all",
                "Read all shards and merge them (`merge`, with max_partitions).",
                severity="warning",
                evidence=keys_example(
                    "one call",
                    (f"`{text_of(pattern.partition, None)}`", "is read")
                    if pattern.partition
                    else ("one shard", "is read"),
                    (f"{shards - 1} others", "are not"),
                ),
            )


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
