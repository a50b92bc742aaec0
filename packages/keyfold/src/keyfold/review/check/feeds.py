"""S, continued: feeds and copies. Who gets a post, with what, at which price, and for how long?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import (
    ConsumerSchema,
    Effect,
    EntitySchema,
    FeedSchema,
    OperationSchema,
    Schema,
)
from keyfold.review.check.domains import DESIGN, FEEDS
from keyfold.review.check.field_facts import mentions
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule


@rule("S6", DESIGN)
def fan_out_amplification(schema: Schema) -> Iterator[Found]:
    spread = {feed.item for feed in schema.feeds}
    stated = () if schema.enforced else schema.operations
    writers: tuple[OperationSchema | ConsumerSchema, ...] = (*stated, *schema.consumers)
    for writer in writers:
        case = "audience" if isinstance(writer, ConsumerSchema) else "operation"
        for effect in writer.effects:
            if effect.entity not in spread and _is_copied_to_readers(schema, effect):
                yield hit(case, element=writer, item=effect.entity)
    for feed in schema.feeds:
        if feed.mode != "fan_in" and feed.max_followers is None:
            yield hit("followers", element=feed, item=feed.item)


def _is_copied_to_readers(schema: Schema, effect: Effect) -> bool:
    """Whether an effect makes an item for each reader."""
    entity = schema.by_entity.get(effect.entity)
    if entity is None or not effect.each or effect.action not in ("put", "create"):
        return False
    return entity.role == "feed_item" or mentions(entity.name, "copied")


@rule("S7", FEEDS, enforced=False)
def audience_ambiguous(feed: FeedSchema) -> bool:
    return feed.mode == "hybrid" and not feed.recorded


@rule("S8", DESIGN)
def copy_incomplete(facts: Reach, schema: Schema) -> Iterator[Found]:
    for feed in schema.feeds:
        post, item = (schema.by_entity.get(name) for name in (feed.post, feed.item))
        lacking = _missing_fields(post, item) if post and item and item.attributes else []
        if lacking:
            yield hit("item", element=feed, entity=item, fields=lacking)
    for pattern in schema.patterns:
        for name in pattern.entities:
            entity = schema.by_entity.get(name)
            copy = facts.copy(entity) if entity else None
            if entity is None or copy is None:
                continue
            absent = [field for field in pattern.shows if field not in entity.by_field]
            if absent:
                yield hit(
                    "shown", element=pattern, entity=entity, fields=absent, source=copy.source
                )


def _missing_fields(post: EntitySchema, item: EntitySchema) -> list[str]:
    keyed = post.key.fields if post.key else ()
    stamps = [a.field for a in post.attributes if a.field in keyed]
    return [
        a.field for a in post.attributes if a.field not in item.by_field and a.field not in stamps
    ]


@rule("S10", FEEDS)
def cap_without_mechanism(feed: FeedSchema) -> bool:
    return feed.cap is not None and not feed.trimmed_by
