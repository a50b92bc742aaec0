"""A scan in segments reads everything; one segment is asked for by its number and their count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyfold import Db, Design, Entity, Id, Key
from keyfold.errors import PlanError

design = Design("scanned")


class Note(Entity, table=design.table("scanned")):
    note_id: Id
    key = Key("NOTE#{note_id}", "NOTE")


NAMES = {f"n{number:02d}" for number in range(40)}


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as db:
        db.put_many([Note(note_id=name) for name in NAMES])
        yield db


def test_segments_are_a_parallel_scan_of_everything(db: Db) -> None:
    with db.work("scan") as work:
        assert sorted(note.note_id for note in db.scan(Note, segments=4)) == sorted(NAMES)
    assert work.total.requests == 4


def test_one_segment_is_its_part_of_all(db: Db) -> None:
    parts = [{note.note_id for note in db.scan(Note, segment=n, of=4)} for n in range(4)]
    assert set().union(*parts) == NAMES
    assert sum(map(len, parts)) == len(NAMES)
    assert max(map(len, parts)) < len(NAMES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"segments": 0},
        {"segment": 1},
        {"of": 4},
        {"segment": 4, "of": 4},
        {"segment": -1, "of": 4},
        {"segments": 2, "segment": 0, "of": 4},
        {"segments": True},
    ],
)
def test_segments_that_say_nothing_are_refused(db: Db, wrong: dict[str, int]) -> None:
    with pytest.raises(PlanError, match="segment"):
        list(db.scan(Note, **wrong))


async def test_the_same_when_awaited() -> None:
    async with await design.open_async(":memory:") as db:
        await db.put_many([Note(note_id=name) for name in NAMES])
        assert {note.note_id async for note in db.scan(Note, segments=3)} == NAMES
        assert len([note async for note in db.scan(Note, segment=0, of=2)]) < len(NAMES)
