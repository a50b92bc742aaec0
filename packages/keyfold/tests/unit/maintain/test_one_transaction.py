"""Several writes of one item in one transaction, and items that were made anew meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import (
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Timestamp,
    Ttl,
    Unique,
    Version,
    create,
    delete,
    update,
)
from keyfold.errors import KeyfoldError, PlanError, VersionConflict
from keyfold.maintain import verify
from keyfold.streams import Consumer
from keyfold.structures import Cascade
from keyfold.testing import Sandbox

design = Design("desks")
table = design.table(
    "Desks",
    indexes=[Index("GSI1", "gsi1pk", "gsi1sk")],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)


class Desk(Entity, table=table):
    desk_id: Id
    open: Annotated[int, Counter("Ticket", where=lambda t: t.state == "open")] = 0
    total: Annotated[int, Counter("Ticket", sums="amount")] = 0
    notes: Annotated[int, Counter("Note")] = 0
    key = Key("DESK#{desk_id}", "DESK")


class Ticket(Entity, table=table):
    desk_id: Id
    ticket_id: Id
    number: int
    state: str = "open"
    amount: int = 1
    said: Annotated[int, Counter("Note")] = 0
    gone_at: Annotated[Timestamp | None, Ttl()] = None
    version: Annotated[int, Version()] = 0
    key = Key("DESK#{desk_id}", "TICKET#{ticket_id}")
    by_state = On("GSI1", "DESK#{desk_id}#{state}", "{number:04d}")
    one_number = Unique("desk_id", "number")
    notes = Cascade("Note")


class Note(Entity, table=table):
    desk_id: Id
    ticket_id: Id
    note_id: Id
    key = Key("NOTES#{desk_id}#{ticket_id}", "NOTE#{note_id}")


def ref(name: str) -> Any:
    return Ticket.key(desk_id="d", ticket_id=name)


def ticket(name: str, number: int, **values: Any) -> Ticket:
    return Ticket(desk_id="d", ticket_id=name, number=number, **values)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Desk(desk_id="d"))
        opened.create(ticket("a", 1))
        yield opened


def desk(db: Db) -> tuple[int, int, int]:
    found = db.get(Desk.key(desk_id="d"))
    return found.open, found.total, found.notes


def test_a_value_claimed_and_given_up_in_one_transaction_is_free(db: Db) -> None:
    db.transact(update(ref("a"), number=2), update(ref("a"), number=3))
    assert verify(db).clean
    db.create(ticket("b", 2))
    db.create(ticket("c", 1))


def test_two_items_change_values_with_each_other(db: Db) -> None:
    db.create(ticket("b", 2))
    db.transact(update(ref("a"), number=2), update(ref("b"), number=1))
    assert (db.get(ref("a")).number, db.get(ref("b")).number) == (2, 1)
    assert verify(db).clean


def test_an_item_changed_and_deleted_is_uncounted_once(db: Db) -> None:
    db.transact(update(ref("a"), state="shut", amount=5, number=9), delete(ref("a")))
    assert desk(db) == (0, 0, 0)
    assert db.find(ref("a")) is None
    assert verify(db).clean


def test_an_item_deleted_twice_is_uncounted_once(db: Db) -> None:
    db.create(ticket("b", 2))
    note = db.create(Note(desk_id="d", ticket_id="a", note_id="n"))
    db.transact(delete(ref("a")), delete(note.ref()), delete(ref("a")))
    assert desk(db) == (1, 1, 0)
    assert verify(db).clean


@pytest.mark.parametrize("other", [update(ref("a"), amount=2), create(ticket("a", 5))])
def test_an_item_is_not_deleted_and_written_at_once(db: Db, other: Any) -> None:
    with pytest.raises(PlanError, match=r"ticket_id='a'\)"):
        db.transact(delete(ref("a")), other)
    assert verify(db).clean


def test_an_item_made_anew_is_not_the_one_that_was_read(db: Db) -> None:
    read = db.get(ref("a"))
    db.delete(ref("a"))
    anew = db.create(ticket("a", 7, state="shut", amount=4))
    assert anew.version == read.version
    with pytest.raises(VersionConflict):
        db.delete(read)
    with pytest.raises(VersionConflict):
        db.update(read, amount=9)
    with pytest.raises(VersionConflict):
        db.update(read, number=9)
    assert db.get(ref("a")) == anew
    assert verify(db).clean


def test_what_is_returned_counts_what_was_made_with_it(db: Db) -> None:
    """A consequence of one write changes the item of another: the caller hears of both."""
    note = Note(desk_id="e", ticket_id="b", note_id="n")
    made = Ticket(desk_id="e", ticket_id="b", number=2, amount=3)
    returned = db.transact(create(note), create(made), create(Desk(desk_id="e")))
    assert returned == tuple(db.get(one.ref()) for one in returned)
    assert [returned[1].said, returned[2].open, returned[2].total] == [1, 1, 3]
    another = Note(desk_id="e", ticket_id="b", note_id="m")
    changed, _ = db.transact(update(returned[1], amount=5), create(another))
    assert changed == db.get(made.ref())
    assert (changed.said, db.get(Desk.key(desk_id="e")).total) == (2, 5)


def test_a_moved_item_takes_no_counts_along(db: Db) -> None:
    db.create(Note(desk_id="d", ticket_id="a", note_id="n"))
    assert db.get(ref("a")).said == 1
    assert db.move(ref("a"), ticket_id="z").said == 0
    assert desk(db) == (1, 1, 0)
    assert verify(db).clean


def some_write(draw: random.Random, sandbox: Sandbox, db: Db, held: list[Ticket]) -> None:
    """One write, read or moment of a history, mostly of the same few items."""
    name, number, state = str(draw.randrange(5)), draw.randrange(7), draw.choice(["open", "shut"])
    soon = db.context.now() + timedelta(seconds=draw.randrange(1, 60))
    new = ticket(name, number, state=state, amount=number, gone_at=draw.choice([None, soon]))
    old = draw.choice(held) if held else new
    another = update(ref(str(draw.randrange(5))), number=draw.randrange(7))
    writes: list[Callable[[], object]] = [
        lambda: db.create(new),
        lambda: db.put(new),
        lambda: db.create(Note(desk_id="d", ticket_id=name, note_id=str(draw.random()))),
        lambda: db.delete(ref(name)),
        lambda: db.update(ref(name), state=state),
        lambda: db.move(ref(name), ticket_id=str(number)),
        lambda: db.transact(update(ref(name), number=number), another),
        lambda: held.append(db.get(ref(name))),
        lambda: db.update(old, state=state),
        lambda: db.delete(old),
        lambda: sandbox.clock.advance(draw.randrange(30)),
        lambda: (sandbox.engine.sweep(), Consumer(db).drain()),
    ]
    draw.choice(writes)()


@pytest.mark.parametrize("seed", range(8))
def test_any_history_leaves_everything_in_agreement(seed: int) -> None:
    draw = random.Random(seed)
    with Sandbox() as sandbox:
        db = sandbox.open(design)
        db.create(Desk(desk_id="d"))
        held: list[Ticket] = []
        for _ in range(150):
            try:
                some_write(draw, sandbox, db, held)
            except KeyfoldError:
                continue
        sandbox.engine.sweep()
        Consumer(db).drain()
        assert [str(drift) for drift in verify(db).drifts] == []


def test_nothing_is_counted_on_an_item_that_is_deleted_at_once(db: Db) -> None:
    note = Note(desk_id="d", ticket_id="a", note_id="n")
    with pytest.raises(PlanError, match="one transaction deletes Ticket"):
        db.transact(delete(ref("a")), create(note))
    assert db.find(note.ref()) is None


def test_a_put_of_an_item_that_was_read_does_not_bring_it_back(db: Db) -> None:
    read = db.get(ref("a"))
    db.delete(ref("a"))
    with pytest.raises(VersionConflict, match="was deleted after it was read"):
        db.put(read.model_copy(update={"state": "shut"}))
    assert db.find(ref("a")) is None
