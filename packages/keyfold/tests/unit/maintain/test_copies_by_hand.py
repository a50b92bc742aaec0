"""A copy is written by keyfold alone: every way to write one by hand is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Key, Pointer, create, delete, put, update, upsert
from keyfold.errors import PlanError
from keyfold.maintain import verify

design = Design("by_hand")
table = design.table("by_hand")


class Room(Entity, table=table):
    room_id: Id
    name: str
    key = Key("ROOM#{room_id}", "ROOM")


class Named(Pointer[Room], table=table):
    room_id: Id
    name: str
    key = Key("NAMED", "ROOM#{room_id}")


REF = Named.key(room_id="1")
GHOST = Named(room_id="2", name="ghost")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as db:
        db.create(Room(room_id="1", name="one"))
        yield db


WAYS: dict[str, Callable[[Db], Any]] = {
    "update": lambda db: db.update(REF, name="other"),
    "update of an item": lambda db: db.update(db.get(REF), name="other"),
    "upsert": lambda db: db.upsert(REF, name="x"),
    "create": lambda db: db.create(GHOST),
    "put": lambda db: db.put(GHOST),
    "delete": lambda db: db.delete(REF),
    "move": lambda db: db.move(REF, room_id="3"),
    "put_many": lambda db: db.put_many([GHOST]),
    "delete_many": lambda db: db.delete_many([REF]),
    "delete_collection": lambda db: db.delete_collection(Named.key.query()),
    "bulk": lambda db: db.bulk([GHOST]),
    "transact create": lambda db: db.transact(create(GHOST)),
    "transact put": lambda db: db.transact(put(GHOST)),
    "transact update": lambda db: db.transact(update(REF, name="x")),
    "transact upsert": lambda db: db.transact(upsert(REF, name="x")),
    "transact delete": lambda db: db.transact(delete(REF)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_is_not_written_by_hand(db: Db, way: str) -> None:
    with pytest.raises(PlanError, match="is a copy of Room, which keyfold keeps"):
        WAYS[way](db)
    assert [(one.room_id, one.name) for one in db.scan(Named)] == [("1", "one")]
    assert verify(db).clean


def test_a_copy_follows_what_is_written(db: Db) -> None:
    db.update(Room.key(room_id="1"), name="other")
    assert db.get(REF).name == "other"
    db.delete(Room.key(room_id="1"))
    assert db.find(REF) is None
