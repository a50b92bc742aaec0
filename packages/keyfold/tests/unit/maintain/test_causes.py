"""Drift is named by its cause, once; what cannot be read stops nothing; repair says what it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from keyfold import Copied, Counter, Db, Design, Entity, Id, Key, Pointer, Unique
from keyfold.maintain import plan, rebuild, repair, verify
from keyfold.structures import Cascade

design = Design("causes")
table = design.table("Causes")


class Room(Entity, table=table):
    room: Id
    title: str = ""
    tags: set[str] = set()
    members: Annotated[int, Counter("Member")] = 0
    key = Key("ROOM#{room}", "ROOM")
    all_members = Cascade("Member")


class RoomTagged(Pointer[Room], table=table, each="tags"):
    tag: str
    room: Id
    title: str
    members: int
    key = Key("TAG#{tag}", "ROOM#{room}")


class RoomByTitle(Pointer[Room], table=table):
    """Its key does not hold the room's: two rooms of one title share it."""

    title: str
    members: int
    key = Key("TITLE#{title}", "ROOM")


class Member(Entity, table=table):
    room: Id
    user: Id
    room_members: Annotated[int, Copied("Room", "members")] = 0
    nick: str | None = None
    key = Key("ROOM#{room}", "MEMBER#{user}")
    one_nick = Unique("nick")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Room(room="r", title="Chess", tags={"a", "b", "c"}))
        for number in range(6):
            opened.create(Member(room="r", user=f"u{number}", nick=f"n{number}"))
        for number in range(6):
            change(opened, "ROOM#r", f"MEMBER#u{number}", "roomMembers", {"N": "6"})
        assert verify(opened).clean
        yield opened


def change(db: Db, partition: str, sort: str, attribute: str, value: Any) -> None:
    """Write past keyfold: what a console or another program does."""
    db.client.call(
        "UpdateItem",
        {
            "TableName": "Causes",
            "Key": {"PK": {"S": partition}, "SK": {"S": sort}},
            "UpdateExpression": "SET #a = :v",
            "ExpressionAttributeNames": {"#a": attribute},
            "ExpressionAttributeValues": {":v": value},
        },
    )


def put(db: Db, **item: Any) -> None:
    db.client.call("PutItem", {"TableName": "Causes", "Item": item})


def test_a_wrong_counter_is_named_once_and_its_right_copies_are_no_drift(db: Db) -> None:
    change(db, "ROOM#r", "ROOM", "members", {"N": "7"})
    report = verify(db)
    (drift,) = report.drifts
    assert (drift.structure, drift.expected, drift.found) == ("counter Room.members", 6, 7)
    assert drift.follows == (
        "pointer RoomTagged",
        "pointer RoomByTitle",
        "copied Member.room_members",
    )
    assert "shown by pointer RoomTagged" in str(drift)


def test_repair_of_a_wrong_counter_leaves_its_right_copies_right(db: Db) -> None:
    change(db, "ROOM#r", "ROOM", "members", {"N": "7"})
    told: list[str] = []
    done = repair(db, verify(db), on_fix=lambda _, outcome: told.append(outcome))
    assert (done.fixed, done.right, done.left, told) == (1, 0, [], ["fixed"])
    assert db.get(Room.key(room="r")).members == 6
    assert {one.members for one in db.scan(RoomTagged)} == {6}
    assert verify(db).clean


def test_copies_that_show_a_wrong_counter_are_right_once_it_is(db: Db) -> None:
    for partition, sort in [("ROOM#r", "ROOM"), *((f"TAG#{t}", "ROOM#r") for t in "abc")]:
        change(db, partition, sort, "members", {"N": "7"})
    report = verify(db)
    assert report.counts["counter"] == 1
    repair(db, report)
    assert {one.members for one in db.scan(RoomTagged)} == {6}
    assert verify(db).clean


