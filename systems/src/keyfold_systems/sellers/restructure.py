"""The restructuring to watch: `python -m keyfold_systems.sellers.restructure [FILE]`.

The state before, the migrations while orders come in, and the state after. Other tools can look
at the file when it is done.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import cycle
from pathlib import Path

from keyfold import AsyncDb, Design, Entity, new_ulid
from keyfold.migrations import Migration, Migrator, Phase, backend_of
from keyfold_engine.clients import Client, connect
from keyfold_systems.sellers import current, demo, mapping, migration
from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.patterns import order_by_id
from keyfold_systems.sellers.payloads import NewOrder, OrderLine
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.values import LineItem, Product
from keyfold_web import Identity

Say = Callable[[str], None]
Place = Callable[[Season, Product], Awaitable[str]]
"""Takes an order of one product in a season; gives its id."""
MOVES = (migration.profiles, migration.seasons, migration.orders)
IN_PLACE = (migration.accounts, migration.catalogs)


@dataclass
class Traffic:
    """Customers who order all the while, and what they were promised."""

    wishes: Sequence[tuple[Season, Product]]
    promised: list[str] = field(default_factory=list[str])
    slowest: float = 0.0

    @asynccontextmanager
    async def by(self, place: Place) -> AsyncGenerator[None, None]:
        """Orders come in meanwhile; one that fails ends everything."""
        done = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._order(place, done))
            try:
                yield
            finally:
                done.set()

    async def _order(self, place: Place, done: asyncio.Event) -> None:
        for season, product in cycle(self.wishes):
            if done.is_set():
                return
            started = time.monotonic()
            self.promised.append(await place(season, product))
            self.slowest = max(self.slowest, time.monotonic() - started)
            await asyncio.sleep(0.005)


def wishes(records: Sequence[Entity]) -> list[tuple[Season, Product]]:
    """Everything that can be ordered: each product of each season's catalog."""
    catalogs = {one.catalog_id: one for one in records if isinstance(one, Catalog)}
    seasons = [one for one in records if isinstance(one, Season)]
    return [(s, p) for s in seasons for p in catalogs[s.catalog_id].products]


def today(db: AsyncDb) -> Place:
    """As much of the application of today as takes an order."""

    async def place(season: Season, product: Product) -> str:
        new = one_order(db, season, product, "A customer of today")
        await db.create(mapping.order_back(new))
        return new.order_id

    return place


def one_order(db: AsyncDb, season: Season, product: Product, customer: str) -> Order:
    """One of a product, paid at the door."""
    line = LineItem(
        product_id=product.product_id,
        product_name=product.product_name,
        quantity=1,
        price_per_unit=product.price,
    )
    return Order(
        order_id=new_ulid(),
        season_id=season.season_id,
        profile_id=season.profile_id,
        customer_name=customer,
        line_items=[line],
        total_amount=line.subtotal,
        payment_method="CASH",
        order_date=date(2026, 3, 1),
        created_at=db.context.now(),
    )


def tomorrow(db: AsyncDb) -> Place:
    """The service of this package."""
    service, clerk = Sellers(db), Identity.of("u-root", "admin")

    async def place(season: Season, product: Product) -> str:
        new = NewOrder(
            season_id=season.season_id,
            customer_name="A customer of tomorrow",
            line_items=[OrderLine(product_id=product.product_id, quantity=1)],
            payment_method="CASH",
            order_date=date(2026, 3, 1),
        )
        return (await service.create_order(new, clerk)).order_id

    return place


async def run(file: Path, say: Say, records: Sequence[Entity] | None = None) -> Traffic:
    """All of it; gives the traffic that there was."""
    found = demo.records() if records is None else records
    traffic = Traffic(wishes(found))
    client = connect(str(file))
    before = await current.design.open_async(str(file))
    await before.put_many([mapping.back(one) for one in found])
    _show(say, "Before", current.design, client)

    async def apply(to: Phase, *plans: Migration) -> None:
        for plan in plans:
            migrator = Migrator(
                plan,
                backend_of(client),
                # What stays in its table, both applications read and write alike.
                without_routers=plan in IN_PLACE,
                quiet=1.0,
                say=lambda text: say(f"  {text}"),
            )
            await asyncio.to_thread(migrator.apply, to, wait=lambda: True)

    say("The application of today takes orders, while everything is copied and compared:")
    async with traffic.by(today(before)):
        await apply("contract", *IN_PLACE)
        await apply("verify", *MOVES)
    say(f"{len(traffic.promised)} orders. That of tomorrow takes its place:")
    after = await design.open_async(str(file), migration=MOVES)
    async with traffic.by(tomorrow(after)):
        await apply("hold", *MOVES)
        await apply("contract", *MOVES)
    _show(say, "After", design, client)
    lost = [one for one in traffic.promised if await order_by_id(after, one) is None]
    say(
        f"{len(traffic.promised)} orders were taken meanwhile. {len(lost)} are lost, none was "
        f"refused, the slowest took {traffic.slowest:.1f} s."
    )
    await before.close()
    await after.close()
    client.close()
    return traffic


def _show(say: Say, when: str, declared: Design, client: Client) -> None:
    indexes = [index for one in declared.schema.tables for index in one.indexes]
    local = sum(index.local for index in indexes)
    tables = declared.schema.tables
    say(f"{when}: {len(tables)} tables, {len(indexes) - local} global and {local} local indexes.")
    for table in tables:
        described = client.call("DescribeTable", {"TableName": table.name})["Table"]
        items = described["ItemCount"]
        say(f"  {table.name:<26}{items:>6} items")


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(run(Path(sys.argv[1]), print))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder) / "sellers.db", print))


if __name__ == "__main__":
    main()
