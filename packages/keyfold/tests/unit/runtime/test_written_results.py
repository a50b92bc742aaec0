"""What writes give back: the new item of each intent, the old one of a delete on request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest

from keyfold import Db, Design, Entity, Id, Key, Version, add, create, delete, put, update
from keyfold.errors import ConditionFailed, PlanError
from keyfold.maintain import Counter

design = Design("results")
table = design.table("main")


class Plain(Entity, table=table):
    plain_id: Id
    title: str = ""
    seats: int = 0
    key = Key("PLAIN#{plain_id}", "PLAIN")


class Room(Entity, table=table):
    room_id: Id
    title: str = ""
    guests: Annotated[int, Counter("Guest")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("ROOM#{room_id}", "ROOM")


class Guest(Entity, table=table):
    room_id: Id
    guest_id: Id
    key = Key("ROOM#{room_id}", "GUEST#{guest_id}")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def test_a_transaction_gives_the_new_item_of_each_write(db: Db) -> None:
    room = db.create(Room(room_id="r"))
    plain = db.create(Plain(plain_id="p", seats=2))
    made, kept, changed, counted, seen = db.transact(
        create(Plain(plain_id="q")),
        put(Plain(plain_id="s", title="s")),
        update(room, title="hall"),
        update(plain, seats=add(3)),
        create(Plain(plain_id="t")),
    )
    assert made.plain_id == "q"
    assert kept.title == "s"
    assert (changed.title, changed.version) == ("hall", room.version + 1)
    assert counted.seats == 5
    assert seen.plain_id == "t"


def test_an_update_by_address_gives_its_item_alone_and_none_among_several(db: Db) -> None:
    db.create(Plain(plain_id="p"))
    (alone,) = db.transact(update(Plain.key(plain_id="p"), title="a"))
    assert alone is not None
    assert alone.title == "a"
    among, _ = db.transact(update(Plain.key(plain_id="p"), title="b"), create(Plain(plain_id="q")))
    assert among is None
    assert db.get(Plain.key(plain_id="p")).title == "b"


def test_a_delete_gives_what_it_deleted_on_request(db: Db) -> None:
    db.create(Plain(plain_id="p", title="a"))
    with db.work("one request") as work:
        gone = db.delete(Plain.key(plain_id="p"), returning=True)
    assert gone is not None
    assert gone.title == "a"
    assert work.usage["delete Plain"].requests == 1
    assert db.delete(Plain.key(plain_id="p"), returning=True) is None
    assert db.delete(Plain.key(plain_id="p")) is None


def test_a_delete_with_what_follows_from_it_gives_what_it_deleted(db: Db) -> None:
    db.create(Room(room_id="r"))
    db.create(Guest(room_id="r", guest_id="g"))
    gone = db.delete(Guest.key(room_id="r", guest_id="g"), returning=True)
    assert gone == Guest(room_id="r", guest_id="g")
    assert db.get(Room.key(room_id="r")).guests == 0


def test_a_delete_among_several_writes_gives_what_it_deleted(db: Db) -> None:
    db.create(Plain(plain_id="p", title="a"))
    gone, made = db.transact(
        delete(Plain.key(plain_id="p"), returning=True), create(Plain(plain_id="q"))
    )
    assert gone is not None
    assert gone.title == "a"
    assert made.plain_id == "q"


def test_a_delete_whose_condition_fails_gives_nothing_and_keeps_the_item(db: Db) -> None:
    plain = db.create(Plain(plain_id="p", title="a"))
    with pytest.raises(ConditionFailed):
        db.delete(plain, where=lambda p: p.title == "b", returning=True)
    assert db.get(plain.ref()) == plain


async def test_the_same_when_awaited() -> None:
    async with await design.open_async(":memory:") as db:
        made, again = await db.transact(
            create(Plain(plain_id="p", title="a")), create(Plain(plain_id="q"))
        )
        assert (made.title, again.plain_id) == ("a", "q")
        gone = await db.delete(made, returning=True)
        assert gone == made


def test_changes_are_given_by_name(db: Db) -> None:
    plain = db.create(Plain(plain_id="p"))
    with pytest.raises(PlanError, match="changes by name"):
        db.update(plain, {"title": "x"})  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="changes by name"):
        db.move(plain, {"plain_id": "x"})
