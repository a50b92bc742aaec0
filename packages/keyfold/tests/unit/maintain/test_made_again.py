"""Parents and holders that are deleted and made again, and items that come meanwhile."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import Counter, Design, Entity, Id, Index, Key, On
from keyfold.maintain import verify
from keyfold.streams import Consumer
from keyfold.structures import Cascade
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine


def rooms(sync: Any = "transaction", **options: Any) -> tuple[Design, Any, Any]:
    """Rooms that count their members and take them along."""
    design = Design("again")
    table = design.table("Again", stream="NEW_AND_OLD_IMAGES")

    class Room(Entity, table=table):
        room: Id
        members: Annotated[int, Counter("Member", sync=sync, **options)] = 0
        key = Key("ROOM#{room}", "ROOM")
        all_members = Cascade("Member", sync=sync)

    class Member(Entity, table=table):
        room: Id
        user: Id
        guest: bool = False
        key = Key("ROOM#{room}", "MEMBER#{user}")

    return design, Room, Member


@pytest.mark.parametrize(("sync", "count"), [("transaction", 45), ("stream", 3)])
def test_a_parent_made_again_before_its_items_are_swept_counts_them(sync: Any, count: int) -> None:
    design, room, member = rooms(sync)
    with design.open(":memory:") as db:
        consumer = Consumer(db)
        db.create(room(room="r"))
        for number in range(count):
            db.create(member(room="r", user=f"u{number:03d}"))
        consumer.drain()
        db.delete(room.key(room="r"))
        db.create(room(room="r"))
        consumer.drain()
        assert db.get(room.key(room="r")).members == count
        db.delete(member.key(room="r", user="u000"))
        consumer.drain()
        assert verify(db, settle=consumer.catch_up).clean


def test_only_what_a_counter_counts_is_counted_again() -> None:
    design, room, member = rooms(where=lambda m: m.guest == True)  # noqa: E712
    with design.open(":memory:") as db:
        consumer = Consumer(db)
        db.create(room(room="r"))
        for number in range(45):
            db.create(member(room="r", user=f"u{number:03d}", guest=number < 7))
        db.delete(room.key(room="r"))
        db.create(room(room="r"))
        consumer.drain()
        assert db.get(room.key(room="r")).members == 7
        assert verify(db, settle=consumer.catch_up).clean


@pytest.mark.parametrize("sync", ["transaction", "stream"])
def test_a_parent_that_stays_away_takes_all_its_items_along(sync: Any) -> None:
    design, room, member = rooms(sync)
    with design.open(":memory:") as db:
        consumer = Consumer(db)
        db.create(room(room="r"))
        for number in range(45):
            db.create(member(room="r", user=f"u{number:03d}"))
        db.delete(room.key(room="r"))
        consumer.drain()
        db.create(room(room="r"))
        consumer.drain()
        assert db.get(room.key(room="r")).members == 0
        assert verify(db, settle=consumer.catch_up).clean


def test_a_parent_of_two_kinds_counts_those_that_its_counter_is_about() -> None:
    design = Design("letters")
    table = design.table(
        "Letters", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], stream="NEW_AND_OLD_IMAGES"
    )

    class Person(Entity, table=table):
        person: Id
        received: Annotated[int, Counter("Letter")] = 0
        key = Key("PERSON#{person}", "PERSON")
        inbox = Cascade("Letter")
        sent = Cascade("Letter", through="by_sender", via={"person": "sender"}, sync="stream")

    class Letter(Entity, table=table):
        person: Id
        sender: Id
        key = Key("PERSON#{person}", "LETTER#{sender}")
        by_sender = On("GSI1", "PERSON#{sender}", "SENT#{person}")

    with design.open(":memory:") as db:
        consumer = Consumer(db)
        for name in ("ada", "ben"):
            db.create(Person(person=name))
        db.create(Letter(person="ben", sender="ada"))
        consumer.drain()
        db.delete(Person.key(person="ada"))
        db.create(Person(person="ada"))
        consumer.drain()
        assert db.get(Person.key(person="ada")).received == 0
        assert verify(db, settle=consumer.catch_up).clean


def test_a_late_count_meets_what_the_holder_had_before() -> None:
    design = Design("late")
    table = design.table("Late", stream="NEW_AND_OLD_IMAGES")

    class Room(Entity, table=table):
        room: Id
        members: Annotated[int, Counter("Member", sync="stream")] = 0
        key = Key("ROOM#{room}", "ROOM")

    class Member(Entity, table=table):
        room: Id
        user: Id
        key = Key("ROOM#{room}", "MEMBER#{user}")

    with design.open(":memory:") as db:
        consumer = Consumer(db)
        db.create(Room(room="r"))
        db.create(Member(room="r", user="u"))
        consumer.drain()
        db.delete(Member.key(room="r", user="u"))
        db.delete(Room.key(room="r"))
        db.create(Room(room="r"))
        consumer.drain()
        assert db.get(Room.key(room="r")).members == 0


class Meddling(EmbeddedClient):
    """A client that lets somebody in right before the next transaction or delete."""

    meddle: Any = None

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        if operation in ("TransactWriteItems", "DeleteItem") and self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        return super().call(operation, request)


def test_an_item_that_comes_while_its_parent_is_deleted_goes_with_it() -> None:
    """Nobody counts it and no consumer runs."""
    design = Design("slipping")
    table = design.table("Slipping")

    class Room(Entity, table=table):
        room: Id
        key = Key("ROOM#{room}", "ROOM")
        members = Cascade("Member")

    class Member(Entity, table=table):
        room: Id
        user: Id
        key = Key("ROOM#{room}", "MEMBER#{user}")

    client = Meddling(Engine.open(":memory:"))
    with design.open(client) as db:
        db.create(Room(room="r"))
        client.meddle = lambda: db.create(Member(room="r", user="late"))
        db.delete(Room.key(room="r"))
        assert verify(db).clean
