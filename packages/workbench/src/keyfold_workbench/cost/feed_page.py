"""The cost of a page of a feed, by the share of follows whose authors are flagged."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from keyfold.design.schema import EntitySchema, FeedSchema
from keyfold.maintain.feed.page import FIRST_READ
from keyfold_engine.limits import BATCH_GET_ITEMS
from keyfold_workbench.cost.charge import Part, Store
from keyfold_workbench.cost.design_numbers import DesignNumbers


@dataclass(frozen=True)
class FeedPage:
    """One page of a feed."""

    parts: tuple[Part, ...]
    requests: float

    @property
    def units(self) -> float:
        """Read units."""
        return sum(part.units for part in self.parts)


def page(figures: DesignNumbers, feed: FeedSchema) -> FeedPage | None:
    """The cost of a reader's page; None for a feed that the design does not maintain itself."""
    if not figures.schema.enforced:
        return None
    item, post = figures.schema.by_entity[feed.item], figures.schema.by_entity[feed.post]
    load, sources = figures.feed(feed), figures.sources(feed)
    pushed = (load.pushed or 0.0) if feed.flag else 0.0
    followed = [figures.schema.by_entity[name] for name in feed.edges or (feed.edge,)]
    parts = [
        _read(edge, figures.many_read_units(edge, 0.0 if place else sources, consistent=True))
        for place, edge in enumerate(followed)
    ]
    requests = float(len(parts))
    if feed.flag:
        flag = figures.schema.by_entity[feed.flag]
        parts.append(_read(flag, sources * figures.read_units(flag, consistent=False)))
        requests += ceil(sources / BATCH_GET_ITEMS)
    if pushed:
        copied = min(load.page + 1, figures.matched(item, _partition(item)))
        parts.append(_read(item, figures.many_read_units(item, copied, consistent=False)))
        requests += 1
    pulled = sources * (1 - pushed)
    taken = min(FIRST_READ, load.page, figures.matched(post, _partition(post)))
    each = figures.many_read_units(post, taken, consistent=False)
    parts.append(_read(post, pulled * each))
    return FeedPage(tuple(part for part in parts if part.units), requests + pulled)


def _read(entity: EntitySchema, units: float) -> Part:
    return Part(Store(entity.table), entity.name, units, "feed", reading=True)


def _partition(entity: EntitySchema) -> tuple[str, ...]:
    return entity.key.partition.fields if entity.key else ()
