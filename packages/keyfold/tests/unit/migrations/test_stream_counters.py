"""Numbers that a consumer counts, through a migration: with it, without it, and twice."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key
from keyfold.errors import Throttled
from keyfold.maintain import verify
from keyfold.migrations import Backend, Migration, Migrator, add, move, recount, remove
from keyfold.streams import Consumer
from keyfold.streams.pending_numbers import adding
from keyfold_engine.clients import Client, connect
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.limits import STREAM_RETENTION_SECONDS

from .shelves import Lent, Rekeyed

old = Design("shop")
old_table = old.table("OldShop", stream="NEW_AND_OLD_IMAGES")


class OldShelf(Entity, table=old_table, type_name="Shelf"):
    shelf: Id
    key = Key("SHELF#{shelf}", "SHELF")


class OldItem(Entity, table=old_table, type_name="Item"):
    item_id: Id
    shelf: str
    key = Key("ITEM#{item_id}", "ITEM")


new = Design("shop")
new_table = new.table("NewShop", stream="NEW_AND_OLD_IMAGES")


class Shelf(Entity, table=new_table):
    shelf: Id
    items: Annotated[int, Counter("Item", sync="stream")] = 0
    key = Key("SHELF#{shelf}", "SHELF")


class Item(Entity, table=new_table):
    item_id: Id
    shelf: str
    key = Key("SHELF#{shelf}", "ITEM#{item_id}")


def moved() -> Migration:
    steps: list[Any] = [add(new_table.schema), move(OldShelf, Shelf), move(OldItem, Item)]
    return Migration("again", [*steps, remove(old_table.schema)], between=(old, new))


@pytest.fixture
def client() -> Client:
    client = connect(":memory:")
    db = old.open(client)
    db.create(OldShelf(shelf="a"))
    for number in range(10):
        db.create(OldItem(item_id=str(number), shelf="a"))
    return client


def migrator(client: Client) -> Migrator:
    return Migrator(moved(), Backend(client), without_routers=True)


def run_consumer(db: Db) -> None:
    consumer = Consumer(db)
    for _ in range(3):
        consumer.drain()
    consumer.close()


def attributes(client: Client, table: str) -> set[str]:
    return {name for item in client.call("Scan", {"TableName": table})["Items"] for name in item}


@pytest.mark.parametrize("consumed", [True, False])
def test_what_is_rolled_back_and_migrated_again_is_counted_once(
    client: Client, consumed: bool
) -> None:
    before = attributes(client, "OldShop")
    migrator(client).apply("hold")
    if consumed:
        run_consumer(new.open(client, migration=moved()))
    migrator(client).rollback()
    assert attributes(client, "OldShop") == before
    migrator(client).apply("hold")
    after = new.open(client, migration=moved())
    run_consumer(after)
    assert after.get(Shelf.key(shelf="a")).items == 10
    assert verify(after).clean


@pytest.mark.parametrize("whole_seconds", [False, True])
@pytest.mark.parametrize("millisecond", [0, 500, 997])
def test_a_consumer_never_applies_the_records_of_a_dropped_table_of_the_same_name(
    whole_seconds: bool, millisecond: int
) -> None:
    clock = ManualClock(int(time.time()) + millisecond / 1000)
    engine_client = EmbeddedClient(Engine.open(clock=clock))

    class Server:
        """Some servers say only the second of a table's creation."""

        def call(self, operation: str, request: Any) -> dict[str, Any]:
            answer = engine_client.call(operation, request)
            if whole_seconds and operation == "DescribeTable":
                described = answer["Table"]
                at = float(int(described["CreationDateTime"]))
                answer = {**answer, "Table": {**described, "CreationDateTime": at}}
            return answer

        def close(self) -> None:
            """Keeps its tables."""

    first = new.open(Server())
    first.create(Shelf(shelf="a"))
    first.create(Item(item_id="dropped", shelf="a"))
    engine_client.call("DeleteTable", {"TableName": "NewShop"})
    clock.advance(0.002)  # streams are named by the millisecond
    second = new.open(Server())
    second.create(Shelf(shelf="a"))
    second.create(Item(item_id="own", shelf="a"))
    run_consumer(second)
    assert second.get(Shelf.key(shelf="a")).items == 1


