"""Feeds: what a page, a post and a follow cost, by the share of sources that push copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from keyfold.design.schema import Effect, EntitySchema, FeedSchema
from keyfold.maintain.feed.edges import FOLLOWERS_AT_ONCE
from keyfold.maintain.feed.posting import TRIM_EVERY
from keyfold.maintain.feed.reading import FIRST_READ, HINTS_FROM
from keyfold.maintain.feed.support import REPLICAS
from keyfold.review.cost.figures import Figures
from keyfold.review.cost.item import APPEARS, checked, listed, looked_up, written
from keyfold.review.cost.part import Part, Store, in_transaction, times
from keyfold.values.units import read_units


@dataclass(frozen=True)
class FeedPage:
    """One page of a feed."""

    parts: tuple[Part, ...]
    requests: float

    @property
    def units(self) -> float:
        return sum(part.units for part in self.parts)


def page(figures: Figures, feed: FeedSchema) -> FeedPage | None:
    """What a reader's page costs; None for a feed that the design does not keep itself."""
    item, post = figures.schema.by_entity.get(feed.item), figures.schema.by_entity[feed.post]
    source, removed = figures.support(feed, "Source"), figures.support(feed, "Removed")
    hint = figures.support(feed, "Hint")
    if item is None or source is None or removed is None or hint is None:
        return None
    load = figures.feed(feed)
    pulled = figures.sources(feed) * (1 - load.pushed) * (1 - load.subscribed)
    copied = min(load.page + 1, figures.matched(item, _partition(item)))
    parts = [
        listed(figures, item, copied, "feed", page=copied + 1),
        listed(figures, source, pulled, "feed", page=pulled + 1),
        listed(figures, removed, figures.items(removed) / REPLICAS, "feed", page=10_000),
    ]
    requests = 3.0
    asked = pulled
    if pulled > HINTS_FROM:
        units = pulled * read_units(figures.item_bytes(hint), consistent=False)
        parts.append(Part(Store(hint.table), hint.name, units, "feed", True))
        asked = min(pulled, load.page)
        requests += ceil(pulled / 100)
    taken = min(FIRST_READ, load.page, figures.matched(post, _partition(post)))
    once = listed(figures, post, taken, "feed", page=taken + 1)
    parts += times([once], asked)
    return FeedPage(tuple(parts), requests + asked)


def _partition(entity: EntitySchema) -> tuple[str, ...]:
    return entity.key.partition.fields if entity.key else ()


