"""What a handle tells of its work: progress, units by pattern, loops, which intent failed."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from keyfold import Db, Design, Entity, Id, Key, Query, check, create, update
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound, RequestReused
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults

design = Design("accounting")
table = design.table("accounting", ttl="ttl")


class Note(Entity, table=table):
    user_id: Id
    note_id: Id
    stars: int = 0
    key = Key("USER#{user_id}", "NOTE#{note_id}")


@design.pattern(requests=1)
def notes_of(user_id: str) -> Query[Note]:
    return Note.key.query(user_id=user_id)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def db(clock: ManualClock) -> Iterator[Db]:
    client = EmbeddedClient(Engine.open(":memory:", clock=clock))
    with design.open(client, clock=clock) as handle:
        yield handle


def _notes(count: int) -> list[Note]:
    return [Note(user_id="u", note_id=f"n{number:03d}") for number in range(count)]


def test_batches_tell_how_far_they_are(db: Db) -> None:
    told: list[int] = []
    assert db.put_many(_notes(60), progress=told.append) == 60
    assert told == [25, 50, 60]
    told.clear()
    assert db.delete_many([note.ref() for note in _notes(30)], progress=told.append) == 30
    assert told == [25, 30]
    told.clear()
    assert db.delete_collection(Note.key.query(user_id="u"), progress=told.append) == 30
    assert told == [25, 30]


def test_what_a_batch_left_unprocessed_is_sent_again() -> None:
    faults = Faults(seed=3, unprocessed=0.5)
    told: list[int] = []
    with design.open(EmbeddedClient(Engine.open(":memory:", faults=faults))) as db:
        assert db.put_many(_notes(60), progress=told.append) == 60
        found = db.get_many([note.ref() for note in _notes(60)])
    assert found == _notes(60)
    assert told[-1] == 60


def test_units_are_counted_by_pattern_while_measuring(db: Db) -> None:
    db.put_many(_notes(3))
    notes_of(db, "u")
    assert "notes_of" not in db.meter.usage
    db.meter.measuring = True
    notes_of(db, "u")
    notes_of(db, "u")
    usage = db.meter.usage["notes_of"]
    assert (usage.calls, usage.requests, usage.read_units) == (2, 2, 1.0)


def test_a_loop_of_single_reads_is_logged_with_its_place(
    db: Db, caplog: pytest.LogCaptureFixture
) -> None:
    db.put_many(_notes(12))
    with caplog.at_level(logging.WARNING, "keyfold.budget"), db.work("list"):
        for note in _notes(12):
            db.get(note.ref())
    (record,) = caplog.records
    assert "Note" in record.getMessage()
    assert "test_accounting.py" in record.getMessage()


def test_a_refused_transaction_names_the_intent_that_was_refused(db: Db) -> None:
    first, second = _notes(2)
    db.create(first)
    with pytest.raises(NotFound, match="note_id='n001'"):
        db.transact(update(first.ref(), stars=1), update(second.ref(), stars=1))
    with pytest.raises(AlreadyExists, match="note_id='n000'"):
        db.transact(create(second), create(first))
    with pytest.raises(ConditionFailed, match=r"note_id='n000'.*stars > 3"):
        db.transact(create(second), check(first.ref(), where=lambda n: n.stars > 3))
    assert db.find(second.ref()) is None


def test_a_remembered_result_runs_out(db: Db, clock: ManualClock) -> None:
    made: list[int] = []

    def work() -> int:
        made.append(1)
        return len(made)

    assert db.once("id", work, result=int, payload=1, ttl=60) == 1
    assert db.once("id", work, result=int, payload=1, ttl=60) == 1
    with pytest.raises(RequestReused):
        db.once("id", work, result=int, payload=2, ttl=60)
    clock.advance(61)
    assert db.once("id", work, result=int, payload=2, ttl=60) == 2