def test_repair_of_a_counter_adds_so_that_writers_meanwhile_are_not_lost(db: Db) -> None:
    change(db, "ROOM#r", "ROOM", "members", {"N": "7"})
    report = verify(db)
    requests: list[Any] = []
    call = db.client.call

    def meddling(operation: str, request: Any) -> Any:
        requests.append((operation, request))
        if operation == "TransactWriteItems" and len(requests) < 100:
            requests.extend([("", {})] * 100)
            db.create(Member(room="r", user="late", room_members=7))
        return call(operation, request)

    db.client.call = meddling  # type: ignore[method-assign]
    repair(db, report)
    db.client.call = call  # type: ignore[method-assign]
    assert db.get(Room.key(room="r")).members == 7


def test_a_drift_that_is_gone_when_its_turn_comes_is_not_told_as_fixed(db: Db) -> None:
    change(db, "TAG#a", "ROOM#r", "title", {"S": "wrong"})
    report = verify(db)
    assert repair(db, report).fixed == 1
    told: list[str] = []
    done = repair(db, report, on_fix=lambda _, outcome: told.append(outcome))
    assert (done.fixed, done.right, told) == (0, 1, ["already correct"])


def test_two_canonicals_of_one_pointer_need_a_decision(db: Db) -> None:
    db.create(Room(room="other", title="Chess"))
    (drift,) = verify(db).drifts
    assert (drift.structure, drift.subject) == ("pointer RoomByTitle", None)
    assert len(drift.found) == 2
    assert "several items of Room have their copy here" in plan(drift)
    ((_, reason),) = repair(db, verify(db)).left
    assert "needs a decision" in reason


def test_items_that_no_entity_declares_are_listed(db: Db) -> None:
    put(db, PK={"S": "STRANGER#1"}, SK={"S": "X"})
    put(db, PK={"S": "ROOM#r"}, SK={"S": "ROOM2"}, type={"S": "Unknown"})
    report = verify(db)
    assert report.clean
    assert report.undeclared == 2
    assert ("Causes", {"PK": {"S": "STRANGER#1"}, "SK": {"S": "X"}}) in report.strangers
    assert str(report).endswith("no drift; 2 that no entity declares")


def test_a_canonical_that_cannot_be_read_stops_nothing(db: Db) -> None:
    db.create(Room(room="q", title="Go", tags={"a"}))
    change(db, "ROOM#r", "ROOM", "title", {"L": []})
    change(db, "TAG#a", "ROOM#q", "title", {"S": "wrong"})
    report = verify(db)
    assert sorted(report.counts) == ["pointer", "undecodable"]
    [lost] = [one for one in report.drifts if one.decision]
    assert lost.expected == "unknown"
    done = repair(db, report)
    assert done.fixed == 1
    reasons = {drift.structure: reason for drift, reason in done.left}
    assert "an item of Room cannot be read" in reasons["pointer RoomByTitle"]
    assert reasons.keys() == {"Room", "pointer RoomByTitle"}
    assert {one.room for one in db.scan(RoomTagged)} == {"r", "q"}, "its copies are kept"
    assert len(list(db.scan(Member))) == 6, "and so are its members"


def test_a_counted_item_that_cannot_be_read_makes_its_count_a_decision(db: Db) -> None:
    change(db, "ROOM#r", "MEMBER#u1", "nick", {"L": []})
    report = verify(db)
    counted = next(one for one in report.drifts if one.kind == "counter")
    assert "an item of Member cannot be read" in plan(counted)
    assert counted.expected == "unknown", "nobody knows whether it counts"
    assert "expected unknown, found 6" in str(counted)
    repair(db, report)
    assert db.get(Room.key(room="r")).members == 6, "it may well count"


def test_rebuild_puts_everything_right(db: Db) -> None:
    change(db, "ROOM#r", "ROOM", "members", {"N": "9"})
    change(db, "TAG#b", "ROOM#r", "members", {"N": "4"})
    change(db, "ROOM#r", "MEMBER#u2", "roomMembers", {"N": "1"})
    rebuild(db)
    assert verify(db).clean
