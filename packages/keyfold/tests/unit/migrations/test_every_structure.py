"""A design with every kind of structure: its snapshot is itself, and changed conditions migrate."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from keyfold.maintain import verify
from keyfold.migrations import Backend, Migrator, diff, load, snapshot
from keyfold.migrations.plan import draft
from keyfold.streams import Consumer
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

ROOMS = """
from typing import Annotated
from keyfold import Copied, Counter, Design, Entity, Id, Index, Key, On, Pointer, Unique, Version
from keyfold.structures import Average, Cascade, Edge, Extreme, Latest, Mirror

design = Design("rooms")
table = design.table(
    "Rooms", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], stream="NEW_AND_OLD_IMAGES"
)


class Room(Entity, table=table):
    room_id: Id
    name: str
    public: bool = True
    tags: set[str] = set()
    members: Annotated[int, Counter("Member", where=lambda one: one.active == ACTIVE)] = 0
    hits: Annotated[int, Counter("Hit", shards=4)] = 0
    stars: Annotated[int, Counter("Review", sums="stars")] = 0
    reviews: Annotated[int, Counter("Review")] = 0
    last_id: str | None = None
    last_at: int | None = None
    sent: int = 0
    best_id: str | None = None
    best_stars: int | None = None
    moved: int = 0
    version: Annotated[int, Version()] = 0
    key = Key("ROOM#{room_id}", "ROOM")
    listed = On("GSI1", "LISTED", "ROOM#{room_id}", when=lambda room: room.public == PUBLIC)
    everyone = Cascade("Member")
    one_name = Unique("name", normalise=str.lower)
    last = Latest(
        "Message", by="at", shows={"last_id": "message_id", "last_at": "at"}, moves="sent"
    )
    best = Extreme(
        "Review", by="stars", shows={"best_id": "user_id", "best_stars": "stars"}, moves="moved"
    )
    rating = Average("stars", "reviews")


class RoomByTag(Pointer[Room], table=table, each="tags", when=lambda room: room.public == PUBLIC):
    tag: Id
    room_id: Id
    name: str
    members: int
    key = Key("TAG#{tag}", "ROOM#{room_id}")


class Member(Entity, table=table):
    room_id: Id
    user_id: Id
    active: bool = True
    room_name: Annotated[str, Copied("Room", "name")] = ""
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


class Hit(Entity, table=table):
    room_id: Id
    hit_id: Id
    key = Key("ROOM#{room_id}", "HIT#{hit_id}")


class Review(Entity, table=table):
    room_id: Id
    user_id: Id
    stars: int
    key = Key("ROOM#{room_id}", "REVIEW#{user_id}")


class Message(Entity, table=table):
    room_id: Id
    message_id: Id
    at: int
    key = Key("ROOM#{room_id}", "MESSAGE#{at:012d}#{message_id}")


class Follow(Edge, table=table):
    follower_id: Id
    followee_id: Id
    key = Key("USER#{follower_id}", "FOLLOWS#{followee_id}")
    followers = Mirror("USER#{followee_id}", "FOLLOWER#{follower_id}")
"""


def declared(folder: Path, name: str, *, public: bool, active: bool) -> Any:
    text = ROOMS.replace("PUBLIC", str(public)).replace("ACTIVE", str(active))
    (folder / f"{name}.py").write_text(text)
    try:
        return importlib.import_module(name).design
    finally:
        del sys.modules[name]


def fill(db: Any, design: Any) -> None:
    made = design.entities
    for number in range(3):
        room_id = f"r{number}"
        room = made["Room"](
            room_id=room_id, name=f"Room {number}", public=number != 0, tags={"a", room_id}
        )
        db.create(room)
        for one in range(3):
            user_id = f"u{one}"
            db.create(
                made["Member"](
                    room_id=room_id, user_id=user_id, active=one > 0, room_name=room.name
                )
            )
            db.create(made["Hit"](room_id=room_id, hit_id=user_id))
            db.create(made["Review"](room_id=room_id, user_id=user_id, stars=one))
            db.create(made["Message"](room_id=room_id, message_id=user_id, at=one))
    db.create(made["Follow"](follower_id="u0", followee_id="u1"))
    Consumer(db).drain()


def test_a_snapshot_tells_no_difference_to_the_design_that_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    schema = declared(tmp_path, "rooms_kept", public=True, active=True).schema
    again = snapshot.load(snapshot.dump(schema))
    assert {each.kind for each in schema.follows} >= {"latest", "extreme", "unique", "copied"}
    assert [each.shows for each in again.follows] == [each.shows for each in schema.follows]
    assert diff(again, schema) == []


def test_changed_conditions_migrate_beside_every_structure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    client = EmbeddedClient(Engine.open(":memory:"))
    before = declared(tmp_path, "rooms_before", public=True, active=True)
    old = before.open(client)
    fill(old, before)
    assert verify(old).clean
    after = declared(tmp_path, "rooms_after", public=False, active=False)
    assert [change.words for change in diff(before.schema, after.schema)] == [
        "items of Room are in GSI1 where public = false (before: where public = true)",
        "pointer RoomByTag: where public = false (before: where public = true)",
        "counter Room.members: where active = false (before: where active = true)",
    ]
    made = draft("conditions", before.schema, after.schema, design="rooms_after:design")
    migration = load(made.save(tmp_path))
    sys.modules.pop("rooms_after", None)
    Migrator(migration, Backend(client), without_routers=True).apply("contract")
    db = after.open(client, create_tables=False)
    assert db.get(after.entities["Room"].key(room_id="r1")).members == 1
    assert verify(db, settle=Consumer(db).catch_up).drifts == []
