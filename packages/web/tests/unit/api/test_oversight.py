"""Reports, decisions and their trail, of a service that says what can be reported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from keyfold import Design, Entity, Key, update
from keyfold_web import (
    AuditFields,
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    Oversight,
    PageRequest,
    ReportFields,
    Service,
    Subject,
    Trail,
    authenticated,
    itself,
)
from keyfold.streams import AsyncConsumer, Queue

design = Design("board")
table = design.table("Board", stream="NEW_AND_OLD_IMAGES")


class Word(Entity, table=table):
    board_id: str
    word_id: str
    author_id: str
    text: str
    pinned: bool = False
    key = Key("BOARD#{board_id}", "WORD#{word_id}")


class Person(Entity, table=table):
    user_id: str
    name: str = ""
    key = Key("USER#{user_id}", "PERSON")


class Report(ReportFields, Entity, table=table):
    key = Key("REPORTS", "REPORT#{kind}#{subject_id}#{reporter_id}")


class AuditEntry(AuditFields, Entity, table=table):
    key = Key("AUDIT#{at:%Y-%m}", "AT#{at:iso}#{entry_id}")


trail = Trail.of(design, Report, AuditEntry)


def unpinned(word: Word) -> list[Any]:
    return [update(word.ref(), text="", where=lambda w: ~w.pinned)]


class Board(Oversight, Service):
    """Words on boards."""

    trail = trail
    subjects = {
        "word": Subject(
            Word, ["board_id", "word_id"], allow=authenticated, owner="author_id", shown="text"
        ),
        "note": Subject(
            Word,
            ["board_id", "word_id"],
            allow=authenticated,
            owner="author_id",
            shown="text",
            remove=unpinned,
        ),
        "person": Subject(
            Person,
            ["user_id"],
            allow=itself("user_id") | authenticated,
            owner="user_id",
            shown="name",
            by_admin=True,
        ),
        "secret": Subject(Person, ["user_id"], allow=itself("user_id"), owner="name", shown="name"),
    }


ADA, BEN = Identity.of("ada"), Identity.of("ben")
MO, ROOT = Identity.of("mo", "moderator"), Identity.of("root", "admin")
PAGE = PageRequest(limit=10)
WORD = ("word", "b/w")


@pytest.fixture
async def board() -> AsyncIterator[Board]:
    async with await design.open_async(":memory:") as db:
        await db.create(Word(board_id="b", word_id="w", author_id="ben", text="Buy this"))
        await db.create(Person(user_id="ben", name="Ben"))
        yield Board(db)


async def trails(board: Board) -> list[tuple[str, str, str, str]]:
    return [(one.by, one.action, one.subject, one.note) for one in await board.audit(PAGE)]


async def test_a_report_waits_with_what_it_is_about_once_for_each_who_made_it(
    board: Board,
) -> None:
    for who in (ADA, ADA, ROOT):
        await board.report(*WORD, "Spam", caller=who)
    waiting = await board.reports(PAGE)
    assert [(x.subject_id, x.reporter_id, x.owner_id, x.excerpt) for x in waiting] == [
        ("b/w", "ada", "ben", "Buy this"),
        ("b/w", "root", "ben", "Buy this"),
    ]


@pytest.mark.parametrize(
    ("kind", "id", "who", "message"),
    [
        ("word", "b/none", ADA, "unknown word"),
        ("word", "b", ADA, "<board_id>/<word_id>"),
        ("word", "b/", ADA, "<board_id>/<word_id>"),
        ("word", "b/w", BEN, "your own"),
        ("secret", "ben", ADA, "unknown secret"),
        ("nothing", "x", ADA, "one of note, person, secret, word"),
    ],
)
async def test_what_nobody_sees_and_ones_own_is_not_reported(
    board: Board, kind: str, id: str, who: Identity, message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        await board.report(kind, id, "Spam", caller=who)
    assert (await board.reports(PAGE)).items == []


async def test_a_removal_takes_its_reports_along_and_is_noted(board: Board) -> None:
    await board.report(*WORD, "Spam", caller=ADA)
    await board.decide(*WORD, "remove", "Advertising", caller=MO)
    assert [one async for one in board.db.scan(Word)] == []
    assert (await board.reports(PAGE)).items == []
    assert await trails(board) == [("mo", "remove", "word b/w", "Advertising")]
    with pytest.raises(Missing):
        await board.decide(*WORD, "remove", "Again", caller=MO)
    assert len(await trails(board)) == 1


async def test_what_is_dismissed_stays(board: Board) -> None:
    await board.report(*WORD, "Spam", caller=ADA)
    await board.decide(*WORD, "dismiss", "A joke", caller=MO)
    assert (await board.reports(PAGE)).items == []
    assert len([one async for one in board.db.scan(Word)]) == 1
    with pytest.raises(Missing, match="There are no reports of word"):
        await board.decide(*WORD, "dismiss", "Again", caller=MO)
    assert await trails(board) == [("mo", "dismiss", "word b/w", "A joke")]


async def test_a_removal_that_is_refused_leaves_no_trail(board: Board) -> None:
    await board.db.update(Word.key(board_id="b", word_id="w"), pinned=True)
    await board.report("note", "b/w", "Spam", caller=ADA)
    with pytest.raises(Conflict, match="cannot be removed"):
        await board.decide("note", "b/w", "remove", "Spam", caller=MO)
    assert await trails(board) == []
    assert len(await board.reports(PAGE)) == 1


async def test_people_are_removed_by_administrators(board: Board) -> None:
    with pytest.raises(NotAllowed):
        await board.decide("person", "ben", "remove", "Spam", caller=MO)
    assert await trails(board) == []
    await board.decide("person", "ben", "remove", "Spam", caller=ROOT)
    assert [one async for one in board.db.scan(Person)] == []


async def test_moderators_and_administrators_alone_see_and_decide(board: Board) -> None:
    callers = {"ada": ADA, "mo": MO, "root": ROOT}
    for method in ("reports", "decide", "audit"):
        found = await board.verdicts(method, callers)
        assert found == {"ada": 403, "mo": 200, "root": 200}


async def test_reports_and_decisions_are_announced_without_who_reported(board: Board) -> None:
    await board.report(*WORD, "Spam", caller=ADA)
    await board.decide(*WORD, "remove", "Spam", caller=MO)
    queue = Queue("events")
    await AsyncConsumer(board.db, sinks=[queue]).drain()
    events = await board.db.run(queue.messages(board.db.context))
    assert [(one.name, one.payload) for one in events] == [
        ("ContentReported", {"kind": "word", "subjectId": "b/w"}),
        ("ModeratorDecided", {"action": "remove", "subject": "word b/w", "by": "mo"}),
    ]
    assert [one.name for one in events if b"ada" in one.body()] == []


async def test_reports_about_what_somebody_owns_are_found(board: Board) -> None:
    await board.db.create(Word(board_id="b", word_id="v", author_id="ada", text="Hello"))
    await board.report(*WORD, "Spam", caller=ADA)
    await board.report("word", "b/v", "Spam", caller=BEN)
    found = [one async for one in board.db.iterate(trail.reports_about("ben"))]
    assert [(one.subject_id, one.reporter_id) for one in found] == [("b/w", "ada")]
