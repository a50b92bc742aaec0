"""Feeds: the cost of a page and a post, by the share of follows whose authors are flagged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from keyfold.design.flow import Action
from keyfold.design.schema import Effect, EntitySchema, FeedSchema
from keyfold.maintain.feed.edges import FOLLOWERS_AT_ONCE
from keyfold.maintain.feed.page import FIRST_READ
from keyfold_engine.limits import BATCH_GET_ITEMS
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.item import APPEARS, item_read, item_write, items_query
from keyfold_workbench.cost.part import Part, Store, times


@dataclass(frozen=True)
class FeedPage:
    """One page of a feed."""

    parts: tuple[Part, ...]
    requests: float

    @property
    def units(self) -> float:
        """Read units."""
        return sum(part.units for part in self.parts)


def page(figures: Figures, feed: FeedSchema) -> FeedPage | None:
    """The cost of a reader's page; None for a feed that the design does not maintain itself."""
    if not figures.schema.enforced:
        return None
    item, post = figures.schema.by_entity[feed.item], figures.schema.by_entity[feed.post]
    edge, load = figures.schema.by_entity[feed.edge], figures.feed(feed)
    sources, pushed = figures.sources(feed), pushed_share(figures, feed)
    parts = [items_query(figures, edge, sources, "feed", page=sources + 1)]
    for other in feed.edges[1:]:
        parts.append(items_query(figures, figures.schema.by_entity[other], 0, "feed"))
    requests = float(len(parts))
    if feed.flag:
        flag = figures.schema.by_entity[feed.flag]
        units = sources * figures.read_units(flag, consistent=False)
        parts.append(Part(Store(flag.table), flag.name, units, "feed", True))
        requests += ceil(sources / BATCH_GET_ITEMS)
    if pushed:
        copied = min(load.page + 1, figures.matched(item, _partition(item)))
        parts.append(_half(items_query(figures, item, copied, "feed", page=copied + 1)))
        requests += 1
    asked = sources * (1 - pushed)
    taken = min(FIRST_READ, load.page, figures.matched(post, _partition(post)))
    parts += times([_half(items_query(figures, post, taken, "feed", page=taken + 1))], asked)
    return FeedPage(tuple(parts), requests + asked)


def _half(part: Part) -> Part:
    """The same read, eventually consistent."""
    return replace(part, units=part.units / 2)


def pushed_share(figures: Figures, feed: FeedSchema) -> float:
    """The share of follows whose authors are flagged, as the workload states it."""
    return (figures.feed(feed).pushed or 0.0) if feed.flag or not figures.schema.enforced else 0.0


def _partition(entity: EntitySchema) -> tuple[str, ...]:
    return entity.key.partition.fields if entity.key else ()


def follow(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    """The stream's work for a feed after a post."""
    for feed in figures.posting(entity):
        item = figures.schema.by_entity.get(feed.item)
        if item is None or feed.mode == "fan_in":
            continue
        if not figures.schema.enforced:
            if effect.action in APPEARS:
                yield from times(_copies(figures, item, "put"), figures.followers(feed))
            continue
        yield item_read(figures, figures.schema.by_entity[feed.flag], "feed")
        copied = figures.followers(feed) * pushed_share(figures, feed)
        if copied:
            yield _listed_followers(figures, feed, copied)
            if effect.action == "delete":
                yield from times(_copies(figures, item, "delete"), copied)
            else:
                looks = 2 * ceil(copied / FOLLOWERS_AT_ONCE)
                yield from times([item_read(figures, entity, "feed")], looks)
                yield from times(_copies(figures, item, "put"), copied)


def _copies(figures: Figures, item: EntitySchema, action: Action) -> Iterator[Part]:
    return item_write(figures, item, Effect(action, item.name), "feed")


def _listed_followers(figures: Figures, feed: FeedSchema, count: float) -> Part:
    """The followers of one source, from the edge's index or its second item."""
    edge = figures.schema.by_entity[feed.edge]
    index = edge.placements[0].index if edge.placements else ""
    return items_query(figures, edge, count, "feed", index, page=FOLLOWERS_AT_ONCE)
