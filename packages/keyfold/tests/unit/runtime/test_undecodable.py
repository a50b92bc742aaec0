"""Items that cannot be read do not take a page with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyfold import Collected, Db, Design, Entity, Id, Key, Page, collection, each, merge
from keyfold.errors import Undecodable

design = Design("damaged")
table = design.table("damaged")


class Note(Entity, table=table):
    owner_id: Id
    number: int
    text: str = ""
    key = Key("NOTES#{owner_id}", "NOTE#{number:06d}")


NOTES = Note.key.query(owner_id="ada")
OF_BOTH = merge(Note.key.query(owner_id=each(["ada", "ben"])))
READS: dict[str, Callable[[Db], Any]] = {
    "query": lambda db: db.read(NOTES, limit=9).items,
    "collection": lambda db: db.read(collection(Note, owner_id="ada")).items,
    "merge": lambda db: db.read(OF_BOTH, limit=9).items,
    "scan": lambda db: list(db.scan(Note)),
    "get_many": lambda db: [
        one for one in db.get_many([Note.key(owner_id="ada", number=n) for n in range(5)]) if one
    ],
}


@pytest.fixture
def client() -> Iterator[Any]:
    with design.open(":memory:") as db:
        db.put_many([Note(owner_id="ada", number=n) for n in range(5)])
        for number in (1, 3):
            key = Note.key(owner_id="ada", number=number).wire()
            item = {**key, "type": {"S": "Note"}, "ownerId": {"S": "ada"}, "number": {"S": "x"}}
            db.client.call("PutItem", {"TableName": "damaged", "Item": item})
        yield db.client


@pytest.mark.parametrize("read", READS)
def test_the_error_names_them_and_carries_the_others(client: Any, read: str) -> None:
    with pytest.raises(Undecodable, match=r"NOTE#000001.*cannot be read as Note") as raised:
        READS[read](design.open(client))
    problem = raised.value
    assert (problem.entity, list(problem.fields)) == ("Note", ["number"])
    assert problem.key["SK"] == {"S": "NOTE#000001"}
    assert [other.key["SK"] for other in problem.others] == [{"S": "NOTE#000003"}]
    assert [note.number for note in problem.items] == [0, 2, 4]


@pytest.mark.parametrize("read", READS)
def test_they_are_skipped_or_told_where_that_is_said(client: Any, read: str) -> None:
    told: list[Undecodable] = []
    for way in ("skip", told.append):
        db = design.open(client, on_undecodable=way)
        with db.work("read") as work:
            assert [note.number for note in READS[read](db)] == [0, 2, 4]
        assert work.undecodable == 2
    assert [problem.key["SK"]["S"] for problem in told] == ["NOTE#000001", "NOTE#000003"]


def test_the_error_knows_where_the_next_page_begins(client: Any) -> None:
    db = design.open(client)
    with pytest.raises(Undecodable) as raised:
        db.read(NOTES, limit=2)
    rest: Page[Note] = design.open(client, on_undecodable="skip").read(
        NOTES, cursor=raised.value.cursor
    )
    assert [note.number for note in rest] == [2, 4]


def test_a_single_item_is_always_an_error(client: Any) -> None:
    with pytest.raises(Undecodable):
        design.open(client, on_undecodable="skip").get(Note.key(owner_id="ada", number=1))


def test_collections_are_as_usual_without_them(client: Any) -> None:
    found: Collected = design.open(client).read(collection(Note, owner_id="ben"))
    assert found.items == []