def test_a_consumer_does_not_wait_for_the_records_of_a_dropped_table() -> None:
    client = connect(":memory:")
    first = new.open(client)
    first.create(Shelf(shelf="a"))
    run_consumer(first)
    first.create(Item(item_id="dropped", shelf="a"))  # nobody reads it
    client.call("DeleteTable", {"TableName": "NewShop"})
    second = new.open(client)
    second.create(Shelf(shelf="a"))
    second.create(Item(item_id="own", shelf="a"))
    run_consumer(second)
    Consumer(second).catch_up()
    assert second.get(Shelf.key(shelf="a")).items == 1


def count(db: Db, side: Any) -> int:
    found: int = db.get(side.shelf.key(shelf="a")).items
    return found


def test_a_number_of_the_stream_is_right_in_every_phase_while_its_consumer_runs() -> None:
    shop = Rekeyed(sync="stream")
    run_consumer(shop.before)
    assert count(shop.before, shop.old) == 10
    shop.migrator().apply("verify")
    run_consumer(shop.before)
    assert count(shop.before, shop.old) == 10
    assert count(shop.after(), shop.new) == 10
    for phase in ("switch-writes", "hold", "contract"):
        shop.migrator().apply(phase)
        run_consumer(shop.after())
        assert count(shop.after(), shop.new) == 10, phase
    assert verify(shop.after()).clean


def test_a_number_of_the_stream_is_right_after_a_rollback_and_a_second_run() -> None:
    shop = Rekeyed(sync="stream")
    run_consumer(shop.before)
    for _ in range(2):
        shop.migrator().apply("hold")
        after = shop.after()
        run_consumer(after)
        after.create(shop.new.item(item_id="late", shelf="a"))
        run_consumer(after)
        assert count(after, shop.new) == 11
        shop.migrator().rollback()
        run_consumer(shop.before)
        assert count(shop.before, shop.old) == 11
        shop.before.delete(shop.old.item.key(item_id="late"))
        run_consumer(shop.before)
        assert count(shop.before, shop.old) == 10
    assert verify(shop.before).clean


def test_a_number_of_the_stream_survives_a_consumer_that_stopped_during_the_migration() -> None:
    shop = Rekeyed(sync="stream")
    run_consumer(shop.before)
    shop.migrator().apply("verify")
    shop.before.create(shop.old.item(item_id="x1", shelf="a"))  # not consumed by the old design
    shop.migrator().apply("hold")
    shop.after().create(shop.new.item(item_id="x2", shelf="a"))
    run_consumer(shop.after())
    assert count(shop.after(), shop.new) == 12
    shop.migrator().apply("contract")
    run_consumer(shop.after())
    assert count(shop.after(), shop.new) == 12


def test_a_number_that_was_never_consumed_is_recounted_once() -> None:
    shop = Rekeyed(sync="stream")
    shop.migrator().apply("hold")
    run_consumer(shop.after())
    assert count(shop.after(), shop.new) == 10
    shop.migrator().apply("contract")
    run_consumer(shop.after())
    assert count(shop.after(), shop.new) == 10


def test_a_recounted_number_of_a_new_table_is_counted_once(client: Client) -> None:
    steps: list[Any] = [add(new_table.schema), move(OldShelf, Shelf), move(OldItem, Item)]
    migration = Migration("again", [*steps, recount(new)], between=(old, new))
    Migrator(migration, Backend(client), without_routers=True).apply("hold")
    after = new.open(client, migration=migration)
    assert after.get(Shelf.key(shelf="a")).items == 10
    run_consumer(after)
    assert after.get(Shelf.key(shelf="a")).items == 10


def test_no_moved_number_shows_zero_before_a_consumer_runs(client: Client) -> None:
    seen = []
    for phase in ("verify", "switch-writes", "hold", "contract"):
        migrator(client).apply(phase)
        seen.append(new.open(client, migration=moved()).get(Shelf.key(shelf="a")).items)
    assert seen == [10, 10, 10, 10]
    after = new.open(client)
    run_consumer(after)
    assert after.get(Shelf.key(shelf="a")).items == 10


