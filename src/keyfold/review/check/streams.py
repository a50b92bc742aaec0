"""S: streams, counters and feeds. What happens when a record comes twice, late, or never?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from keyfold.design.schema import EntitySchema, Placement
from keyfold.review.check.evidence import Evidence, course, found
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, Element, rule
from keyfold.review.check.sample import named, text_of


@rule("S1", "counter-not-exactly-once", "error", "A count that a second delivery changes again")
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
            yield _twice(
                counter,
                counter.name,
                f"{counter.target}.{counter.attribute} {', and '.join(problems)}",
                _recounted(facts, counter.counts, counter.target, counter.attribute),
            )
    for consumer in facts.schema.consumers:
        added = [e for e in consumer.effects if e.action in ("increment", "decrement")]
        marked = any(e.guarded and e.action in ("create", "put") for e in consumer.effects)
        for effect in () if marked else added:
            if effect.entity not in counted:
                fields = f".{', '.join(effect.fields)}" if effect.fields else ""
                yield _twice(
                    consumer,
                    consumer.name,
                    f"changes {effect.entity}{fields} from a stream that delivers "
                    "at least once, and nothing marks a record as done: a repeat counts twice",
                    _recounted(
                        facts,
                        next(iter(consumer.entities), "the record"),
                        effect.entity,
                        next(iter(effect.fields), "the number"),
                    ),
                )


def _recounted(facts: Reach, counted: str, target: str, field: str) -> Evidence:
    """One item that is counted, and the same once more."""
    item, holder = (facts.schema.by_entity.get(name) for name in (counted, target))
    return course(
        f"{named(item) if item else counted} is written, {field} of "
        f"{named(holder) if holder else target} goes from 10 to 11",
        "the answer is lost, and the same is delivered or sent again",
        f"{field} goes from 11 to 12",
        so="it says 12, and there are 11",
    )


def _twice(element: Element, subject: str, message: str, evidence: Evidence) -> Defect:
    return Defect(
        element,
        subject,
        message,
        "Change it in one transaction with the item it counts, or with a marker for the record.",
        evidence=evidence,
    )


def _is_atomic(facts: Reach, target: str) -> bool:
    """Whether every operation that counts does so in one transaction."""
    found = facts.writes(target, "increment", "decrement", "update")
    return bool(found) and all(operation.atomic for operation, _ in found)


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
                evidence=course(
                    f"{named(facts.schema.by_entity[going[0]])} is removed",
                    f"{consumer.name} gets the REMOVE record and does nothing",
                    *(
                        f"what it did ({effect.action} {effect.entity}) still stands"
                        for effect in consumer.effects
                    ),
                ),
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
                evidence=course(
                    f"09:00: {consumer.name} fails at a record of "
                    f"{next(iter(consumer.entities), 'its table')}",
                    "it is given the same record again and again; all behind it wait",
                    "09:00 the next day: the stream forgets the record, and with it what waited as "
                    "long",
                ),
            )


@rule("S6", "fan-out-amplification", "error", "The cost of a post grows with its followers")
def fan_out_amplification(facts: Reach) -> Iterator[Defect]:
    spread = {feed.item for feed in facts.schema.feeds}
    for consumer in facts.schema.consumers:
        for effect in consumer.effects:
            entity = facts.schema.by_entity.get(effect.entity)
            fed = entity is not None and entity.role == "feed_item" and entity.name not in spread
            if effect.each and effect.action in ("put", "create") and fed:
                yield Defect(
                    consumer,
                    consumer.name,
                    f"writes one {effect.entity} for each member of an audience, and nothing "
                    "bounds it",
                    "Copy to audiences below a stated size, and gather the others when reading.",
                    evidence=_fanned(effect.entity),
                )
    for feed in facts.schema.feeds:
        if feed.mode != "fan_in" and feed.max_followers is None:
            yield Defect(
                feed,
                feed.name,
                f"writes one {feed.item} for each follower of an author, and nothing bounds the "
                "followers",
                "Fan out below a stated number of followers, and gather the others' posts when "
                "reading.",
                evidence=_fanned(feed.item),
            )


def _fanned(item: str) -> Evidence:
    """What one post writes, as its audience grows."""
    rows = ((f"{readers:,} readers", f"{readers:,} {item}") for readers in (100, 10_000, 1_000_000))
    return found("one post writes, for", *rows)


@rule("S7", "audience-ambiguous", "error", "It is not decided who gets a copy")
def audience_ambiguous(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        if feed.mode == "hybrid" and not feed.recorded and not facts.schema.enforced:
            yield Defect(
                feed,
                feed.name,
                "gathers some posts and copies others, and does not say which way a post goes "
                "when its author changes sides: posts are missing, or come twice",
                f"Record the way on each {feed.post} when it is written, read both, and drop "
                "duplicates.",
                evidence=course(
                    f"an author has few followers: {_first(facts, feed.post)} is copied to each",
                    "the author has many: a reader gathers the author's posts",
                    so="the post is in the copies and among the gathered ones",
                ),
            )


def _first(facts: Reach, name: str) -> str:
    entity = facts.schema.by_entity.get(name)
    return named(entity) if entity else name


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
                evidence=found(
                    "one post",
                    (named(post), f"has {', '.join(lacking)}"),
                    (named(item), "has none of these"),
                ),
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
                    evidence=found(
                        f"{pattern.name} returns",
                        (named(entity), f"without {', '.join(absent)}"),
                    ),
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
            if "signed_url" in (attribute.type, *attribute.also):
                yield Defect(
                    entity,
                    f"{entity.name}.{attribute.field}",
                    f"{attribute.field} stores a signed URL, which is dead long before the item is",
                    "Store the object's key, and sign when reading.",
                    evidence=course(
                        f"1 March: {named(entity)} is written with a URL signed for at most 7 days",
                        f"8 March at the latest: {attribute.field} answers 403",
                    ),
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
                evidence=course(
                    f"{feed.item} {feed.cap:,} of one reader is written: {feed.cap:,} are there",
                    f"{feed.item} {feed.cap + 1:,} is written, nothing is deleted: "
                    f"{feed.cap + 1:,} are there",
                ),
            )


@rule("S11", "sharding-breaks-pattern", "error", "A sharded key is read as if it were one")
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
                    f"{entity.name} on {placement.index}",
                    f"with `{placement.key.partition}`, {pattern.name} (`{pattern.partition}`) "
                    "finds nothing",
                    "Read all shards and merge them; move the existing items first.",
                    (entity, pattern),
                    evidence=found(
                        f"in {placement.index}",
                        (f"`{text_of(placement.key.partition, entity)}`", "is where items are"),
                        (
                            f"`{text_of(whole.key.partition, entity)}`",
                            f"is what {pattern.name} asks",
                        ),
                    ),
                )


def _spreads(placement: Placement, whole: Placement) -> bool:
    """Whether one placement is another one with more in its partition."""
    wide, narrow = placement.key.partition.fields, whole.key.partition.fields
    return len(wide) > len(narrow) and wide[: len(narrow)] == narrow
