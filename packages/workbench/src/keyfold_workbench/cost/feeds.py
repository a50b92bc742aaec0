"""Feeds: the cost of a page, a post and a follow, by the share of pushed follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, exp
from statistics import NormalDist
from typing import Final

from keyfold.design.schema import Effect, EntitySchema, FeedSchema
from keyfold_engine.limits import BATCH_GET_ITEMS
from keyfold.maintain.feed.edges import FOLLOWERS_AT_ONCE
from keyfold.maintain.feed.heads import SHORT_BYTES
from keyfold.maintain.feed.page import FIRST_READ, HINTS_FROM
from keyfold.maintain.feed.policy import (
    MEMORY,
    EdgeRates,
    FadingCount,
    FeedPolicy,
    FeedPrices,
    born,
    sample_share,
)
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.item import APPEARS, item_read, item_write, items_query
from keyfold_workbench.cost.part import Part, Store, times
from keyfold_engine.values.units import read_units, write_units

DAY_SECONDS: Final = 86_400
FEED_DAYS: Final = 30.0
PARTS: Final = 20
READING_SPREAD: Final = 1.0
POSTING_SPREAD: Final = 1.6
PACKED: Final = 0.4
"""The compressed size of a copy in a head, for texts of a few sentences."""


@dataclass(frozen=True)
class FeedPage:
    """One page of a feed."""

    parts: tuple[Part, ...]
    requests: float
    """Those that read; a counted page has one more, which writes."""
    counted: float = 0.0
    """The share of pages that are counted."""

    @property
    def units(self) -> float:
        """Read units."""
        return sum(part.units for part in self.parts if part.reading)

    @property
    def write_units(self) -> float:
        return sum(part.units for part in self.parts if not part.reading)


def page(figures: Figures, feed: FeedSchema) -> FeedPage | None:
    """The cost of a reader's page; None for a feed that the design does not maintain itself."""
    item, post = figures.schema.by_entity.get(feed.item), figures.schema.by_entity[feed.post]
    source, removed = figures.support(feed, "Source"), figures.support(feed, "Removed")
    hint = figures.support(feed, "Hint")
    if item is None or source is None or hint is None:
        return None
    load = figures.feed(feed)
    pulled = figures.sources(feed) * (1 - pushed_share(figures, feed))
    copied = min(load.page + 1, figures.matched(item, _partition(item)))
    parts = [
        items_query(figures, item, copied, "feed", page=copied + 1),
        items_query(figures, source, pulled, "feed", page=pulled + 1),
    ]
    requests, asked = 2.0, pulled
    if removed is not None:
        gone, first = figures.items(removed) / (feed.replicas or 1), feed.listed or 1
        parts.append(items_query(figures, removed, min(gone, first), "feed", page=first))
        requests += 1
        if gone >= first:
            shown = min(load.page, copied)
            units = shown * figures.read_units(post, consistent=True)
            parts.append(Part(Store(post.table), post.name, units, "feed", True))
            requests += 1
    if feed.heads:
        parts.append(_head_reads(figures, feed, pulled))
        asked = min(pulled, _beyond_heads(figures, feed))
        requests += ceil(pulled / BATCH_GET_ITEMS)
    # Hints cost half a unit each: they pay if less than half of the sources is on a page.
    elif pulled > HINTS_FROM and load.page < pulled / 2:
        units = pulled * figures.read_units(hint, consistent=False)
        parts.append(Part(Store(hint.table), hint.name, units, "feed", True))
        asked = load.page
        requests += ceil(pulled / BATCH_GET_ITEMS)
    taken = min(FIRST_READ, load.page, figures.matched(post, _partition(post)))
    once = items_query(figures, post, taken, "feed", page=taken + 1)
    parts += times([once], asked)
    counted = _counted_share(figures, feed, pulled)
    if (reader := figures.support(feed, "Reader")) is not None:
        count = item_write(figures, reader, Effect("put", reader.name), "feed")
        parts += times(count, counted)
    return FeedPage(tuple(parts), requests + asked, counted)


