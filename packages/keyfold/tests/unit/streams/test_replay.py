"""Dead letters are replayed by a program that can do what the first one could not."""

from __future__ import annotations

import random
from typing import Annotated, Any

import pytest

from keyfold import Db, Design, Entity, Id, Key
from keyfold.errors import StreamError
from keyfold.fields import ReadsAlso
from keyfold.streams import Consumer, ConsumerOptions, Policy, letters, replay
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

OPTIONS = ConsumerOptions(policy=Policy(attempts=1, backoff=0.001))


def notes(user_id: Any, react: Any = None, table_name: str = "Notes") -> tuple[Design, Any]:
    design = Design("notes")
    table = design.table(table_name, stream="NEW_AND_OLD_IMAGES")

    class Note(Entity, table=table):
        __annotations__ = {"note_id": Id, "user_id": user_id, "body": bytes}
        body = b""
        key = Key("NOTE#{note_id}", "NOTE")

    if react is not None:

        @design.on(Note)
        def read(old: Any, new: Any, work: Any) -> None:
            react(new)

    return design, Note


def boom(_: Any) -> None:
    raise ValueError("not today")


@pytest.fixture
def client() -> EmbeddedClient:
    return EmbeddedClient(Engine.open(":memory:"))


def dead_letter(db: Db) -> Any:
    Consumer(db, options=OPTIONS).drain()
    [found] = db.run(letters(db.context))
    return found


def test_a_record_that_could_not_be_read_has_its_effect_in_a_program_that_can(
    client: EmbeddedClient,
) -> None:
    seen: list[str] = []
    old = notes(str, boom)[0].open(client)
    item = {"PK": {"S": "NOTE#n"}, "SK": {"S": "NOTE"}, "type": {"S": "Note"}}
    item |= {"noteId": {"S": "n"}, "userId": {"N": "5"}}
    client.call("PutItem", {"TableName": "Notes", "Item": item})
    dead = dead_letter(old)
    assert dead.effect == "decoding"
    design, _ = notes(Annotated[str, ReadsAlso(int)], lambda new: seen.append(new.user_id))
    new = design.open(client)
    new.run(replay(new, dead))
    assert seen == ["5"]
    assert new.run(letters(new.context)) == []


def test_a_record_that_was_too_large_to_keep_is_not_replayed(client: EmbeddedClient) -> None:
    design, note = notes(str, boom)
    db = design.open(client)
    db.create(note(note_id="n", user_id="u", body=random.Random(7).randbytes(399_000)))
    with pytest.raises(StreamError, match="cannot be replayed: its record was too large to keep"):
        db.run(replay(db, dead_letter(db)))


def test_a_letter_of_a_processor_that_is_gone_says_so(client: EmbeddedClient) -> None:
    design, note = notes(str, boom)
    db = design.open(client)
    db.create(note(note_id="n", user_id="u"))
    dead = dead_letter(db)
    without = notes(str)[0].open(client)
    with pytest.raises(StreamError, match="the design has no processor read for its record"):
        without.run(replay(without, dead))
    moved = notes(str, boom, "Others")[0].open(client)
    with pytest.raises(StreamError, match="the design has no table Notes"):
        moved.run(replay(moved, dead))
