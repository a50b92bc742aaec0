"""The tables of today with the demo's data: to be migrated while customers order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from itertools import cycle

from keyfold import AsyncDb, Entity, new_ulid
from keyfold_systems.sellers import current, demo, migration
from keyfold_systems.sellers.current import design
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.values import LineItem

__all__ = ["PREFIX", "as_today", "design", "fill", "migrations", "orders", "today", "tomorrow"]

PREFIX = "before-"
"""In front of the names of these tables."""
migrations = (migration.seasons, migration.orders)
Use = Callable[[], Awaitable[object]]


def as_today(record: Entity) -> Entity:
    """A record of the proposed design, as that of today has it."""
    kind: type[Entity] = getattr(current, type(record).__name__)
    return kind(**{one: getattr(record, one) for one in kind.model_fields if hasattr(record, one)})


async def fill(db: AsyncDb) -> int:
    """The data of the demo, in the tables of today."""
    found = demo.records(db.context.now())
    await db.put_many([as_today(one) for one in found])
    return len(found)


def orders(records: list[Entity], customer: str) -> Iterator[Callable[[datetime], Order]]:
    """Orders of one product in one season after the other, for ever."""
    catalogs = {one.catalog_id: one for one in records if isinstance(one, Catalog)}
    for season in cycle([one for one in records if isinstance(one, Season)]):
        product = catalogs[season.catalog_id].products[0]
        line = LineItem(**{**dict(product), "price_per_unit": product.price, "quantity": 1})

        def ordered(at: datetime, season: Season = season, line: LineItem = line) -> Order:
            return Order(
                season_id=season.season_id,
                order_id=new_ulid(),
                profile_id=season.profile_id,
                customer_name=customer,
                total_amount=line.subtotal,
                payment_method="CASH",
                line_items=[line],
                order_date=at.date(),
                created_at=at,
            )

        yield ordered


def today(db: AsyncDb, records: list[Entity] | None = None) -> Use:
    """Each call is an order, taken by the application of today."""
    wanted = orders(records or demo.records(db.context.now()), "A customer of today")
    return lambda: db.create(as_today(next(wanted)(db.context.now())))


def tomorrow(db: AsyncDb, records: list[Entity] | None = None) -> Use:
    """The same by the application of tomorrow, which follows the migration."""
    wanted = orders(records or demo.records(db.context.now()), "A customer of tomorrow")
    return lambda: db.create(next(wanted)(db.context.now()))
