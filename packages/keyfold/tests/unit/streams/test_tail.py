"""A tail tells what changes from now on, and stops when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from keyfold import AsyncDb, Design, Entity, Id, Key
from keyfold.streams.tail import Tail
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine

design = Design("tails")
table = design.table("Tails", stream="NEW_AND_OLD_IMAGES")


class Note(Entity, table=table):
    note_id: Id
    text: str = ""
    key = Key("NOTE#{note_id}", "NOTE")


class Other(Entity, table=table):
    other_id: Id
    key = Key("OTHER#{other_id}", "OTHER")


async def opened() -> AsyncDb:
    return await design.open_async(AsyncEmbeddedClient(Engine.open(":memory:")))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.005)


async def test_it_tells_later_changes_of_its_entities_only() -> None:
    db = await opened()
    await db.create(Note(note_id="before"))
    told: list[Any] = []
    tail = Tail(db, [Note], told.append)
    await tail.start()
    await db.create(Other(other_id="o"))
    made = await db.create(Note(note_id="n", text="a"))
    changed = await db.update(made.ref(), text="b")
    await db.delete(made.ref())
    await until(lambda: len(told) >= 3)
    await tail.stop()
    assert [(one.old, one.new) for one in told] == [(None, made), (made, changed), (changed, None)]
    await db.create(Note(note_id="after"))
    assert len(told) == 3
    await db.close()


async def test_what_cannot_be_read_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    db = await opened()
    told: list[Any] = []
    tail = Tail(db, [Note], told.append)
    await tail.start()
    wrong = {"PK": {"S": "NOTE#x"}, "SK": {"S": "NOTE"}, "type": {"S": "Note"}, "text": {"N": "1"}}
    await db.client.call("PutItem", {"TableName": "Tails", "Item": wrong})
    made = await db.create(Note(note_id="n"))
    await until(lambda: bool(told))
    await tail.stop()
    assert [one.new for one in told] == [made]
    assert "a change cannot be delivered" in caplog.text
    await db.close()
