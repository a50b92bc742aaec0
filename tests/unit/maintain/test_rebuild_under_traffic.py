"""A number that is rebuilt while writers go on ends right, or the rebuild says that it did not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key
from keyfold.clients.embedded import EmbeddedClient
from keyfold.engine import Engine
from keyfold.errors import VerifyFailed
from keyfold.maintain import rebuild, verify

design = Design("shelves")
table = design.table("Shelves")


class Shelf(Entity, table=table):
    shelf_id: Id
    books: Annotated[int, Counter("Book")] = 0
    key = Key("SHELF#{shelf_id}", "SHELF")


class Book(Entity, table=table):
    shelf_id: Id
    book_id: Id
    key = Key("SHELF#{shelf_id}", "BOOK#{book_id}")


class Busy(EmbeddedClient):
    """Lets somebody else write in the middle of requests."""

    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:"))
        self.before: dict[str, Callable[[], object]] = {}
        self.after: dict[str, Callable[[], object]] = {}

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self._meddle(self.before, operation)
        answer = super().call(operation, request)
        self._meddle(self.after, operation)
        return answer

    def _meddle(self, meddling: dict[str, Callable[[], object]], operation: str) -> None:
        act = meddling.pop(operation, None)
        if act is not None:
            act()
            meddling[operation] = act


@pytest.fixture
def busy() -> tuple[Busy, Db]:
    client = Busy()
    db = design.open(client)
    db.create(Shelf(shelf_id="s"))
    for number in range(5):
        db.create(Book(shelf_id="s", book_id=f"b{number}"))
    request = {
        "TableName": "Shelves",
        "Key": Shelf.key(shelf_id="s").wire(),
        "UpdateExpression": "SET books = :n",
        "ExpressionAttributeValues": {":n": {"N": "2"}},
    }
    client.call("UpdateItem", request)
    return client, db


def test_what_is_counted_between_the_look_and_the_fix_is_kept(busy: tuple[Busy, Db]) -> None:
    client, db = busy
    added = iter(range(3))

    def add() -> None:
        number = next(added, None)
        if number is not None:
            other = design.open(EmbeddedClient(client.engine))
            other.create(Book(shelf_id="s", book_id=f"late{number}"))

    client.before["UpdateItem"] = add
    rebuild(db)
    client.before.clear()
    assert db.get(Shelf.key(shelf_id="s")).books == len(list(db.scan(Book))) > 5
    assert verify(db).clean


def test_a_number_in_motion_is_not_taken_for_right(busy: tuple[Busy, Db]) -> None:
    client, db = busy
    other = design.open(EmbeddedClient(client.engine))
    count = 0

    def add() -> None:
        nonlocal count
        count += 1
        other.create(Book(shelf_id="s", book_id=f"more{count}"))

    client.after["Scan"] = add
    assert verify(db).moving == 1
    with pytest.raises(VerifyFailed, match="1 numbers in motion"):
        rebuild(db)
    client.after.clear()
    rebuild(db)
    assert db.get(Shelf.key(shelf_id="s")).books == 5 + count
