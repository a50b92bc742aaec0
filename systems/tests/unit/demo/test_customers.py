"""People who use a former system while it is migrated: nothing they were promised is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keyfold.migrations import Migrator, Phase, backend_of
from keyfold_demo import customers as traffic
from keyfold_demo.data import fill, incomplete_systems, open_data
from keyfold_demo.systems import FormerSystem, find_systems
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient


def former() -> FormerSystem:
    (found,) = [one.before for one in find_systems() if one.before is not None]
    return found


def count(client: EmbeddedClient, table: str) -> int:
    answer = client.call("Scan", {"TableName": table, "Select": "COUNT"})
    return int(answer["Count"])


async def test_customers_order_while_the_orders_move_and_all_orders_arrive(tmp_path: Path) -> None:
    one = former()
    with open_data(tmp_path / "demo.db") as engine:
        client, near = AsyncEmbeddedClient(engine), EmbeddedClient(engine)
        for missing in await incomplete_systems(client, [one]):
            await fill(client, missing)
        before = count(near, f"{one.prefix}SellersOrders")
        (plan,) = one.migrations
        migrator = Migrator(plan, backend_of(near, prefix=one.prefix), quiet=0.2)

        async def apply(to: Phase) -> None:
            await asyncio.to_thread(migrator.apply, to, wait=lambda: True)

        async with traffic.customers(client, [one]):
            assert count(near, f"{one.prefix}SellersOrders") == before, "nobody orders yet"
            await apply("verify")
            await asyncio.sleep(2 * traffic.EVERY_SECONDS)
            await apply("hold")
            await asyncio.sleep(4 * traffic.EVERY_SECONDS)
        migrator.items.copier("old").catch_up()
        orders = count(near, f"{one.prefix}SellersOrders")
        assert orders > before
        # Each order has a pointer beside it on the new side.
        assert count(near, f"{one.prefix}SellersOrdersBySeason") == 2 * orders
