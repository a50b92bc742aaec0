"""A plain FastAPI application of twenty lines migrates without a second copy of anything."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from keyfold import Design, Entity, Id, Index, Key, On, Query
from keyfold.migrations import Migration, Migrator, Phase, add, backend_of, move, remove
from keyfold_engine.clients import connect
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer
from keyfold_web.application import DesignInApp

from . import plain_shop

before, after = Design("shop-before"), Design("shop")
indexed = before.table(
    "Orders", partition="orderId", sort=None, indexes=[Index("by-season", "seasonId")]
)


class OldOrder(Entity, table=indexed):
    order_id: Id
    season_id: str
    total: int
    key = Key("{order_id}")
    by_season = On("by-season", "{season_id}")


class Order(Entity, table=after.table("SeasonOrders")):
    order_id: Id
    season_id: str
    total: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


@before.pattern(requests=1)
def old_orders(season_id: str) -> Query[OldOrder]:
    """The orders of a season."""
    return OldOrder.by_season.query(season_id=season_id)


@after.pattern(requests=1)
def orders(season_id: str) -> Query[Order]:
    """The orders of a season."""
    return Order.key.query(season_id=season_id).consistent()


migration = Migration(
    "by-season",
    [
        add(Order.__table__.schema),
        move(OldOrder, Order),
        remove(OldOrder.__table__.schema),
    ],
)


@asynccontextmanager
async def process(address: str, design: Design, *parts: Any, **how: Any) -> AsyncIterator[Any]:
    """One process of the application, with connections of its own."""
    database = DesignInApp(design, address, create_tables=False, **how)
    app = plain_shop.shop(database, *parts)
    async with database.lifespan(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
            yield client


async def sell(placed: list[str], processes: list[httpx.AsyncClient], until: asyncio.Event) -> None:
    """Customers come to any process; what they ordered in one, they see in all."""
    while not until.is_set():
        for number, at in enumerate(processes):
            answer = await at.post("/seasons/s/orders", params={"total": number})
            assert answer.status_code == 200, answer.text
            placed.append(answer.json()["orderId"])
            for other in processes:
                seen = [one["orderId"] for one in (await other.get("/seasons/s/orders")).json()]
                assert sorted(seen) == sorted(placed)
        await asyncio.sleep(0.01)


def test_the_application_has_twenty_lines() -> None:
    lines = inspect.getsource(plain_shop).splitlines()
    assert len([one for one in lines if one.strip() and not one.startswith('"""')]) <= 20


@pytest.fixture
def address() -> Iterator[str]:
    with Engine.open(":memory:") as engine, BackgroundServer(engine) as server:
        yield server.url


async def test_customers_notice_nothing_of_a_move(address: str) -> None:
    before.open(address, create_tables=True).close()
    migrator = Migrator(migration, backend_of(connect(address)))
    placed: list[str] = []

    async def apply(to: Phase, *processes: httpx.AsyncClient) -> None:
        """While customers order."""
        done = asyncio.Event()
        selling = asyncio.create_task(sell(placed, list(processes), done))
        await asyncio.to_thread(migrator.apply, to)
        done.set()
        await selling

    async with process(address, before, OldOrder, old_orders) as today:
        await apply("verify", today)
    client = connect(address)

    def copied() -> bool:
        return bool(client.call("Scan", {"TableName": "SeasonOrders"})["Count"] == len(placed))

    migrator.follow(copied)
    following = {"migration": migration}
    async with (
        process(address, after, Order, orders, **following) as one,
        process(address, after, Order, orders, **following) as other,
    ):
        await apply("hold", one, other)
        await apply("contract", one, other)
    assert len(placed) >= 5
    async with process(address, after, Order, orders) as tomorrow:
        found = (await tomorrow.get("/seasons/s/orders")).json()
        assert sorted(order["orderId"] for order in found) == sorted(placed)


async def test_an_application_that_comes_too_early_is_refused(address: str) -> None:
    before.open(address, create_tables=True).close()
    async with process(address, after, Order, orders, migration=migration) as early:
        answer = await early.get("/seasons/s/orders")
        assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE")