def pushed_share(figures: Figures, feed: FeedSchema) -> float:
    """The share of pushed follows: stated, or what the policy decides for the rates."""
    stated = figures.feed(feed).pushed
    if stated is not None or feed.item not in figures.schema.by_entity:
        return stated or 0.0
    pages, posts = _daily(figures, feed)
    share = _pushed_share(pages, posts, _prices(figures, feed))
    figures.assume(
        f"{share:.0%} of the follows of the feed {feed.name} are pushed, as its policy decides for "
        f"{pages:.2g} pages of a reader and {posts:.2g} posts of a source a day"
    )
    return share


def _counted_share(figures: Figures, feed: FeedSchema, pulled: float) -> float:
    """The share of a known reader's pages that are counted."""
    pages, posts = _daily(figures, feed)
    copies = posts * (figures.sources(feed) - pulled)
    return sample_share(FeedPolicy(), _prices(figures, feed), pulled, copies, pages, MEMORY)


def _daily(figures: Figures, feed: FeedSchema) -> tuple[float, float]:
    """Pages of a reader and posts of a source, a day."""
    follows = figures.items(figures.schema.by_entity[feed.edge])
    readers = follows / max(1.0, figures.sources(feed))
    authors = follows / max(1.0, figures.followers(feed))
    posted = sum(
        write.rate or 0.0
        for write in figures.writes
        for effect in write.effects
        if effect.entity == feed.post and effect.action in APPEARS
    )
    pages = figures.feed_rate(feed).average * DAY_SECONDS / max(1.0, readers)
    return pages, posted * DAY_SECONDS / max(1.0, authors)


def _prices(figures: Figures, feed: FeedSchema) -> FeedPrices:
    return FeedPrices(figures.item_bytes(figures.schema.by_entity[feed.item]), FEED_DAYS)


@cache
def _pushed_share(pages: float, posts: float, prices: FeedPrices) -> float:
    """Readers and sources vary lognormally, as people do."""
    policy, pushed = FeedPolicy(), 0
    for reading in _spread(pages, READING_SPREAD):
        for posting in _spread(posts, POSTING_SPREAD):
            rates = EdgeRates(FadingCount(reading, 1.0), FadingCount(posting, 1.0), prices=prices)
            pushed += born(rates, policy) == "push"
    return pushed / PARTS**2


def _spread(mean: float, sigma: float) -> list[float]:
    """Quantiles of equal weight."""
    normal = NormalDist(0.0, sigma)
    middle = [normal.inv_cdf((part + 0.5) / PARTS) for part in range(PARTS)]
    return [mean * exp(one - sigma**2 / 2) for one in middle]


