"""The tables of today beside those of the demo: to be migrated in the studio while orders come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import cycle

from keyfold import AsyncDb
from keyfold_systems.sellers import demo, mapping, migration
from keyfold_systems.sellers import restructure as traffic
from keyfold_systems.sellers.current import design

__all__ = ["PREFIX", "design", "fill", "migrations", "today", "tomorrow"]

PREFIX = "before-"
"""In front of the names of these tables."""
migrations = (migration.orders,)
Use = Callable[[], Awaitable[object]]


async def fill(db: AsyncDb) -> int:
    """The town of the demo, as the design of today keeps it."""
    found = demo.records()
    await db.put_many([mapping.back(one) for one in found])
    return len(found)


def today(db: AsyncDb) -> Use:
    """Each call is an order, taken by the application of today."""
    place, wanted = traffic.today(db), cycle(traffic.wishes(demo.records()))
    return lambda: place(*next(wanted))


def tomorrow(db: AsyncDb) -> Use:
    """The same by the application of tomorrow, which follows the migration."""
    wanted = cycle(traffic.wishes(demo.records()))

    async def order() -> None:
        await db.create(traffic.one_order(db, *next(wanted), "A customer of tomorrow"))

    return order
