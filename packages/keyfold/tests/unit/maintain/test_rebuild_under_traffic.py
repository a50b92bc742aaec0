"""A number that is rebuilt while writers go on ends right, or the rebuild says that it did not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random
from threading import Event, Thread
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key
from keyfold.errors import VerifyFailed
from keyfold.maintain import rebuild, repair, verify
from keyfold.streams import Consumer
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

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
        self.page: int | None = None
        self.before: dict[str, Callable[[], object]] = {}
        self.after: dict[str, Callable[[], object]] = {}

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "Scan" and self.page is not None:
            request = {**request, "Limit": self.page}
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

    client.after["Query"] = add
    assert verify(db).moving == 1
    with pytest.raises(VerifyFailed, match="1 numbers in motion"):
        rebuild(db)
    client.after.clear()
    rebuild(db)
    assert db.get(Shelf.key(shelf_id="s")).books == 5 + count


def test_a_right_number_is_no_drift_where_two_scans_are_late_by_the_same(
    busy: tuple[Busy, Db],
) -> None:
    client, db = busy
    rebuild(db)
    other = design.open(EmbeddedClient(client.engine))
    scans = iter(range(100))

    def add() -> None:
        """After the books were read and before their shelf is, at each scan."""
        number = next(scans)
        if number in (4, 4 + 6):
            other.create(Book(shelf_id="s", book_id=f"a{number}"))

    client.page, client.after["Scan"] = 1, add
    report = verify(db)
    client.page = None
    client.after.clear()
    assert (report.drifts, report.moving) == ([], 0)
    assert db.get(Shelf.key(shelf_id="s")).books == len(list(db.scan(Book)))


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_number_is_repaired_exactly_while_several_count(
    busy: tuple[Busy, Db], seed: int
) -> None:
    client, db = busy
    report = verify(db)
    stop = Event()

    def write(name: str) -> None:
        chance, other = Random(f"{seed}{name}"), design.open(EmbeddedClient(client.engine))
        while not stop.is_set():
            book = Book(shelf_id="s", book_id=f"{name}{chance.randrange(4)}")
            if other.find(book.ref()) is None:
                other.create(book)
            else:
                other.delete(book.ref())
            time.sleep(chance.uniform(0, 0.02))

    writers = [Thread(target=write, args=(name,)) for name in "xyz"]
    for writer in writers:
        writer.start()
    while repair(db, report).left:
        pass
    stop.set()
    for writer in writers:
        writer.join()
    assert db.get(Shelf.key(shelf_id="s")).books == len(list(db.scan(Book)))
    assert verify(db).clean


def test_two_repairs_at_once_add_what_is_missing_once(busy: tuple[Busy, Db]) -> None:
    client, db = busy
    report = verify(db)
    other = design.open(EmbeddedClient(client.engine))
    others = iter([other])

    def repair_first() -> None:
        for one in others:
            repair(one, report)

    client.before["UpdateItem"] = repair_first
    assert repair(db, report).left == []
    assert db.get(Shelf.key(shelf_id="s")).books == 5


def test_a_number_that_was_never_written_is_made_right(busy: tuple[Busy, Db]) -> None:
    client, db = busy
    key = Shelf.key(shelf_id="s").wire()
    request = {"TableName": "Shelves", "Key": key, "UpdateExpression": "REMOVE books"}
    client.call("UpdateItem", request)
    rebuild(db)
    assert db.get(Shelf.key(shelf_id="s")).books == 5


streamed = Design("stacks")
stacks = streamed.table("Stacks", stream="NEW_AND_OLD_IMAGES")


class Stack(Entity, table=stacks):
    stack_id: Id
    sheets: Annotated[int, Counter("Sheet", sync="stream")] = 0
    key = Key("STACK#{stack_id}", "STACK")


class Sheet(Entity, table=stacks):
    stack_id: Id
    sheet_id: Id
    key = Key("STACK#{stack_id}", "SHEET#{sheet_id}")


def stack(client: Busy) -> Db:
    """A stack that is one sheet short, with its stream read."""
    db = streamed.open(client)
    db.create(Stack(stack_id="s"))
    for number in range(3):
        db.create(Sheet(stack_id="s", sheet_id=f"s{number}"))
    Consumer(db).catch_up()
    request = {
        "TableName": "Stacks",
        "Key": Stack.key(stack_id="s").wire(),
        "UpdateExpression": "SET sheets = :n",
        "ExpressionAttributeValues": {":n": {"N": "2"}},
    }
    client.call("UpdateItem", request)
    return db


def test_a_number_of_a_stream_that_moves_in_one_round_is_corrected_in_another() -> None:
    client = Busy()
    db, other = stack(client), streamed.open(EmbeddedClient(client.engine))
    added = iter(range(3))

    def add() -> None:
        number = next(added, None)
        if number is not None:
            other.create(Sheet(stack_id="s", sheet_id=f"late{number}"))

    client.before["Scan"] = add
    rebuild(db, settle=Consumer(db).catch_up)
    Consumer(db).catch_up()
    assert db.get(Stack.key(stack_id="s")).sheets == 6


def test_a_number_of_a_stream_that_never_rests_is_not_taken_for_right() -> None:
    client = Busy()
    db, other = stack(client), streamed.open(EmbeddedClient(client.engine))
    count = 0

    def add() -> None:
        nonlocal count
        count += 1
        other.create(Sheet(stack_id="s", sheet_id=f"more{count}"))

    client.before["Scan"] = add
    with pytest.raises(VerifyFailed, match="changes faster"):
        rebuild(db, settle=Consumer(db).catch_up)
    client.before.clear()
    rebuild(db, settle=Consumer(db).catch_up)
    assert db.get(Stack.key(stack_id="s")).sheets == 3 + count
