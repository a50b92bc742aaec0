"""Items that stand for the same one of the other side, one after another.

Their changes are in different shards, and come in any order.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from keyfold import Db, Design, Entity, Key, Unique, create, delete, update
from keyfold.errors import VerifyFailed
from keyfold.maintain import Pointer
from keyfold.migrations import Backend, Migration, Migrator, ScanPace, add, move, remove
from keyfold.migrations.changes import ChangeReader
from keyfold.migrations.estimate import estimate
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

ORDERS = 30

by_season = Design("by-season")
seasons_table = by_season.table("SeasonOrders")


class SeasonOrder(Entity, table=seasons_table, type_name="Order"):
    season_id: str
    order_id: str
    total: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


by_id = Design("by-id")
ids_table = by_id.table("Orders", partition="orderId", sort=None)


class Order(Entity, table=ids_table):
    order_id: str
    season_id: str
    total: int
    key = Key("{order_id}")


pointed = Design("pointed")
pointed_table = pointed.table("PointedOrders")


class PointedOrder(Entity, table=pointed_table, type_name="Order"):
    season_id: str
    order_id: str
    total: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


class ById(Pointer[PointedOrder], table=pointed_table, sync="transaction"):
    order_id: str
    season_id: str
    key = Key("ORDER#{order_id}", "ORDER")


once = Design("once")
once_table = once.table("OnceOrders")


class OnceOrder(Entity, table=once_table, type_name="Order"):
    season_id: str
    order_id: str
    total: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")
    one_id = Unique("order_id")


@pytest.fixture
def client() -> Iterator[EmbeddedClient]:
    with Engine.open(":memory:", stream_shards=4) as engine:
        yield EmbeddedClient(engine)


def migrator(migration: Migration, client: EmbeddedClient) -> Migrator:
    return Migrator(migration, Backend(client), pace=ScanPace(page=5), without_routers=True)


def reorder(db: Db, seasons: dict[str, str], rounds: int = 4) -> None:
    """Orders change their season: each goes from one key to another."""
    chance = random.Random(7)
    for number in range(rounds):
        for order_id, season in list(seasons.items()):
            chosen = f"s{number}{chance.randint(1, 99)}"
            order = SeasonOrder(season_id=chosen, order_id=order_id, total=int(order_id[1:]))
            db.transact(delete(SeasonOrder.key(season_id=season, order_id=order_id)), create(order))
            seasons[order_id] = chosen


def numbered() -> dict[str, str]:
    return {f"o{number}": "first" for number in range(ORDERS)}


def test_an_item_under_a_new_key_is_not_taken_away_with_the_old_one(
    client: EmbeddedClient,
) -> None:
    before, seasons = by_season.open(client), numbered()
    for number in range(ORDERS):
        before.create(SeasonOrder(season_id="first", order_id=f"o{number}", total=number))
    migration = Migration(
        "by-id",
        [add(ids_table.schema), move(SeasonOrder, Order), remove(seasons_table.schema)],
    )
    migrator(migration, client).apply("verify")
    reorder(before, seasons)
    migrator(migration, client).apply("hold")
    after = by_id.open(client, create_tables=False)
    assert {one.order_id: one.season_id for one in after.scan(Order)} == seasons


def test_a_pointer_to_an_item_under_a_new_key_stays(client: EmbeddedClient) -> None:
    before, seasons = by_season.open(client), numbered()
    for number in range(ORDERS):
        before.create(SeasonOrder(season_id="first", order_id=f"o{number}", total=number))
    migration = Migration(
        "pointed",
        [
            add(pointed_table.schema),
            move(SeasonOrder, PointedOrder),
            remove(seasons_table.schema),
        ],
    )
    migrator(migration, client).apply("verify")
    reorder(before, seasons)
    migrator(migration, client).apply("hold")
    after = pointed.open(client, create_tables=False)
    assert {one.order_id: one.season_id for one in after.scan(PointedOrder)} == seasons
    assert {one.order_id: one.season_id for one in after.scan(ById)} == seasons


def test_a_scan_that_is_late_neither_overwrites_nor_takes_away(client: EmbeddedClient) -> None:
    """The backfill has read an item that lies under another key since."""
    before = by_season.open(client)
    before.create(SeasonOrder(season_id="first", order_id="o1", total=1))
    migration = Migration(
        "by-id",
        [add(ids_table.schema), move(SeasonOrder, Order), remove(seasons_table.schema)],
    )
    running = migrator(migration, client)
    running.apply("follow")
    copier = running.items.copier("new")
    seen = client.call("Scan", {"TableName": "SeasonOrders"})["Items"]
    new = SeasonOrder(season_id="second", order_id="o1", total=2)
    before.transact(delete(SeasonOrder.key(season_id="first", order_id="o1")), create(new))
    shards = ChangeReader(Backend(client), running.store, "new", "SeasonOrders").batches()
    changes = [change for _, records in shards for change in records]
    copier.copy_changes([one for one in changes if one.old is None])
    copier.copy_scanned("SeasonOrders", seen)
    copier.copy_changes([one for one in changes if one.new is None])
    after = by_id.open(client, create_tables=False)
    assert [(one.season_id, one.total) for one in after.scan(Order)] == [("second", 2)]


def test_a_rollback_brings_items_that_lie_under_another_key_since(client: EmbeddedClient) -> None:
    before, seasons = by_id.open(client), numbered()
    for number in range(ORDERS):
        before.create(Order(order_id=f"o{number}", season_id="first", total=number))
    migration = Migration(
        "by-season",
        [add(seasons_table.schema), move(Order, SeasonOrder), remove(ids_table.schema)],
    )
    migrator(migration, client).apply("hold")
    reorder(by_season.open(client, create_tables=False), seasons)
    migrator(migration, client).rollback()
    found = {one.order_id: (one.season_id, one.total) for one in before.scan(Order)}
    assert found == {order: (season, int(order[1:])) for order, season in seasons.items()}


def test_an_application_that_writes_both_sides_changes_a_key_in_one_transaction(
    client: EmbeddedClient,
) -> None:
    before, seasons = by_id.open(client), numbered()
    for number in range(ORDERS):
        before.create(Order(order_id=f"o{number}", season_id="first", total=number))
    migration = Migration(
        "by-season",
        [add(seasons_table.schema), move(Order, SeasonOrder), remove(ids_table.schema)],
    )
    migrator(migration, client).apply("verify")
    application = by_season.open(client, migration=migration)
    reorder(application, seasons, rounds=1)
    assert {one.order_id: one.season_id for one in before.scan(Order)} == seasons
    migrator(migration, client).apply("hold")
    assert {one.order_id: one.season_id for one in application.scan(SeasonOrder)} == seasons


@pytest.mark.parametrize("old", [SeasonOrder, Order])
def test_a_unique_value_goes_along_with_its_item_to_another_key(
    client: EmbeddedClient, old: type[SeasonOrder] | type[Order]
) -> None:
    before, seasons = (by_season if old is SeasonOrder else by_id).open(client), numbered()
    for number in range(ORDERS):
        before.create(old(season_id="first", order_id=f"o{number}", total=number))
    migration = Migration(
        "once",
        [add(once_table.schema), move(old, OnceOrder), remove(old.__table__.schema)],
    )
    migrator(migration, client).apply("verify")
    if old is SeasonOrder:
        reorder(before, seasons)
    else:
        for order_id in seasons:
            before.transact(update(Order.key(order_id=order_id), season_id="second"))
            seasons[order_id] = "second"
    migrator(migration, client).apply("hold")
    after = once.open(client, create_tables=False)
    assert {one.order_id: one.season_id for one in after.scan(OnceOrder)} == seasons
    holders = [after.read(OnceOrder.one_id(order_id=order_id)) for order_id in seasons]
    assert {one.order_id: one.season_id for one in holders if one} == seasons


def by_id_migration() -> Migration:
    return Migration(
        "by-id",
        [add(ids_table.schema), move(SeasonOrder, Order), remove(seasons_table.schema)],
    )


def two_of_one_id(client: EmbeddedClient, totals: tuple[int, int] = (1, 2)) -> Db:
    before = by_season.open(client)
    for season_id, total in zip(("spring", "autumn"), totals, strict=True):
        before.create(SeasonOrder(season_id=season_id, order_id="o1", total=total))
    for number in range(2, ORDERS):
        before.create(SeasonOrder(season_id="spring", order_id=f"o{number}", total=number))
    return before


NAMED = r"SeasonOrders PK=SEASON#(spring|autumn), SK=ORDER#o1 and SeasonOrders PK=SEASON#"


@pytest.mark.parametrize("totals", [(1, 2), (1, 1)])
def test_two_items_that_would_become_one_are_named_before_anything_is_lost(
    client: EmbeddedClient, totals: tuple[int, int]
) -> None:
    before = two_of_one_id(client, totals)
    with pytest.raises(VerifyFailed, match=r"would be lost(.|\n)*" + NAMED):
        migrator(by_id_migration(), client).apply("verify")
    before.delete(SeasonOrder.key(season_id="autumn", order_id="o1"))
    migrator(by_id_migration(), client).apply("contract")
    after = by_id.open(client, create_tables=False)
    assert after.get(Order.key(order_id="o1")).season_id == "spring"


def test_two_items_that_become_one_after_the_comparison_are_named_before_the_old_ones_go(
    client: EmbeddedClient,
) -> None:
    before = two_of_one_id(client)
    before.delete(SeasonOrder.key(season_id="autumn", order_id="o1"))
    migrator(by_id_migration(), client).apply("verify")
    before.create(SeasonOrder(season_id="autumn", order_id="o1", total=3))
    migrator(by_id_migration(), client).apply("hold")
    with pytest.raises(VerifyFailed, match=NAMED):
        migrator(by_id_migration(), client).apply("contract")
    assert len(list(before.scan(SeasonOrder))) == ORDERS


def test_two_new_items_that_would_become_one_old_one_stop_a_rollback(
    client: EmbeddedClient,
) -> None:
    before = by_id.open(client)
    before.create(Order(order_id="o1", season_id="spring", total=1))
    migration = Migration(
        "by-season",
        [add(seasons_table.schema), move(Order, SeasonOrder), remove(ids_table.schema)],
    )
    migrator(migration, client).apply("hold")
    after = by_season.open(client, create_tables=False)
    after.create(SeasonOrder(season_id="autumn", order_id="o1", total=2))
    with pytest.raises(VerifyFailed, match=r"no place for(.|\n)*" + NAMED):
        migrator(migration, client).rollback()
    after.delete(SeasonOrder.key(season_id="autumn", order_id="o1"))
    migrator(migration, client).rollback(keep="new")
    assert before.get(Order.key(order_id="o1")).season_id == "spring"


def test_a_dry_run_names_two_items_that_would_become_one(client: EmbeddedClient) -> None:
    two_of_one_id(client)
    *_, verify = estimate(by_id_migration(), Backend(client))
    assert re.search(NAMED, verify.words())
