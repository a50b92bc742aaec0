"""What reads ask a table for, and what they leave out of its answers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Index, Key, On, Query, collection
from keyfold.conditions import exists
from keyfold.runtime.cursor import _xor_stream
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("asked")
table = design.table("asked")


class Case(Entity, table=table):
    case_id: Id
    title: str = ""
    key = Key("CASE#{case_id}", "A#CASE")


class Entry(Entity, table=table):
    case_id: Id
    number: int
    text: str = ""
    key = Key("CASE#{case_id}", "B#{number:04d}")


class Letter(Entity, table=table):
    case_id: Id
    number: int
    key = Key("CASE#{case_id}", "C#{number:04d}")


class Recording(EmbeddedClient):
    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:"))
        self.sent: list[Mapping[str, Any]] = []

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.sent.append(request)
        return super().call(operation, request)


@pytest.fixture
def client() -> Recording:
    return Recording()


@pytest.fixture
def db(client: Recording) -> Iterator[Db]:
    with design.open(client) as db:
        db.create(Case(case_id="c"))
        for number in range(4):
            db.create(Entry(case_id="c", number=number))
            db.create(Letter(case_id="c", number=number))
        client.sent.clear()
        yield db


def test_a_collection_with_others_in_between_asks_for_its_own_types(
    db: Db, client: Recording
) -> None:
    found = db.read(collection(Case, Letter, case_id="c"))
    assert (len(found.of(Case)), len(found.of(Letter))) == (1, 4)
    (request,) = client.sent
    types = [v["S"] for v in request["ExpressionAttributeValues"].values()]
    assert {"Case", "Letter"} <= set(types)
    assert "FilterExpression" in request


def test_a_collection_of_neighbours_needs_no_filter(db: Db, client: Recording) -> None:
    db.read(collection(Case, Entry, case_id="c"))
    assert "FilterExpression" not in client.sent[0]


def test_an_empty_range_has_no_first_item_and_is_not_asked_for(db: Db, client: Recording) -> None:
    nothing = Entry.key.query(case_id="c").since(number=3).before(number=3)
    assert db.read(nothing.first()) is None
    assert db.read(nothing.exists()) is False
    assert db.read(nothing.count()) == 0
    assert db.read(nothing).items == []
    assert client.sent == []
    some = Entry.key.query(case_id="c").since(number=2)
    first = db.read(some.first())
    assert first is not None
    assert (first.number, db.read(some.exists()), db.read(some.count())) == (2, True, 2)


def test_an_item_of_a_type_under_another_key_is_no_member(db: Db) -> None:
    strange = {"PK": {"S": "CASE#c"}, "SK": {"S": "B2#0001"}, "type": {"S": "Entry"}}
    db.client.call("PutItem", {"TableName": "asked", "Item": strange})
    found = db.read(collection(Case, Entry, Letter, case_id="c"))
    assert [one.number for one in found.of(Entry)] == [0, 1, 2, 3]


def test_reading_one_by_one_is_told_once(
    client: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    db = design.open(client, on_loop="log")
    with caplog.at_level(logging.WARNING), db.work("page"):
        for number in range(30):
            db.find(Entry.key(case_id="x", number=number))
    assert len([one for one in caplog.records if "N+1 in 'page'" in one.getMessage()]) == 1


@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65, 200])
def test_no_part_of_a_cursor_is_readable(size: int) -> None:
    mixed = _xor_stream(b"k" * 32, b"t" * 16, bytes(size))
    assert len(mixed) == size
    assert _xor_stream(b"k" * 32, b"t" * 16, mixed) == bytes(size)
    for start in range(0, max(1, size - 3), 4):
        assert any(mixed[start : start + 4])


@design.pattern(requests=1)
def entries(case_id: str) -> Query[Entry]:
    """The entries of a case."""
    return Entry.key.query(case_id=case_id)


def test_a_pattern_reads_no_letters(db: Db, client: Recording) -> None:
    assert [one.number for one in entries(db, "c")] == [0, 1, 2, 3]
    (request,) = client.sent
    assert "B#" in str(request["ExpressionAttributeValues"])


shared = Design("shared")
ladder = shared.table(
    "shared",
    indexes=[
        Index("ByOwner", "ownerKey", "ownerSort"),
        Index("OpenByOwner", "ownerKey", "openSort"),
    ],
)


class Task(Entity, table=ladder):
    task_id: Id
    owner_id: str | None = None
    state: str = "open"
    key = Key("TASK#{task_id}", "TASK")
    by_owner = On("ByOwner", "OWNER#{owner_id}", "TASK#{task_id}", when="owner_id")
    open_by_owner = On(
        "OpenByOwner",
        "OWNER#{owner_id}",
        "OPEN#{task_id}",
        when=lambda task: (task.state == "open") & exists(task.owner_id),
    )


def test_an_item_that_leaves_one_index_stays_in_another_with_the_same_attribute() -> None:
    with shared.open(":memory:") as db:
        task = db.create(Task(task_id="t", owner_id="ann"))
        by_owner = Task.by_owner.query(owner_id="ann")
        open_by_owner = Task.open_by_owner.query(owner_id="ann")
        assert (len(db.read(by_owner)), len(db.read(open_by_owner))) == (1, 1)
        db.update(task.ref(), state="shut")
        assert (len(db.read(by_owner)), len(db.read(open_by_owner))) == (1, 0)
        db.update(task.ref(), state="open")
        assert (len(db.read(by_owner)), len(db.read(open_by_owner))) == (1, 1)
        db.update(task.ref(), owner_id=None)
        assert (len(db.read(by_owner)), len(db.read(open_by_owner))) == (0, 0)
