"""A page of an access pattern, as a request asks for it."""

from __future__ import annotations

import pytest

from keyfold import Design, Entity, First, Id, Key, Query
from keyfold.errors import PlanError
from keyfold_web import PageRequest

design = Design("paged")
table = design.table("paged")


class Note(Entity, table=table):
    book: Id
    note_id: Id
    key = Key("BOOK#{book}", "NOTE#{note_id}")


@design.pattern(requests=1)
def notes(book: str, limit: int = 50) -> Query[Note]:
    return Note.key.query(book=book).limit(limit)


@design.pattern(requests=1)
def first_note(book: str) -> First[Note]:
    return Note.key.query(book=book).first()


async def test_it_has_the_requests_limit_and_goes_on_after_its_cursor() -> None:
    db = await design.open_async(":memory:")
    for number in range(5):
        await db.create(Note(book="b", note_id=f"{number}"))
    found, cursor = list[list[str]](), None
    while True:
        page = await PageRequest(limit=2, cursor=cursor).read(db, notes, "b")
        found.append([one.note_id for one in page])
        if (cursor := page.cursor) is None:
            break
    assert found == [["0", "1"], ["2", "3"], ["4"]]
    assert len((await PageRequest().read(db, notes, book="b")).items) == 5
    await db.close()


async def test_a_pattern_without_pages_is_refused() -> None:
    db = await design.open_async(":memory:")
    with pytest.raises(PlanError, match="no parameter limit"):
        await PageRequest().read(db, first_note, "b")
    await db.close()