def test_a_consumer_of_the_new_design_leaves_the_old_items_alone(client: Client) -> None:
    migrator(client).apply("verify")
    before = attributes(client, "OldShop")
    after = new.open(client, migration=moved())
    after.create(Item(item_id="late", shelf="a"))
    run_consumer(after)
    assert attributes(client, "OldShop") == before
    assert after.get(Shelf.key(shelf="a")).items == 11


@pytest.mark.parametrize("first", ["items", "shelves"])
def test_a_number_between_two_tables_is_right_once_both_are_moved_in_either_order(
    first: str,
) -> None:
    """The first of two plans leaves it to the second: one of its tables is not there yet."""
    apart = Design("apart")
    shelves = apart.table("Shelves", stream="NEW_AND_OLD_IMAGES")
    items = apart.table("Items", stream="NEW_AND_OLD_IMAGES")

    class Shelf(Entity, table=shelves):
        shelf: Id
        items: Annotated[int, Counter("Item", sync="stream")] = 0
        key = Key("SHELF#{shelf}", "SHELF")

    class Item(Entity, table=items):
        item_id: Id
        shelf: str
        key = Key("SHELF#{shelf}", "ITEM#{item_id}")

    client = connect(":memory:")
    db = old.open(client)
    db.create(OldShelf(shelf="a"))
    for number in range(3):
        db.create(OldItem(item_id=str(number), shelf="a"))
    of_shelves = Migration("shelves", [add(shelves.schema), move(OldShelf, Shelf)])
    of_items = Migration("items", [add(items.schema), move(OldItem, Item)])
    for one in (of_items, of_shelves) if first == "items" else (of_shelves, of_items):
        Migrator(one, Backend(client), without_routers=True).apply("contract")
    after = apart.open(client)
    assert after.get(Shelf.key(shelf="a")).items == 3
    run_consumer(after)
    assert after.get(Shelf.key(shelf="a")).items == 3


def test_a_migrator_says_which_streams_are_read_late() -> None:
    clock = ManualClock()
    shop = Rekeyed(sync="stream", clock=clock)
    run_consumer(shop.before)
    shop.before.create(shop.old.item(item_id="late", shelf="a"))
    clock.advance(600)
    said: list[str] = []
    shop.migrator(say=said.append).apply("backfill")
    assert [words for words in said if "minutes behind" in words] == [
        "rekey: the consumer of shop is 10 minutes behind, and backfill reads all that it has not "
        "read. To keep this phase short, let the consumer catch up first"
    ]
    clock.advance(3600)
    shop.migrator(say=said.append).apply("verify")
    assert any("copying has stood still for 60 minutes" in words for words in said)
    run_consumer(shop.before)
    said.clear()
    shop.migrator(say=said.append).apply("hold")
    assert not any("minutes" in words for words in said)


def test_a_number_is_right_although_its_stream_has_dropped_what_no_consumer_read() -> None:
    clock = ManualClock()
    shop = Rekeyed(sync="stream", clock=clock)
    run_consumer(shop.before)
    shop.before.create(shop.old.item(item_id="dropped", shelf="a"))
    clock.advance(2 * STREAM_RETENTION_SECONDS)
    shop.before.create(shop.old.item(item_id="kept", shelf="a"))
    shop.migrator().apply("hold")
    assert shop.after().get(shop.new.shelf.key(shelf="a")).items == 12


class Busy(Lent):
    """A client of a backend that refuses the first reads of a stream."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.refused = ["GetRecords", "DescribeStream"]

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.refused[-1:] == [operation]:
            self.refused.pop()
            raise Throttled("Rate exceeded")
        return super().call(operation, request)


def test_amounts_are_added_although_the_backend_refuses_requests_for_a_while() -> None:
    shop = Rekeyed(sync="stream")
    backend = Busy(shop.client)
    add_amounts = adding(
        shop.old.design.open(backend, create_tables=False), ["counter Shelf.items"]
    )
    assert add_amounts is not None
    add_amounts()
    assert backend.refused == []
    assert shop.before.get(shop.old.shelf.key(shelf="a")).items == 10
