"""S, continued: feeds and copies. Who gets a post, with what, at which price, and for how long?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import item_name


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
                    f"writes one {effect.entity} for each member of an audience, and its size is "
                    "not limited",
                    "Copy to audiences below a stated size, and read the larger ones at query "
                    "time.",
                    evidence=_fan_out_example(effect.entity),
                )
    for feed in facts.schema.feeds:
        if feed.mode != "fan_in" and feed.max_followers is None:
            yield Defect(
                feed,
                f"writes one {feed.item} for each follower of an author, and the number of "
                "followers is not limited",
                "Fan out below a stated number of followers, and read the posts of larger "
                "authors at query time.",
                evidence=_fan_out_example(feed.item),
            )


def _fan_out_example(item: str) -> Evidence:
    """What one post writes, as its audience grows."""
    rows = ((f"{readers:,} readers", f"{readers:,} {item}") for readers in (100, 10_000, 1_000_000))
    return keys_example("one post writes, for", *rows)


@rule("S7", "audience-ambiguous", "error", "The design does not say who receives a copy")
def audience_ambiguous(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        if feed.mode == "hybrid" and not feed.recorded and not facts.schema.enforced:
            yield Defect(
                feed,
                "copies the posts of some authors and reads those of others, but does not say "
                "what happens when an author changes groups: posts are lost or appear twice",
                f"Record on each {feed.post} whether it was copied, read both ways, and drop "
                "duplicates.",
                evidence=steps_example(
                    f"an author has few followers: {_first(facts, feed.post)} is copied to each",
                    "the author has many: a reader pulls the author's posts",
                    so="the post is both pushed and pulled",
                ),
            )


def _first(facts: Reach, name: str) -> str:
    entity = facts.schema.by_entity.get(name)
    return item_name(entity) if entity else name


@rule("S8", "copy-incomplete", "warning", "A copy lacks what its view shows")
def copy_incomplete(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        post, item = (facts.schema.by_entity.get(name) for name in (feed.post, feed.item))
        if post is None or item is None or not item.attributes:
            continue
        lacking = _missing_fields(post, item)
        if lacking:
            yield Defect(
                feed,
                f"lacks {', '.join(lacking)}, which {feed.post} has: the same post looks "
                "different, or needs a read for each row",
                f"Copy {', '.join(lacking)} too.",
                (item,),
                subject=f"{feed.item} of {feed.name}",
                evidence=keys_example(
                    "one post",
                    (item_name(post), f"has {', '.join(lacking)}"),
                    (item_name(item), "has none of these"),
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
                    f"shows {', '.join(absent)}, which {name} does not hold",
                    f"Copy {', '.join(absent)} from {copy.source}.",
                    (entity,),
                    evidence=keys_example(
                        f"{pattern.name} returns",
                        (item_name(entity), f"without {', '.join(absent)}"),
                    ),
                )


def _missing_fields(post: EntitySchema, item: EntitySchema) -> list[str]:
    keyed = post.key.fields if post.key else ()
    stamps = [a.field for a in post.attributes if a.field in keyed]
    return [
        a.field for a in post.attributes if a.field not in item.by_field and a.field not in stamps
    ]


@rule("S10", "cap-without-mechanism", "warning", "Nothing enforces a stated cap")
def cap_without_mechanism(facts: Reach) -> Iterator[Defect]:
    for feed in facts.schema.feeds:
        if feed.cap is not None and not feed.trimmed_by:
            yield Defect(
                feed,
                f"keeps the last {feed.cap:,} items, but nothing removes older ones: TTL goes by "
                "age, not by number",
                "Declare what removes them, such as a consumer that deletes items beyond the cap.",
                evidence=steps_example(
                    f"{feed.item} {feed.cap:,} of one reader is written: {feed.cap:,} are there",
                    f"{feed.item} {feed.cap + 1:,} is written, nothing is deleted: "
                    f"{feed.cap + 1:,} are there",
                ),
            )
