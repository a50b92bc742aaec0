"""Migrations on other people's servers: changes of tables, and a whole one with its way back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from keyfold import Design, Entity, Key
from keyfold.errors import OperationError
from keyfold.migrations import (
    Backend,
    Index,
    Migration,
    Migrator,
    ScanPace,
    TableSchema,
    TimeToLive,
    add,
    move,
    remove,
)
from keyfold.migrations.diff import lacking
from keyfold_engine.clients import connect

OLDER = {"dynalite"}
"""Without transactions, without expiry, without new indexes of tables paid by request."""
CLOSES_STREAMS_FOR_GOOD = {"moto"}

before, after = Design("before"), Design("after")


class OldOrder(Entity, table=before.table("Orders", partition="orderId", sort=None)):
    order_id: str
    season_id: str
    total: int
    key = Key("{order_id}")


class Order(Entity, table=after.table("SeasonOrders")):
    order_id: str
    season_id: str
    cents: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


def forward(old: OldOrder) -> Order:
    return Order(order_id=old.order_id, season_id=old.season_id, cents=old.total * 100)


def backward(new: Order) -> OldOrder:
    return OldOrder(order_id=new.order_id, season_id=new.season_id, total=new.cents // 100)


@pytest.fixture
def backend(other_server: tuple[str, str]) -> Iterator[Backend]:
    client = connect(other_server[1])
    yield Backend(client, prefix=f"m{uuid.uuid4().hex[:8]}-")
    client.close()


def test_changes_of_tables_and_their_reverse(
    backend: Backend, other_server: tuple[str, str]
) -> None:
    table = TableSchema("Things", indexes=(Index("by-owner", "owner", "SK"),))
    create = add(table)
    create.apply(backend)
    create.apply(backend)
    live = backend.live("Things")
    assert live is not None
    assert lacking(table, live) == []
    if other_server[0] not in OLDER:
        index = add(Index("by-kind", "kind"), "Things")
        index.apply(backend)
        index.apply(backend)
        live = backend.live("Things")
        assert live is not None
        assert live.index("by-kind") is not None
        assert index.reverse is not None
        index.reverse.apply(backend)
        live = backend.live("Things")
        assert live is not None
        assert live.index("by-kind") is None
        add(TimeToLive("gone"), "Things").apply(backend)
        live = backend.live("Things")
        assert live is not None
        assert live.ttl == "gone"
    assert create.reverse is not None
    create.reverse.apply(backend)
    assert backend.live("Things") is None


def test_a_whole_migration_with_a_way_back(backend: Backend, other_server: tuple[str, str]) -> None:
    old = before.open(backend.client, table_prefix=backend.prefix, create_tables=True)
    for number in range(40):
        old.create(OldOrder(order_id=f"o{number:02d}", season_id=f"s{number % 3}", total=number))
    migration = Migration(
        "orders",
        [
            add(Order.__table__.schema),
            move(OldOrder, Order, forward=forward, backward=backward),
            remove(OldOrder.__table__.schema),
        ],
    )

    def migrator() -> Migrator:
        return Migrator(
            migration, backend, pace=ScanPace(segments=2), settle=0.5, without_routers=True
        )

    if other_server[0] in OLDER:
        with pytest.raises(OperationError):
            migrator().apply("backfill")
        assert len(list(old.scan(OldOrder))) == 40
        return
    migrator().apply("backfill")
    old.update(OldOrder.key(order_id="o01"), total=500)
    old.delete(OldOrder.key(order_id="o02"))
    migrator().apply("hold")
    new = after.open(backend.client, table_prefix=backend.prefix, create_tables=False)
    assert new.get(Order.key(season_id="s1", order_id="o01")).cents == 50_000
    assert new.find(Order.key(season_id="s2", order_id="o02")) is None
    new.create(Order(season_id="s0", order_id="late", cents=700))
    migrator().rollback()
    assert old.get(OldOrder.key(order_id="late")).total == 7
    if other_server[0] in CLOSES_STREAMS_FOR_GOOD:
        return
    migrator().apply("contract")
    assert len(list(new.scan(Order))) == 40
