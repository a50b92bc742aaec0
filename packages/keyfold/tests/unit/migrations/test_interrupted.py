"""A migrator that dies at any of its requests: it goes on, or back, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from keyfold.design.schema import Index
from keyfold.errors import Drifted, Irreversible, Pending
from keyfold.migrations import Backend, Migration, Migrator, ScanPace, add, remove
from keyfold.migrations.state import Overtaken
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

from .conftest import OldOrder, Order, Shop, after, before, new_table, old_table, order_move

BY_TOTAL = Index("total-index", "seasonId", "total", sort_type="N")


MOMENTS = (*range(40), *range(40, 1000, 4))
"""Each request of the first phases, in which tables are made, and some of all the others."""


class Died(BaseException):
    """The process ended."""


class Mortal(Backend):
    """A backend of a process that dies before its n-th request."""

    def __init__(self, client: EmbeddedClient, requests: int) -> None:
        super().__init__(client)
        self._left, self._lock = requests, threading.Lock()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            self._left -= 1
        if self._left < 0:
            raise Died
        return super().call(operation, request)


@pytest.fixture(autouse=True)
def quiet_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)


@contextmanager
def small_shop() -> Iterator[Shop]:
    with Engine.open(":memory:") as engine:
        client = EmbeddedClient(engine)
        backend = Backend(client)
        old = before.open(client)
        for number in range(3):
            old.put(OldOrder(order_id=f"o{number}", season_id="s", total=number))
        live = backend.live("Orders")
        assert live is not None
        migration = Migration(
            "orders-by-season",
            [
                add(new_table.schema),
                add(BY_TOTAL, "Orders"),
                order_move(),
                remove(old_table.schema),
            ],
            expects={"Orders": live},
        )
        yield Shop(engine, backend, old, after.open(client, create_tables=False), migration)


def dies(shop: Shop, requests: int) -> bool:
    mortal = Mortal(EmbeddedClient(shop.engine), requests)
    try:
        Migrator(
            shop.migration, mortal, pace=ScanPace(segments=1, page=2), without_routers=True
        ).apply("contract")
    except Died:
        return True
    return False


def test_apply_goes_on_wherever_it_died() -> None:
    for requests in MOMENTS:
        with small_shop() as shop:
            expected = shop.expected_items()
            died = dies(shop, requests)
            assert shop.migrator().apply("contract").phase == "contract", requests
            assert shop.new_items() == expected, requests
            assert shop.backend.describe("Orders") is None
            if not died:
                return
    raise AssertionError("it never came to its end")


def test_rollback_leaves_the_old_side_as_it_was_wherever_apply_died() -> None:
    irreversible = 0
    for requests in MOMENTS:
        with small_shop() as shop:
            orders, live = list(shop.old.scan(OldOrder)), shop.backend.live("Orders")
            if not dies(shop, requests):
                assert irreversible
                return
            store = shop.migrator().store
            store.prepare()
            contracting = store.load().contracting
            try:
                shop.migrator().rollback()
            except Irreversible:
                # What cannot be taken back has begun: there is only forward.
                assert contracting, requests
                irreversible += 1
                assert shop.migrator().apply("contract").phase == "contract", requests
                continue
            assert not contracting, requests
            assert list(shop.old.scan(OldOrder)) == orders, requests
            assert shop.backend.live("Orders") == live, requests
            assert shop.backend.describe("SeasonOrders") is None, requests
    raise AssertionError("it never came to its end")


def test_a_rollback_that_died_is_finished_and_loses_nothing() -> None:
    for requests in MOMENTS:
        with small_shop() as shop:
            live = shop.backend.live("Orders")
            shop.migrator().apply("hold")
            shop.new.create(Order(season_id="s9", order_id="late", cents=700))
            shop.new.delete(Order.key(season_id="s", order_id="o1"))
            mortal = Mortal(EmbeddedClient(shop.engine), requests)
            died = False
            try:
                Migrator(
                    shop.migration, mortal, pace=ScanPace(segments=1, page=2), without_routers=True
                ).rollback()
            except Died:
                died = True
            # Somebody may have changed their mind before it is finished.
            with suppress(Pending):
                shop.migrator().apply("hold")
            shop.migrator().rollback()
            left = {(order.order_id, order.total) for order in shop.old.scan(OldOrder)}
            assert left == {("o0", 0), ("o2", 2), ("late", 7)}, requests
            assert shop.backend.live("Orders") == live, requests
            assert shop.backend.describe("SeasonOrders") is None, requests
            if not died:
                return
    raise AssertionError("it never came to its end")


def test_rollback_keeps_tables_and_indexes_that_were_there_before(shop: Shop) -> None:
    add(new_table.schema).apply(shop.backend)
    add(BY_TOTAL, "Orders").apply(shop.backend)
    shop.new.create(Order(season_id="s0", order_id="earlier", cents=1))
    steps = [add(BY_TOTAL, "Orders"), *shop.migration.steps]
    shop.migration = Migration(shop.migration.name, steps)
    said: list[str] = []
    shop.migrator(say=said.append).apply("expand")
    assert sum("already" in words for words in said) == 2
    shop.migrator().rollback()
    assert shop.new.get(Order.key(season_id="s0", order_id="earlier")).cents == 1
    live = shop.backend.live("Orders")
    assert live is not None
    assert live.index("total-index") is not None


def test_a_plan_that_never_ran_takes_nothing_away(shop: Shop) -> None:
    add(new_table.schema).apply(shop.backend)
    shop.migrator().rollback()
    assert shop.backend.describe("SeasonOrders") is not None


def test_rollback_needs_the_steps_that_were_taken(shop: Shop) -> None:
    shop.migrator().apply("backfill")
    shop.migration = Migration(shop.migration.name, [order_move()])
    with pytest.raises(Drifted, match="other steps"):
        shop.migrator().rollback()
    assert shop.backend.describe("SeasonOrders") is not None


def apply_twice_at_once(shop: Shop) -> int:
    """How many of two migrators were refused because of the other."""
    together = threading.Barrier(2)

    def apply() -> int:
        migrator = shop.migrator()
        together.wait()
        try:
            migrator.apply("hold")
        except Overtaken:
            return 1
        return 0

    with ThreadPoolExecutor(2) as pool:
        return sum(done.result() for done in [pool.submit(apply) for _ in range(2)])


def test_two_processes_that_apply_at_once_bring_everything_over() -> None:
    for _ in range(6):
        with small_shop() as shop:
            expected = shop.expected_items()
            assert apply_twice_at_once(shop) < 2
            assert shop.migrator().apply("contract").phase == "contract"
            assert shop.new_items() == expected
