"""A write is shown before it is sent, and sent only as it was shown."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import Counter, Design, Entity, Id, Key, Version, create, delete, update
from keyfold.errors import KeyfoldError
from keyfold.runtime.planned_write import plan_write, send_write
from keyfold_engine.clients import connect
from keyfold_engine.clients.recorder import RecordedClient

design = Design("planned")
table = design.table("planned", stream="NEW_AND_OLD_IMAGES")


class Room(Entity, table=table):
    room_id: Id
    name: str = ""
    members: Annotated[int, Counter("Member")] = 0
    messages: Annotated[int, Counter("Message", sync="stream")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("ROOM#{room_id}", "ROOM")


class Member(Entity, table=table):
    room_id: Id
    user_id: Id
    nick: str = ""
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


class Message(Entity, table=table):
    room_id: Id
    message_id: Id
    text: str = ""
    key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")


@design.on(Message, "insert", name="greet")
def greet(old: Message | None, new: Message | None, delivery: object) -> None:
    return None


def test_a_plan_is_sent_as_it_was_shown() -> None:
    client = connect(":memory:")
    db = design.open(client, create_tables=True)
    db.create(Room(room_id="r"))
    held, sending = RecordedClient(client), RecordedClient(client, writes=True)
    planned = plan_write(design.open(held), held, [create(Member(room_id="r", user_id="mia"))])
    assert planned.request is not None
    assert planned.request.operation == "TransactWriteItems"
    assert [(action, key) for action, _, key, _ in planned.items] == [
        ("Put", "[{'S': 'ROOM#r'}, {'S': 'MEMBER#mia'}]"),
        ("Update", "[{'S': 'ROOM#r'}, {'S': 'ROOM'}]"),
    ]
    assert db.get(Room.key(room_id="r")).members == 0
    sent = send_write(design.open(sending), sending, planned)
    assert sent.operation == "TransactWriteItems"
    assert db.get(Room.key(room_id="r")).members == 1


def test_what_changed_since_is_not_sent() -> None:
    client = connect(":memory:")
    db = design.open(client, create_tables=True)
    db.create(Room(room_id="r"))
    ref = db.create(Member(room_id="r", user_id="mia")).ref()
    held, sending = RecordedClient(client), RecordedClient(client, writes=True)
    planned = plan_write(design.open(held), held, [delete(ref)])
    db.update(ref, nick="other")
    with pytest.raises(KeyfoldError, match="have changed since the plan"):
        send_write(design.open(sending), sending, planned)
    assert db.get(ref).nick == "other"


def test_the_plan_says_what_the_stream_does_afterwards() -> None:
    client = connect(":memory:")
    db = design.open(client, create_tables=True)
    db.create(Room(room_id="r"))
    held = RecordedClient(client)
    shown = design.open(held)
    message = Message(room_id="r", message_id="m")
    planned = plan_write(shown, held, [create(message)])
    assert planned.later == (("counter", "counter Room.messages"), ("processor", "greet"))
    planned = plan_write(shown, held, [update(db.create(message), text="x")])
    assert planned.later == ()
    assert plan_write(shown, held, [update(Room.key(room_id="r"), name="y")]).digest