def _beyond_heads(figures: Figures, feed: FeedSchema) -> float:
    """The sources of a reader with more on a page than a head holds, which are queried too."""
    held = min(feed.heads or 0, SHORT_BYTES // _entry_bytes(figures, feed))
    sources = figures.sources(feed)
    shown = _spread(figures.feed(feed).page / max(1.0, sources), POSTING_SPREAD)
    return sources * sum(1 for one in shown if one > held) / PARTS


def _entry_bytes(figures: Figures, feed: FeedSchema) -> int:
    return ceil(PACKED * figures.item_bytes(figures.schema.by_entity[feed.item]))


def _head_bytes(figures: Figures, feed: FeedSchema) -> int:
    """With its hint one write unit at most, if few pull it; a stated size includes both."""
    hint = _support(figures, feed, "Hint")
    if (stated := figures.load(hint).bytes) is not None:
        return stated
    entries = (feed.heads or 0) * _entry_bytes(figures, feed)
    return min(SHORT_BYTES, figures.item_bytes(hint) + entries)


def _head_reads(
    figures: Figures, feed: FeedSchema, count: float = 1.0, *, consistent: bool = True
) -> Part:
    """Hints with their heads, read by key."""
    hint = _support(figures, feed, "Hint")
    units = count * read_units(_head_bytes(figures, feed), consistent=consistent)
    return Part(Store(hint.table), hint.name, units, "feed", True)


def _head_write(figures: Figures, feed: FeedSchema) -> Part:
    hint = _support(figures, feed, "Hint")
    units = write_units(_head_bytes(figures, feed))
    return Part(Store(hint.table), hint.name, units, "feed")


def _refresh(figures: Figures, feed: FeedSchema, post: EntitySchema) -> Iterator[Part]:
    """Compares a head with its source's newest posts."""
    yield _head_reads(figures, feed)
    yield items_query(figures, post, (feed.heads or 0) + 1, "feed", page=(feed.heads or 0) + 2)


def _partition(entity: EntitySchema) -> tuple[str, ...]:
    return entity.key.partition.fields if entity.key else ()


def follow(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    """The stream's work for a feed after a post or a follow."""
    for feed in figures.posting(entity):
        item = figures.schema.by_entity.get(feed.item)
        if item is None or feed.mode == "fan_in":
            continue
        if figures.support(feed, "Hint") is None:
            if effect.action in APPEARS:
                yield from times(_copies(figures, item), figures.followers(feed))
        elif effect.action == "delete":
            yield from _remove(figures, feed, item)
        else:
            yield from _post(figures, feed, entity, item, effect)
    for feed in figures.followed_by(entity):
        item = figures.schema.by_entity.get(feed.item)
        if item is not None and figures.support(feed, "Hint") is not None:
            yield from _follow(figures, feed, entity, item, effect)


def _copies(figures: Figures, item: EntitySchema) -> Iterator[Part]:
    return item_write(figures, item, Effect("put", item.name), "feed")


def _support(figures: Figures, feed: FeedSchema, kind: str) -> EntitySchema:
    entity = figures.support(feed, kind)
    assert entity is not None, f"the feed {feed.name} has no {kind}"
    return entity


def _one(figures: Figures, feed: FeedSchema, kind: str, *, gone: bool = False) -> Part:
    return item_read(figures, _support(figures, feed, kind), "feed", gone=gone)


def _eventual_read(figures: Figures, feed: FeedSchema, kind: str, count: float = 1.0) -> Part:
    """An eventually consistent read of small items."""
    entity = _support(figures, feed, kind)
    units = count * figures.read_units(entity, consistent=False)
    return Part(Store(entity.table), entity.name, units, "feed", True)


def _listed_followers(figures: Figures, feed: FeedSchema) -> Part:
    """The followers of one source, from the edge's index or its second item."""
    edge = figures.schema.by_entity[feed.edge]
    count = figures.followers(feed)
    index = edge.placements[0].index if edge.placements else ""
    return items_query(figures, edge, count, "feed", index, page=FOLLOWERS_AT_ONCE)


def _listed_subscribers(figures: Figures, feed: FeedSchema) -> Part:
    """The followers who get copies of a source."""
    entity = figures.support(feed, "Subscription") or figures.schema.by_entity[feed.edge]
    count = figures.followers(feed) * pushed_share(figures, feed)
    return items_query(figures, entity, count, "feed", page=FOLLOWERS_AT_ONCE)


def _post(
    figures: Figures, feed: FeedSchema, post: EntitySchema, item: EntitySchema, effect: Effect
) -> Iterator[Part]:
    """Reads the hint, and copies to all subscribers; some look back."""
    hint = _support(figures, feed, "Hint")
    if feed.heads:
        yield _head_write(figures, feed)
        if effect.action in APPEARS:
            # Read before the write, and again when the record arrives.
            yield _head_reads(figures, feed, 2, consistent=False)
        else:
            yield from _refresh(figures, feed, post)
    elif effect.action in APPEARS:
        yield from item_write(figures, hint, Effect("update", hint.name), "feed")
    yield _eventual_read(figures, feed, "Hint")
    yield _listed_subscribers(figures, feed)
    copied = figures.followers(feed) * pushed_share(figures, feed)
    if not copied:
        return
    yield from times(_copies(figures, item), copied)
    yield from times([item_read(figures, post, "feed")], 1 + ceil(copied / FOLLOWERS_AT_ONCE))
    yield _eventual_read(figures, feed, "Reader", copied / FeedPolicy.looks)
    yield _eventual_read(figures, feed, "Crowd", min(1.0, copied / FeedPolicy.looks))


def _remove(figures: Figures, feed: FeedSchema, item: EntitySchema) -> Iterator[Part]:
    """Deletes a removed post's copies by key, and once more when it is settled."""
    count, pushed = figures.followers(feed), pushed_share(figures, feed)
    yield from times([_listed_followers(figures, feed), _listed_subscribers(figures, feed)], 2)
    gone = item_write(figures, item, Effect("delete", item.name), "feed")
    yield from times(gone, count * pushed)
    # Subscribers come twice, and all once more: one unit each, even if nothing is stored.
    yield Part(Store(item.table), item.name, count * (2 + pushed), "feed")
    if feed.heads:
        yield from times(_refresh(figures, feed, figures.schema.by_entity[feed.post]), 2)
        yield _head_write(figures, feed)
    settlement, removed = _support(figures, feed, "Settlement"), figures.support(feed, "Removed")
    yield from item_write(figures, settlement, Effect("put", settlement.name), "feed")
    yield items_query(figures, settlement, 1, "feed")
    yield from item_write(figures, settlement, Effect("delete", settlement.name), "feed")
    if removed is not None:
        entry = item_write(figures, removed, Effect("delete", removed.name), "feed")
        yield from times(entry, feed.replicas or 1)


def _follow(
    figures: Figures, feed: FeedSchema, edge: EntitySchema, item: EntitySchema, effect: Effect
) -> Iterator[Part]:
    """Reads and decides a follow, or cleans up after an unfollow."""
    pushed = pushed_share(figures, feed)
    source = _support(figures, feed, "Source")
    post = figures.schema.by_entity[feed.post]
    posts = min(float(feed.cap or 1000), figures.matched(post, _partition(post)))
    if effect.action == "delete":
        copies = figures.matched(item, _partition(item))
        everything = items_query(figures, item, copies, "feed", page=copies + 1)
        yield item_read(figures, edge, "feed", gone=True)
        yield _one(figures, feed, "Source")
        # The mark is read when it is created, and when it gets its expiry.
        listing = _one(figures, feed, "Subscription", gone=not pushed)
        yield from times([_one(figures, feed, "Source"), listing, everything], 2)
        yield _one(figures, feed, "Reader")
        gone = item_write(figures, item, Effect("delete", item.name), "feed")
        yield from times(gone, posts * pushed)
        yield from item_write(figures, source, Effect("update", source.name), "feed")
        return
    yield item_read(figures, edge, "feed")
    if effect.action not in APPEARS:
        return
    yield from times([_one(figures, feed, "Source")], 2)
    yield _eventual_read(figures, feed, "Hint")
    yield _eventual_read(figures, feed, "Reader")
    yield _eventual_read(figures, feed, "Crowd")
    # The mark stores both counts, or is deleted once the copies exist.
    yield from item_write(figures, source, Effect("update", source.name), "feed")
    if not pushed:
        return
    subscription = _support(figures, feed, "Subscription")
    shown = min(posts, figures.feed(feed).page / max(1.0, figures.sources(feed)))
    settled = [*item_write(figures, subscription, Effect("put", subscription.name), "feed")]
    settled += times([items_query(figures, post, shown, "feed", page=posts + 1)], 2)
    settled += times(_copies(figures, item), max(1.0, shown))
    yield from times(settled, pushed)
