"""People who use a former system while it is migrated: nothing they were promised is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

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


async def test_customers_order_while_the_orders_move_and_all_orders_arrive(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = former()
    with open_data(tmp_path / "demo.db") as engine:
        client, near = AsyncEmbeddedClient(engine), EmbeddedClient(engine)
        for missing in await incomplete_systems(client, [one]):
            await fill(client, missing)
        before = count(near, f"{one.prefix}SellersOrders")
        backend = backend_of(near, prefix=one.prefix)
        migrators = [Migrator(plan, backend, quiet=0.2) for plan in one.migrations]

        async def apply(to: Phase) -> None:
            for migrator in migrators:
                await asyncio.to_thread(migrator.apply, to, wait=lambda: True)

        async with traffic.customers(client, [one]):
            assert count(near, f"{one.prefix}SellersOrders") == before, "nobody orders yet"
            await apply("verify")
            await asyncio.sleep(2 * traffic.EVERY_SECONDS)
            await apply("hold")
            held = count(near, f"{one.prefix}SellersOrdersBySeason")
            while count(near, f"{one.prefix}SellersOrdersBySeason") < held + 4:
                await asyncio.sleep(traffic.EVERY_SECONDS)
        for migrator in migrators:
            migrator.items.copier("old").catch_up()
        orders = count(near, f"{one.prefix}SellersOrders")
        assert orders >= before + 4
        assert count(near, f"{one.prefix}SellersOrdersBySeason") == orders
    assert not caplog.messages, "no customer was refused"
