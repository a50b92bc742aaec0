"""A small shop before and after: orders by their own id, then by season with a pointer by id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Index, Key, On, Query
from keyfold.maintain import Pointer
from keyfold.migrations import Backend, Migration, Migrator, Move, ScanPace, add, move, remove
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

before = Design("shop-before")
old_table = before.table(
    "Orders",
    partition="orderId",
    sort=None,
    indexes=[Index("seasonId-index", "seasonId", "orderId")],
    type_attribute=None,
)


class OldOrder(Entity, table=old_table):
    order_id: Id
    season_id: str
    total: int
    key = Key("{order_id}")
    by_season = On("seasonId-index", "{season_id}", "{order_id}")


@before.pattern(name="season", requests=1)
def old_season(season_id: str) -> Query[OldOrder]:
    return OldOrder.by_season.query(season_id=season_id).limit(3)


after = Design("shop-after")
new_table = after.table("SeasonOrders", partition="pk", sort="sk")


class Order(Entity, table=new_table):
    season_id: str
    order_id: Id
    cents: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


class OrderById(Pointer[Order], table=new_table, sync="transaction"):
    order_id: Id
    season_id: str
    key = Key("ORDER#{order_id}", "ORDER")


@after.pattern(requests=1)
def season(season_id: str) -> Query[Order]:
    return Order.key.query(season_id=season_id).limit(3)


def forward(old: OldOrder) -> Order:
    if old.total < 0:
        raise ValueError(f"a total of {old.total}")
    return Order(season_id=old.season_id, order_id=old.order_id, cents=old.total * 100)


def backward(new: Order) -> OldOrder:
    return OldOrder(order_id=new.order_id, season_id=new.season_id, total=new.cents // 100)


@dataclass
class Shop:
    engine: Engine
    backend: Backend
    old: Db
    new: Db
    migration: Migration

    def migrator(self, **options: Any) -> Migrator:
        options.setdefault("pace", ScanPace(segments=2, page=10))
        options.setdefault("without_routers", True)
        return Migrator(self.migration, self.backend, **options)

    def old_order(self, order_id: str, total: int = 1, season: str = "s1") -> OldOrder:
        return self.old.put(OldOrder(order_id=order_id, season_id=season, total=total))

    def new_items(self) -> list[dict[str, Any]]:
        found = self.backend.call("Scan", {"TableName": "SeasonOrders"})["Items"]
        return sorted(found, key=repr)

    def expected_items(self) -> list[dict[str, Any]]:
        """What the new side should hold, by another way than the copier's."""
        found = []
        for old in self.old.scan(OldOrder):
            new = forward(old)
            found.append(Order.__spec__.encode(new))
            pointer = OrderById(order_id=new.order_id, season_id=new.season_id)
            found.append(OrderById.__spec__.encode(pointer))
        return sorted(found, key=repr)


def order_move() -> Move:
    return move(OldOrder, Order, forward=forward, backward=backward)


@pytest.fixture
def shop() -> Iterator[Shop]:
    engine = Engine.open(":memory:")
    client = EmbeddedClient(engine)
    backend = Backend(client)
    migration = Migration(
        "orders-by-season",
        [add(new_table.schema), order_move(), remove(old_table.schema)],
    )
    old = before.open(client)
    new = after.open(client, create_tables=False)
    yield Shop(engine, backend, old, new, migration)
    engine.close()
