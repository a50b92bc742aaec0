"""The side that an application uses, while a migration goes from phase to phase."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold.migrations import Router, SyncRouter
from keyfold.migrations import router as router_module

from .conftest import OldOrder, Order, Shop


@pytest.fixture
async def client(shop: Shop) -> AsyncIterator[AsyncEmbeddedClient]:
    client = AsyncEmbeddedClient(shop.engine)
    yield client
    client._threads.shutdown()


@pytest.fixture
def router(shop: Shop, client: AsyncEmbeddedClient, monkeypatch: pytest.MonkeyPatch) -> Router:
    monkeypatch.setattr(router_module, "ROUTER_REFRESH", 0.01)
    return Router(client, shop.migration.name)


async def sides(router: Router, caller: str = "") -> tuple[str, str]:
    await asyncio.sleep(0.02)
    async with router.reading(caller) as read, router.writing() as written:
        return read, written


async def apply(shop: Shop, phase: Any) -> None:
    await asyncio.to_thread(shop.migrator().apply, phase)


async def test_before_any_migration_everything_is_old(shop: Shop, router: Router) -> None:
    assert await sides(router) == ("old", "old")


async def test_sides_follow_the_phases_and_the_way_back(shop: Shop, router: Router) -> None:
    shop.old_order("o1")
    seen = {}
    for phase in ("backfill", "verify", "switch-reads", "switch-writes", "hold"):
        working = asyncio.create_task(keep_asking(router))
        await apply(shop, phase)
        await stop(working)
        seen[phase] = await sides(router)
    assert seen == {
        "backfill": ("old", "old"),
        "verify": ("old", "old"),
        "switch-reads": ("new", "old"),
        "switch-writes": ("new", "new"),
        "hold": ("new", "new"),
    }
    working = asyncio.create_task(keep_asking(router))
    await asyncio.to_thread(shop.migrator().rollback)
    await stop(working)
    assert await sides(router) == ("old", "old")


async def keep_asking(router: Router) -> None:
    while True:
        async with router.writing("x"):
            pass
        await asyncio.sleep(0.005)


async def one_write(router: Router) -> str:
    async with router.writing("x") as side:
        return side


async def stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_who_wrote_reads_its_own_write_until_the_copy_has_arrived(
    shop: Shop, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    await apply(shop, "switch-reads")
    async with router.writing("ada"):
        shop.old_order("o1")
    assert await sides(router, "ada") == ("old", "old")
    assert await sides(router, "bo") == ("new", "old")
    monkeypatch.setattr(router_module, "MARGIN_SECONDS", -0.001)
    await asyncio.sleep(0.15)
    await asyncio.to_thread(shop.migrator().items.copier("new").drain)
    assert await sides(router, "ada") == ("new", "old")


async def test_reads_go_where_writes_go_when_copying_stands_still(
    shop: Shop, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    await apply(shop, "switch-reads")
    assert await sides(router) == ("new", "old")
    monkeypatch.setattr(router_module, "STALE_SECONDS", -1.0)
    assert await sides(router) == ("old", "old")


async def test_writes_do_not_change_sides_under_a_running_write(shop: Shop, router: Router) -> None:
    await apply(shop, "switch-reads")
    finish = asyncio.Event()

    async def long_write() -> None:
        async with router.writing("ada") as side:
            assert side == "old"
            await finish.wait()
            shop.old_order("late", 9)

    writing = asyncio.create_task(long_write())
    asking = asyncio.create_task(keep_asking(router))
    await asyncio.sleep(0.05)
    switching = asyncio.create_task(apply(shop, "hold"))
    await asyncio.sleep(0.5)
    assert not switching.done()
    finish.set()
    await writing
    await switching
    await stop(asking)
    assert shop.new_items() == shop.expected_items()


async def test_writes_wait_while_sides_change_and_go_back_when_the_migrator_is_gone(
    shop: Shop, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    await apply(shop, "switch-reads")
    migrator = shop.migrator()
    migrator.store.change(migrator.store.load(), closed=True)
    assert not router._routing.state.closed
    monkeypatch.setattr(router_module, "PATIENCE_SECONDS", 0.1)
    await asyncio.sleep(0.02)
    async with router.writing("ada") as side:
        assert side == "old"
    assert not migrator.store.load().closed


def test_threads_follow_the_phases_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router_module, "ROUTER_REFRESH", 0.01)
    router = SyncRouter(shop.backend.client, shop.migration.name)
    stopped = threading.Event()
    written: list[str] = []

    def write() -> None:
        number = 0
        while not stopped.is_set():
            number += 1
            with router.writing("ada") as side:
                key = f"{threading.get_ident()}-{number}"
                if side == "old":
                    shop.old_order(key)
                else:
                    shop.new.create(Order(season_id="s1", order_id=key, cents=100))
                written.append(key)
            with router.reading("ada") as side:
                if side == "old":
                    shop.old.get(OldOrder.key(order_id=key))
                else:
                    shop.new.get(Order.key(season_id="s1", order_id=key))
            stopped.wait(0.002)

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(write) for _ in range(3)]
        shop.migrator().apply("hold")
        shop.migrator().rollback()
        shop.migrator().apply("hold")
        stopped.set()
        for job in jobs:
            job.result()
    assert {order.order_id for order in shop.new.scan(Order)} == set(written)


async def test_writes_go_on_as_soon_as_the_migrator_that_holds_them_is_silent(
    shop: Shop, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    await apply(shop, "switch-reads")
    monkeypatch.setattr(router_module, "PATIENCE_SECONDS", float("inf"))
    migrator = shop.migrator()
    migrator.store.note_switching(1, patience=1e9)
    migrator.store.change(migrator.store.load(), closed=True)
    await asyncio.sleep(0.3)
    async with router.writing("ada") as side:
        assert side == "old"
    assert not migrator.store.load().closed


async def test_writes_wait_for_a_migrator_that_is_alive_as_long_as_it_asked(
    shop: Shop, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    await apply(shop, "switch-reads")
    monkeypatch.setattr(router_module, "PATIENCE_SECONDS", float("inf"))
    migrator = shop.migrator()
    copier = migrator.items.copier("new")
    copier.switching = 1.5
    copier.poll()
    migrator.store.change(migrator.store.load(), closed=True)
    await asyncio.sleep(0.3)
    writing = asyncio.create_task(one_write(router))
    while not writing.done():
        await asyncio.to_thread(copier.poll)
        await asyncio.sleep(0.02)
    assert await writing == "old"
    assert copier._beats > 8  # it was heard long after a silent one is given up
    assert not migrator.store.load().closed
