"""Copies change by what differs, and come back whole where they are missing."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Pointer
from keyfold.maintain import verify
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("copies")
table = design.table("Copies", indexes=[Index("GSI1", "gpk", "gsk")])


class Room(Entity, table=table):
    room: Id
    title: str = ""
    topic: str = ""
    listed_in: set[str] = set()
    members: Annotated[int, Counter("Member")] = 0
    key = Key("ROOM#{room}", "ROOM")


class RoomIn(Pointer[Room], table=table, each="listed_in"):
    one_list: Id
    room: Id
    title: str
    topic: str
    members: int
    key = Key("LIST#{one_list}", "ROOM#{room}")
    by_topic = On("GSI1", "LIST#{one_list}", "{topic}#{title}")


class Member(Entity, table=table):
    room: Id
    user: Id
    key = Key("ROOM#{room}", "MEMBER#{user}")


class Recording(EmbeddedClient):
    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:"))
        self.transactions: list[list[dict[str, Any]]] = []

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        if operation == "TransactWriteItems":
            self.transactions.append(request["TransactItems"])
        return super().call(operation, request)


@pytest.fixture
def client() -> Recording:
    return Recording()


LISTS = {f"l{number:02d}" for number in range(30)}


@pytest.fixture
def db(client: Recording) -> Any:
    with design.open(client) as opened:
        opened.create(Room(room="r", title="t", topic="x", listed_in=LISTS))
        opened.create(Member(room="r", user="a"))
        client.transactions.clear()
        yield opened


def forget(client: Recording, *lists: str) -> None:
    for one in lists:
        key = RoomIn.key(one_list=one, room="r").wire()
        client.call("DeleteItem", {"TableName": "Copies", "Key": key})


def test_a_copy_is_sent_what_differs_and_the_index_keys_made_of_it(
    db: Db, client: Recording
) -> None:
    db.create(Member(room="r", user="b"))
    [writes] = client.transactions
    counted = [w["Update"] for w in writes if "LIST#" in str(w)]
    assert {tuple(w["ExpressionAttributeNames"].values()) for w in counted} == {("PK", "members")}
    db.update(Room.key(room="r"), title="new")
    written = [w["Update"] for w in client.transactions[-1] if "LIST#" in str(w.get("Update"))]
    names = {name for w in written for name in w["ExpressionAttributeNames"].values()}
    assert names == {"PK", "title", "topic", "gpk", "gsk"}
    assert verify(db).clean


def test_missing_copies_come_back_whole_with_their_counts(db: Db, client: Recording) -> None:
    forget(client, *LISTS)
    db.update(Room.key(room="r"), topic="y")
    assert len(client.transactions) == 2, "all of them are known after the first attempt"
    assert verify(db).clean
    forget(client, "l00")
    db.create(Member(room="r", user="b"))
    assert verify(db).clean
    assert {copy.members for copy in db.scan(RoomIn)} == {2}


def test_a_copy_that_comes_back_meanwhile_is_changed_and_not_overwritten(
    db: Db, client: Recording
) -> None:
    forget(client, "l00")

    def meddle(operation: str, request: Any) -> dict[str, Any]:
        if operation == "TransactWriteItems" and len(client.transactions) == 1:
            del client.call
            db.create(Member(room="r", user="b"))
        return Recording.call(client, operation, request)

    client.call = meddle  # type: ignore[method-assign]
    db.update(Room.key(room="r"), topic="y")
    assert verify(db).clean
    assert db.get(RoomIn.key(one_list="l00", room="r")).members == 2