def follow(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    """What the stream does for a feed after a post or a follow."""
    for feed in figures.posting(entity):
        item = figures.schema.by_entity.get(feed.item)
        if item is None or feed.mode == "fan_in":
            continue
        if figures.support(feed, "State") is None:
            if effect.action in APPEARS:
                yield from times(_copies(figures, item), figures.followers(feed))
        elif effect.action == "delete":
            yield from _removed(figures, feed, item)
        else:
            yield from _posted(figures, feed, entity, item, effect)
    for feed in figures.followed_by(entity):
        item = figures.schema.by_entity.get(feed.item)
        if item is not None and figures.support(feed, "State") is not None:
            yield from _followed(figures, feed, entity, item, effect)


def _copies(figures: Figures, item: EntitySchema) -> Iterator[Part]:
    return written(figures, item, Effect("put", item.name), "feed")


def _one(figures: Figures, feed: FeedSchema, kind: str, *, gone: bool = False) -> Part:
    entity = figures.support(feed, kind)
    assert entity is not None, f"the feed {feed.name} keeps no {kind}"
    return looked_up(figures, entity, "feed", gone=gone)


def _subscription(figures: Figures, feed: FeedSchema) -> Part:
    entity = figures.support(feed, "Subscription") or figures.schema.by_entity[feed.edge]
    return looked_up(figures, entity, "feed", gone=True)


def _listed_followers(figures: Figures, feed: FeedSchema) -> Part:
    """The followers of one source, from the edge's index or its second item."""
    edge = figures.schema.by_entity[feed.edge]
    count = figures.followers(feed)
    index = edge.placements[0].index if edge.placements else ""
    return listed(figures, edge, count, "feed", index, page=FOLLOWERS_AT_ONCE)


def _listed_subscribers(figures: Figures, feed: FeedSchema) -> Part:
    """The followers who get copies of a source that does not push."""
    entity = figures.support(feed, "Subscription") or figures.schema.by_entity[feed.edge]
    count = figures.followers(feed) * figures.feed(feed).subscribed
    return listed(figures, entity, count, "feed", page=FOLLOWERS_AT_ONCE)


def _posted(
    figures: Figures, feed: FeedSchema, post: EntitySchema, item: EntitySchema, effect: Effect
) -> Iterator[Part]:
    """Hint, state and post are looked at; copies go to all followers, or to subscribed ones."""
    if effect.action in APPEARS:
        hint = figures.support(feed, "Hint")
        assert hint is not None, f"the feed {feed.name} keeps no hints"
        yield from written(figures, hint, Effect("update", hint.name), "feed")
        yield _one(figures, feed, "Hint")
    load, count = figures.feed(feed), figures.followers(feed)
    yield _one(figures, feed, "State", gone=not load.pushed)
    yield looked_up(figures, post, "feed")
    yield _one(figures, feed, "Job", gone=True)
    yield from times([_listed_followers(figures, feed)], load.pushed)
    yield from times([_listed_subscribers(figures, feed)], 1 - load.pushed)
    copied = count * (load.pushed + (1 - load.pushed) * load.subscribed)
    yield from times(_copies(figures, item), copied)
    batches = max(1, ceil(copied / FOLLOWERS_AT_ONCE))
    yield from times([looked_up(figures, post, "feed")], batches)
    kept = min(float(feed.cap or 1000), figures.matched(item, _partition(item)))
    trimmed = listed(figures, item, kept, "feed", page=kept + 1)
    yield from times([trimmed], copied / TRIM_EVERY)


def _removed(figures: Figures, feed: FeedSchema, item: EntitySchema) -> Iterator[Part]:
    """A removed post's copies are deleted by their keys, whether they are there or not."""
    count, pushed = figures.followers(feed), figures.feed(feed).pushed
    yield _one(figures, feed, "Job", gone=True)
    yield _listed_followers(figures, feed)
    gone = written(figures, item, Effect("delete", item.name), "feed")
    yield from times(gone, count * pushed)
    yield from times([Part(Store(item.table), item.name, 1.0, "feed")], count * (1 - pushed))
    removed = figures.support(feed, "Removed")
    assert removed is not None, f"the feed {feed.name} keeps no removed posts"
    yield from times(written(figures, removed, Effect("delete", removed.name), "feed"), REPLICAS)


def _followed(
    figures: Figures, feed: FeedSchema, edge: EntitySchema, item: EntitySchema, effect: Effect
) -> Iterator[Part]:
    """A follow is looked at; of a source that pushes, all posts are copied. An unfollow cleans."""
    pushed = figures.feed(feed).pushed
    source = figures.support(feed, "Source")
    assert source is not None, f"the feed {feed.name} keeps no sources"
    post = figures.schema.by_entity[feed.post]
    posts = min(float(feed.cap or 1000), figures.matched(post, _partition(post)))
    copies = figures.matched(item, _partition(item))
    everything = listed(figures, item, copies, "feed", page=copies + 1)
    if effect.action == "delete":
        yield looked_up(figures, edge, "feed", gone=True)
        yield _one(figures, feed, "Source")
        # The mark is looked at when it is made, and when it is given its end.
        cleaned = [_one(figures, feed, "Source"), _subscription(figures, feed), everything]
        yield from times(cleaned, 2)
        gone = written(figures, item, Effect("delete", item.name), "feed")
        yield from times(gone, posts * pushed)
        yield from written(figures, source, Effect("update", source.name), "feed")
        return
    yield looked_up(figures, edge, "feed")
    if effect.action not in APPEARS:
        return
    yield _one(figures, feed, "Source")
    yield _subscription(figures, feed)
    yield _one(figures, feed, "State", gone=not pushed)
    if not pushed:
        return
    settled = [_one(figures, feed, "Source"), looked_up(figures, edge, "feed")]
    if edge.placements:
        settled += [looked_up(figures, edge, "feed")]
        settled += [listed(figures, edge, 1, "feed", edge.placements[0].index)]
    settled += times([listed(figures, post, posts, "feed", page=posts + 1)], 2)
    settled += times(_copies(figures, item), posts)
    settled += [everything]
    state = figures.support(feed, "State")
    assert state is not None, f"the feed {feed.name} keeps no states"
    ended = written(figures, source, Effect("delete", source.name), "feed")
    settled += in_transaction([*ended, checked(figures, edge), checked(figures, state)])
    yield from times(settled, pushed)
