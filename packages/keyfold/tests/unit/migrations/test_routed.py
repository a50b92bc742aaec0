"""One application, opened with its migration; old ones go on beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from keyfold import Db, create, update
from keyfold.errors import (
    ConditionFailed,
    CursorRefused,
    NotFound,
    Pending,
    TableNotFound,
    Unavailable,
)
from keyfold.migrations import Migrator, follower
from keyfold.migrations.double_write import OutOfStep
from keyfold_engine.clock import ManualClock

from .conftest import OldOrder, Order, OrderById, Shop, after, before, old_season, season
from .shelves import Lent

SECRET = b"a secret of sixteen bytes or more"


@contextmanager
def following(migrator: Migrator) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=migrator.follow, args=(stop.is_set,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)


@contextmanager
def reading(db: Db) -> Iterator[None]:
    """An application that goes on, until its tables are taken away."""
    stop = threading.Event()

    def read() -> None:
        with suppress(Pending, TableNotFound):
            while not stop.wait(0.05):
                db.find(Order.key(season_id="s1", order_id="o1"))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)


def test_the_new_side_is_refused_until_it_is_complete(shop: Shop) -> None:
    shop.old_order("o1")
    shop.migrator().apply("backfill")
    new = after.open(shop.backend.client, migration=shop.migration)
    with pytest.raises(Pending, match="from verify on"):
        new.get(Order.key(season_id="s1", order_id="o1"))


def test_two_applications_of_two_designs_see_each_others_writes(shop: Shop) -> None:
    for number in range(5):
        shop.old_order(f"o{number}", total=number)
    shop.migrator().apply("verify")
    one = after.open(shop.backend.client, migration=shop.migration)
    two = after.open(shop.backend.client, migration=shop.migration)
    with following(shop.migrator()):
        one.create(Order(season_id="s1", order_id="new", cents=700))
        assert two.get(Order.key(season_id="s1", order_id="new")).cents == 700
        assert two.get(OrderById.key(order_id="new")).season_id == "s1"
        assert shop.old.get(OldOrder.key(order_id="new")).total == 7
        two.update(Order.key(season_id="s1", order_id="o3"), cents=900)
        assert shop.old.get(OldOrder.key(order_id="o3")).total == 9
        one.delete(Order.key(season_id="s1", order_id="o4"))
        with pytest.raises(NotFound):
            shop.old.get(OldOrder.key(order_id="o4"))
        shop.old_order("o1", total=55)
        one.update(Order.key(season_id="s1", order_id="o1"), cents=5600)
        assert shop.old.get(OldOrder.key(order_id="o1")).total == 56
    shop.migrator().apply("hold")
    assert shop.new_items() == shop.expected_items()


def test_conditions_and_transactions_answer_as_ever(shop: Shop) -> None:
    shop.old_order("o1", total=1)
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    key = Order.key(season_id="s1", order_id="o1")
    with pytest.raises(ConditionFailed):
        new.update(key, cents=5, where=lambda o: o.cents == 3)
    with pytest.raises(ConditionFailed):
        new.transact(
            create(Order(season_id="s2", order_id="o2", cents=1)),
            update(key, cents=5, where=lambda o: o.cents == 3),
        )
    assert shop.old.find(OldOrder.key(order_id="o2")) is None
    new.transact(create(Order(season_id="s2", order_id="o2", cents=200)), update(key, cents=500))
    assert shop.old.get(OldOrder.key(order_id="o2")).total == 2
    assert shop.old.get(OldOrder.key(order_id="o1")).total == 5
    item = Order.__spec__.encode(Order(season_id="s3", order_id="m2", cents=2))
    batch = {"RequestItems": {"SeasonOrders": [{"PutRequest": {"Item": item}}]}}
    assert new.client.call("BatchWriteItem", batch) == {"UnprocessedItems": {}}
    assert shop.old.get(OldOrder.key(order_id="m2")).season_id == "s3"


def test_apply_goes_on_when_the_application_reports_and_old_writers_are_gone(shop: Shop) -> None:
    said: list[str] = []
    shop.old_order("o1")
    cautious = shop.migrator(without_routers=False, say=said.append, quiet=0.5)
    assert cautious.apply("hold").phase == "verify"
    new = after.open(shop.backend.client, migration=shop.migration)
    new.create(Order(season_id="s1", order_id="o2", cents=200))
    shop.old_order("late")
    looks: list[int] = []

    def wait() -> bool:
        looks.append(1)
        new.find(Order.key(season_id="s1", order_id="o2"))
        return len(looks) < 60

    assert cautious.apply("hold", wait=wait).phase == "hold"
    assert any("does not follow the migration still writes: Orders orderId=late" in s for s in said)
    new.update(Order.key(season_id="s1", order_id="late"), cents=4200)
    assert new.get(Order.key(season_id="s1", order_id="late")).cents == 4200
    assert shop.old.get(OldOrder.key(order_id="late")).total == 1
    with reading(new):
        shop.migrator().rollback()
    assert shop.old.get(OldOrder.key(order_id="late")).total == 42


def test_back_at_verify_applications_go_on_until_those_of_before_are_there(shop: Shop) -> None:
    shop.old_order("o1", total=1)
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    key = Order.key(season_id="s1", order_id="o1")
    with reading(new):
        shop.migrator().apply("hold")
        new.update(key, cents=200)  # on the new side alone
        assert shop.migrator().rollback("verify").phase == "verify"
    assert shop.old.get(OldOrder.key(order_id="o1")).total == 2
    new.update(key, cents=300)  # on both
    assert shop.old.get(OldOrder.key(order_id="o1")).total == 3
    with following(shop.migrator()):
        shop.old_order("o2", total=7)  # by the application of before
        while new.find(Order.key(season_id="s1", order_id="o2")) is None:
            time.sleep(0.02)
    assert new.get(key).cents == 300
    assert shop.migrator().rollback().phase == "planned"
    found = {one.order_id: one.total for one in shop.old.scan(OldOrder)}
    assert found == {"o1": 3, "o2": 7}


@pytest.mark.parametrize("batch", [False, True])
def test_a_delete_of_an_item_that_is_on_its_way_has_an_effect(shop: Shop, batch: bool) -> None:
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    new.find(Order.key(season_id="s1", order_id="o1"))
    shop.old_order("o1")  # by the application of before
    with following(shop.migrator()):
        if batch:
            delete = {"DeleteRequest": {"Key": Order.key(season_id="s1", order_id="o1").wire()}}
            new.client.call("BatchWriteItem", {"RequestItems": {"SeasonOrders": [delete]}})
        else:
            new.delete(Order.key(season_id="s1", order_id="o1"))
        assert shop.old.find(OldOrder.key(order_id="o1")) is None
        shop.migrator().items.copier("new").catch_up()
        assert shop.old.find(OldOrder.key(order_id="o1")) is None
        assert new.find(Order.key(season_id="s1", order_id="o1")) is None


def test_a_delete_of_nothing_is_not_acknowledged_while_nobody_copies(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "_TRIES", 2)
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    with pytest.raises(Unavailable, match="may not have been copied yet"):
        new.delete(Order.key(season_id="s1", order_id="o1"))


def test_an_item_is_not_written_over_one_that_is_on_its_way(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutOfStep, "pause", 0.0)
    follower = shop.migrator()
    follower.apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    shop.old_order("o1", total=1)
    with pytest.raises(Unavailable, match="the two sides have differed for too long"):
        new.put(Order(season_id="s1", order_id="o1", cents=200))
    rounds = iter([False] * 4 + [True])
    follower.follow(lambda: next(rounds))
    new.put(Order(season_id="s1", order_id="o1", cents=200))
    assert shop.old.get(OldOrder.key(order_id="o1")).total == 2


def test_writes_go_back_to_the_old_side_while_an_application_writes(shop: Shop) -> None:
    for number in range(10):
        shop.old_order(f"o{number}", total=1)
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    new.get(Order.key(season_id="s1", order_id="o1"))  # it reports
    cents = {f"o{number}": 100 for number in range(10)}
    done = threading.Event()

    def trade() -> None:
        for turn in range(1 << 30):
            if done.is_set():
                return
            time.sleep(0.03)
            order_id = f"o{turn % 12}"
            key = Order.key(season_id="s1", order_id=order_id)
            if order_id not in cents:
                new.create(Order(season_id="s1", order_id=order_id, cents=700))
                cents[order_id] = 700
            elif turn % 5 == 4:
                new.delete(key)
                del cents[order_id]
            else:
                cents[order_id] = 100 * (turn % 90)
                new.update(key, cents=cents[order_id])

    trader = threading.Thread(target=trade)
    trader.start()
    shop.migrator().apply("hold")
    assert shop.migrator(settle=0.5).rollback("verify").phase == "verify"
    done.set()
    trader.join(20)
    found = {one.order_id: one.total * 100 for one in shop.old.scan(OldOrder)}
    assert found == cents
    shop.migrator().apply("hold")
    assert {one.order_id: one.cents for one in new.scan(Order)} == cents


def test_a_rollback_that_died_before_the_switch_is_forgotten_by_the_next_apply(
    shop: Shop,
) -> None:
    shop.old_order("o1", total=1)
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    key = Order.key(season_id="s1", order_id="o1")
    with reading(new):
        migrator = shop.migrator()
        migrator.apply("hold")
        migrator.store.change(migrator.store.load(), doubled=True)
        time.sleep(0.3)  # until the application has read it
        new.update(key, cents=200)
        assert shop.old.get(OldOrder.key(order_id="o1")).total == 2
        shop.migrator().apply("hold")
        new.update(key, cents=300)
        assert shop.old.get(OldOrder.key(order_id="o1")).total == 2
        shop.migrator().rollback("verify")
        assert shop.old.get(OldOrder.key(order_id="o1")).total == 3


def test_a_write_that_waits_for_the_other_side_notices_the_switch(shop: Shop) -> None:
    shop.old_order("o1")
    shop.migrator().apply("verify")
    key = Order.key(season_id="s1", order_id="o1")
    # By its clock no time passes, so that it acts by what it has read.
    late = after.open(shop.backend.client, migration=shop.migration, clock=ManualClock(time.time()))
    late.get(key)
    shop.migrator().apply("hold")
    other = after.open(shop.backend.client, migration=shop.migration)
    other.update(key, cents=900)  # on the new side alone
    late.update(key, cents=1000)
    assert other.get(key).cents == 1000
    shop.migrator().apply("contract")


def test_the_old_side_stays_until_nobody_writes_it_any_more(shop: Shop) -> None:
    shop.old_order("o1")
    shop.migrator().apply("verify")
    key = Order.key(season_id="s1", order_id="o1")
    clock = ManualClock(time.time())
    late = after.open(shop.backend.client, migration=shop.migration, clock=clock)
    late.get(key)
    shop.migrator().apply("hold")
    contract = threading.Thread(target=lambda: shop.migrator().apply("contract"))
    contract.start()
    contract.join(1.0)
    assert contract.is_alive()
    late.update(key, cents=1000)  # on both sides
    clock.advance(1.0)
    late.update(key, cents=1100)
    contract.join(20)
    assert shop.migrator().status().state.phase == "contract"
    assert late.get(key).cents == 1100


async def test_from_an_event_loop_too(shop: Shop) -> None:
    from keyfold_engine.clients.embedded import AsyncEmbeddedClient

    shop.old_order("o1", total=1)
    shop.migrator().apply("verify")
    new = await after.open_async(AsyncEmbeddedClient(shop.engine), migration=shop.migration)
    await new.update(Order.key(season_id="s1", order_id="o1"), cents=300)
    assert shop.old.get(OldOrder.key(order_id="o1")).total == 3


def test_a_cursor_from_before_goes_on_where_it_was(shop: Shop) -> None:
    for number in range(8):
        shop.old_order(f"o{number}", total=number)
    old = before.open(shop.backend.client, cursor_secret=SECRET)
    first = old_season(old, "s1")
    assert [order.order_id for order in first] == ["o0", "o1", "o2"]
    shop.migrator().apply("hold")
    new = after.open(shop.backend.client, migration=shop.migration, cursor_secret=SECRET)
    second = season.after(str(first.cursor))(new, "s1")
    assert [order.order_id for order in second] == ["o3", "o4", "o5"]
    third = season.after(str(second.cursor))(new, "s1")
    assert [order.order_id for order in third] == ["o6", "o7"]


def test_a_cursor_from_before_opens_no_other_list(shop: Shop) -> None:
    for number in range(8):
        shop.old_order(f"o{number}", season=f"s{number % 2}")
    old = before.open(shop.backend.client, cursor_secret=SECRET)
    cursor = str(old_season(old, "s1").cursor)
    shop.migrator().apply("hold")
    followed = after.open(shop.backend.client, migration=shop.migration, cursor_secret=SECRET)
    with pytest.raises(CursorRefused):
        season.after(cursor)(followed, "s0")
    alone = after.open(shop.backend.client, create_tables=False, cursor_secret=SECRET)
    with pytest.raises(CursorRefused):
        season.after(cursor)(alone, "s1")


def test_a_cursor_from_before_is_refused_when_its_item_is_gone(shop: Shop) -> None:
    for number in range(8):
        shop.old_order(f"o{number}")
    old = before.open(shop.backend.client, cursor_secret=SECRET)
    cursor = str(old_season(old, "s1").cursor)
    old.delete(OldOrder.key(order_id="o2"))
    shop.migrator().apply("hold")
    new = after.open(shop.backend.client, migration=shop.migration, cursor_secret=SECRET)
    with pytest.raises(CursorRefused):
        season.after(cursor)(new, "s1")


def test_a_rollback_takes_nothing_away_while_somebody_still_writes_both_sides(shop: Shop) -> None:
    shop.old_order("o1", total=1)
    shop.migrator().apply("verify")
    key = Order.key(season_id="s1", order_id="o1")
    clock = ManualClock(time.time())
    late = after.open(shop.backend.client, migration=shop.migration, clock=clock)
    late.get(key)
    rollback = threading.Thread(target=lambda: shop.migrator().rollback())
    rollback.start()
    rollback.join(1.0)
    assert rollback.is_alive()
    late.update(key, cents=1000)  # on both sides
    clock.advance(1.0)
    with pytest.raises(Pending, match="rolling back"):
        late.update(key, cents=1100)
    rollback.join(20)
    assert shop.migrator().status().state.phase == "planned"
    assert shop.old.get(OldOrder.key(order_id="o1")).total == 10


def test_what_was_written_before_a_way_back_is_no_write_of_another_application(
    shop: Shop,
) -> None:
    shop.old_order("o1", total=1)
    shop.migrator().apply("verify")
    new = after.open(shop.backend.client, migration=shop.migration)
    key = Order.key(season_id="s1", order_id="o1")
    new.update(key, cents=200)  # on both
    with reading(new):
        shop.migrator().apply("hold")
        for cents in (300, 400, 500):
            new.update(key, cents=cents)  # on the new side alone
        shop.migrator().rollback("verify")
    new.update(key, cents=600)
    shop.migrator().items.copier("new").catch_up()
    before_that = shop.migrator().store.foreign()
    for cents in (700, 800):
        new.update(key, cents=cents)  # on both again
        shop.migrator().items.copier("new").catch_up()
    assert shop.migrator().store.foreign() == before_that
    shop.old_order("o1", total=9)
    shop.migrator().items.copier("new").catch_up()
    assert shop.migrator().store.foreign() != before_that


def test_a_migrator_does_not_wait_for_an_application_that_was_closed(shop: Shop) -> None:
    shop.migrator().apply("verify")
    store = shop.migrator().store
    new = after.open(Lent(shop.backend.client), migration=shop.migration)
    new.find(Order.key(season_id="s1", order_id="o1"))
    assert len(store.routers(shop.backend.clock.now())) == 1
    new.close()
    assert not store.routers(shop.backend.clock.now())
