"""`keyfold api` goes on serving while its tables change: a process of its own, real HTTP."""

from __future__ import annotations

import asyncio
import importlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyfold.migrations import Migrator, backend_of
from keyfold_engine.clients import connect
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer

SHOP = '''
from typing import ClassVar

from keyfold import AsyncDb, Design, Entity, Id, Key, Query
from keyfold_web import Service, anyone, mutation, query
from keyfold.migrations import (Migration, add, move, remove)

before, after = Design("shop-before"), Design("shop")


class OldOrder(Entity, table=before.table("Orders", partition="orderId", sort=None)):
    order_id: Id
    season_id: str
    total: int
    key = Key("{order_id}")


class Order(Entity, table=after.table("SeasonOrders")):
    order_id: Id
    season_id: str
    total: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


@after.pattern(requests=1)
def orders_of_season(season_id: str) -> Query[Order]:
    """The orders of a season."""
    return Order.key.query(season_id=season_id).consistent()


class Shop(Service):
    """Orders."""

    design: ClassVar[Design] = after

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    @mutation("/orders/{order_id}", allow=anyone, method="PUT")
    async def place(self, order_id: str, season_id: str, total: int) -> Order:
        """Place an order."""
        return await self.db.put(Order(order_id=order_id, season_id=season_id, total=total))

    @query("/seasons/{season_id}/orders", allow=anyone)
    async def orders(self, season_id: str) -> list[str]:
        """The orders of a season."""
        return [order.order_id for order in (await orders_of_season(self.db, season_id)).items]


by_season = Migration(
    "by-season",
    [
        add(Order.__table__.schema),
        move(OldOrder, Order),
        remove(OldOrder.__table__.schema),
    ],
)
'''


@pytest.fixture
def address() -> Iterator[str]:
    with Engine.open(":memory:") as engine, BackgroundServer(engine) as server:
        yield server.url


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "served_shop.py").write_text(SHOP)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("served_shop")


@contextmanager
def served(folder: Path, address: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "keyfold", "api", "served_shop:Shop", "--port", str(port)]
    options = ["--backend", address, "--development", "--migration", "served_shop:by_season"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, *options], cwd=folder, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}", process, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/ready").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())


async def order(client: httpx.AsyncClient, placed: list[str], until: asyncio.Event) -> None:
    """Customers order, and see at once what was ordered."""
    while not until.is_set():
        name = f"n{len(placed)}"
        answer = await client.put(f"/shop/orders/{name}", json={"seasonId": "s", "total": 7})
        assert answer.status_code == 200, answer.text
        placed.append(name)
        seen = await client.get("/shop/seasons/s/orders")
        assert sorted(seen.json()) == sorted(placed)
        await asyncio.sleep(0.02)


async def test_a_served_application_goes_on_while_reads_and_writes_change_sides(
    tmp_path: Path, address: str, shop: Any
) -> None:
    old = shop.before.open(address, create_tables=True)
    placed = [f"o{number}" for number in range(30)]
    for name in placed:
        old.create(shop.OldOrder(order_id=name, season_id="s", total=1))
    # It waits for routers: the process that serves has to report.
    migrator = Migrator(shop.by_season, backend_of(connect(address)), quiet=0.0)
    migrator.apply("verify")
    with served(tmp_path, address) as url:
        async with httpx.AsyncClient(base_url=url) as client:
            done = asyncio.Event()
            ordering = asyncio.create_task(order(client, placed, done))
            working = partial(migrator.apply, "hold", wait=lambda: not ordering.done())
            reached = await asyncio.to_thread(working)
            if ordering.done():
                await ordering
            assert (reached.phase, reached.writes) == ("hold", "new")
            await asyncio.to_thread(migrator.apply, "contract")
            count = len(placed)
            while len(placed) < count + 3 and not ordering.done():
                await asyncio.sleep(0.02)
            done.set()
            await ordering
    assert len(placed) > 33
    assert "Orders" not in connect(address).call("ListTables", {})["TableNames"]
