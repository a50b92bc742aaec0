"""`refuse=` names the problem of a failed condition; `expected_version=` is the caller's."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import (
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Key,
    Unique,
    Version,
    check,
    create,
    delete,
    put,
    update,
)
from keyfold.errors import NotFound, PlanError, UniqueTaken, VersionConflict

design = Design("problems")
table = design.table("problems", stream="NEW_AND_OLD_IMAGES")


class Taken(Exception):
    """A problem of a caller's own."""


class Room(Entity, table=table):
    room_id: Id
    name: str = ""
    open: bool = True
    members: Annotated[int, Counter("Member")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("ROOM#{room_id}", "ROOM")
    one_name = Unique("name")


class Member(Entity, table=table):
    room_id: Id
    user_id: Id
    role: str = "member"
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


ROOM = Room.key(room_id="r")
ADA = Member(room_id="r", user_id="ada")


@pytest.fixture
def db() -> Db:
    opened = design.open(":memory:")
    opened.create(Room(room_id="r", name="R"))
    return opened


def test_a_create_of_what_is_there(db: Db) -> None:
    db.create(ADA, refuse=Taken("twice"))
    with pytest.raises(Taken, match="twice"):
        db.create(ADA, refuse=Taken("twice"))
    with pytest.raises(Taken, match="in a transaction"):
        db.transact(create(ADA, refuse=Taken("in a transaction")), check(ROOM))


def test_each_write_of_a_transaction_has_its_own(db: Db) -> None:
    gone = Room.key(room_id="x")
    closed = check(ROOM, where=lambda r: r.open == False, refuse=Taken("open"))  # noqa: E712
    with pytest.raises(Taken, match="open"):
        db.transact(create(ADA, refuse=Taken("member")), closed)
    with pytest.raises(Taken, match="no room"):
        db.transact(create(ADA, refuse=Taken("member")), check(gone, refuse=Taken("no room")))
    with pytest.raises(NotFound):
        db.transact(create(ADA, refuse=Taken("member")), check(gone))
    assert db.find(ADA.ref()) is None


def test_updates_puts_and_deletes(db: Db) -> None:
    gone = Member.key(room_id="r", user_id="nobody")
    with pytest.raises(Taken, match="gone"):
        db.update(gone, role="owner", refuse=Taken("gone"))
    with pytest.raises(Taken, match="gone"):
        db.delete(gone, must_exist=True, refuse=Taken("gone"))
    db.create(ADA)
    with pytest.raises(Taken, match="no owner"):
        db.delete(ADA.ref(), where=lambda m: m.role == "owner", refuse=Taken("no owner"))
    with pytest.raises(Taken, match="no owner"):
        db.transact(
            delete(ADA.ref(), where=lambda m: m.role == "owner", refuse=Taken("no owner")),
            check(ROOM),
        )
    with pytest.raises(Taken, match="no owner"):
        db.update(ADA, role="x", where=lambda m: m.role == "owner", refuse=Taken("no owner"))
    with pytest.raises(Taken, match="no owner"):
        db.put(ADA, where=lambda m: m.role == "owner", refuse=Taken("no owner"))
    with pytest.raises(Taken, match="no owner"):
        db.put(
            Room(room_id="r", name="Q", version=1),
            where=lambda r: r.name == "S",
            refuse=Taken("no owner"),
        )
    with pytest.raises(Taken, match="no owner"):
        db.transact(put(ADA, where=lambda m: m.role == "owner", refuse=Taken("no owner")))


def test_a_check_that_joins_a_write_of_the_same_item(db: Db) -> None:
    closed = check(ROOM, where=lambda r: r.name == "S", refuse=Taken("another name"))
    with pytest.raises(Taken, match="another name"):
        db.transact(update(ROOM, open=False), closed)
    with pytest.raises(Taken, match="another name"):
        db.transact(closed, update(ROOM, open=False))
    with pytest.raises(Taken, match="another name"):
        db.transact(create(ADA), closed)  # counting changes the room too


def test_other_problems_keep_their_errors(db: Db) -> None:
    db.create(Room(room_id="s", name="S"))
    with pytest.raises(UniqueTaken):
        db.create(Room(room_id="t", name="S"), refuse=Taken("x"))
    read = db.get(ROOM)
    db.update(ROOM, open=False)
    with pytest.raises(VersionConflict):
        db.update(read, open=True, refuse=Taken("x"))


def test_an_expected_version_is_that_of_the_item(db: Db) -> None:
    first = db.get(ROOM).version
    changed = db.update(ROOM, open=False, expected_version=first)
    assert changed.version == first + 1
    for target in (ROOM, db.get(ROOM)):
        with pytest.raises(VersionConflict):
            db.update(target, open=True, expected_version=first)
        with pytest.raises(VersionConflict):
            db.update(target, name="New", expected_version=first)  # it claims a name
        with pytest.raises(VersionConflict):
            db.transact(update(target, open=True, expected_version=first), check(ROOM))
    assert db.update(ROOM, open=True, expected_version=None).open
    with pytest.raises(NotFound):
        db.update(Room.key(room_id="x"), open=True, expected_version=1)
    assert db.get(ROOM).name == "R"


def test_an_expected_version_holds_while_members_join(db: Db) -> None:
    version = db.get(ROOM).version
    db.create(ADA)  # counts, and changes no version
    assert db.update(ROOM, name="New", expected_version=version).members == 1


def test_an_item_without_a_version_has_none_to_expect(db: Db) -> None:
    db.create(ADA)
    with pytest.raises(PlanError, match="Member has no version"):
        db.update(ADA.ref(), role="owner", expected_version=1)
