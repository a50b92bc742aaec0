"""`db.update` goes a short way where it can: same requests, items and errors as the general way.

`db.transact(update(...))` always goes the general one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from keyfold import (
    AtMost,
    Counter,
    Db,
    Design,
    Entity,
    Fixed,
    Id,
    Index,
    Key,
    Normalised,
    On,
    Pointer,
    States,
    Stored,
    Timestamp,
    Ttl,
    Unversioned,
    Updated,
    Version,
    add,
    clear,
    set_if_absent,
    update,
)
from keyfold.errors import KeyfoldError, NotFound, VersionConflict
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

START = 1_900_000_000
design = Design("plain")
table = design.table("items", ttl="ttl", indexes=[Index("ByOwner", "GSI1PK", "GSI1SK")])


class Place(BaseModel):
    town: str
    number: int = 0


class Plain(Entity, table=table):
    plain_id: Id
    title: str = Field(default="", max_length=8)
    text: Annotated[str, Normalised(str.strip)] = ""
    at: Timestamp | None = None
    at_seconds: Annotated[Timestamp | None, Stored("epoch")] = None
    price: Decimal = Decimal(0)
    place: Place | None = None
    names: list[str] = []
    tags: Annotated[set[str], AtMost(3)] = set()
    key = Key("PLAIN#{plain_id}", "PLAIN")


class Rich(Entity, table=table):
    rich_id: Id
    owner: str = "mia"
    title: str = ""
    note: str | None = None
    likes: int = Field(default=0, ge=0)
    seen: Annotated[int, Unversioned()] = 0
    born: Annotated[str, Fixed()] = "here"
    state: Annotated[Literal["new", "done"], States({"new": ["done"]})] = "new"
    checked: str = ""
    starts: Timestamp = datetime(2030, 1, 1, tzinfo=UTC)
    expires: Annotated[Timestamp | None, Ttl(days=900, after="starts")] = None
    parts: Annotated[int, Counter("Part")] = 0
    updated: Annotated[Timestamp | None, Updated()] = None
    version: Annotated[int, Version()] = 0
    key = Key("RICH#{rich_id}", "RICH")
    by_owner = On("ByOwner", "OWNER#{owner}", "RICH#{rich_id}")

    @field_validator("checked")
    @classmethod
    def _short(cls, value: str) -> str:
        assert len(value) < 5, "is too long"
        return value.upper()


class Part(Entity, table=table):
    part_id: Id
    rich_id: Id
    label: str = ""
    key = Key("RICH#{rich_id}", "PART#{part_id}")


class PartPointer(Pointer[Part], table=table, sync="transaction"):
    part_id: Id
    rich_id: Id
    label: str
    key = Key("PART#{part_id}", "POINTER")


VALUES: dict[str, list[Any]] = {
    "title": ["a", "Öl #1", "too long for it", None, clear, set_if_absent("b"), 7],
    "text": ["  trim ", "x"],
    "at": [datetime(2031, 5, 4, 12, 0, 0, 123456, tzinfo=UTC), None, "2031-05-04T12:00:00Z"],
    "at_seconds": [datetime(2031, 5, 4, 12, 0, 0, 999999, tzinfo=UTC), "no time"],
    "price": [Decimal("1.50"), 3, float("nan"), add(Decimal("0.1"))],
    "place": [Place(town="Oslo"), {"town": "Bonn", "number": 3}, None],
    "names": [["a", "b"], []],
    "tags": [{"a"}, set(), {"a", "b", "c", "d"}, add({"z"})],
    "owner": ["mia", "leo", None],
    "note": ["n", None],
    "likes": [1, -1, add(2), add(-9), "5"],
    "seen": [3, add(1)],
    "born": ["there", set_if_absent("x")],
    "state": ["done", "new", "lost"],
    "checked": ["abc", "abcdef"],
    "starts": [datetime(2031, 1, 1, tzinfo=UTC)],
    "expires": [datetime(2040, 1, 1, tzinfo=UTC)],
    "parts": [3],
    "version": [4],
    "updated": [datetime(2031, 1, 1, tzinfo=UTC)],
    "rich_id": ["r2"],
    "rare": ["?"],
    "label": ["l1", "l2"],
}


class Recording(EmbeddedClient):
    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:", clock=ManualClock(START)))
        self.sent: list[Any] = []

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        self.sent.append((operation, dict(request)))
        return super().call(operation, request)


def opened() -> tuple[Db, Recording]:
    client = Recording()
    db = design.open(client, clock=ManualClock(START), create_tables=True)
    db.create(Plain(plain_id="p", title="first"))
    db.create(Rich(rich_id="r"))
    db.create(Part(part_id="t", rich_id="r"))
    client.sent.clear()
    return db, client


def general_way(db: Db) -> Callable[..., Any]:
    return lambda target, **given: db.transact(update(target, **given))[0]


def outcome(work: Callable[..., Any], target: Any, **given: Any) -> Any:
    try:
        return work(target, **given)
    except KeyfoldError as problem:
        return type(problem), str(problem)


@pytest.mark.parametrize("seed", range(12))
def test_both_ways_send_the_same_and_end_alike(seed: int) -> None:
    chance = random.Random(seed)
    (short, sent), (general, wanted) = opened(), opened()
    places: list[tuple[Any, Any]] = [
        (Plain, Plain.key(plain_id="p")),
        (Rich, Rich.key(rich_id="r")),
        (Part, Part.key(rich_id="r", part_id="t")),
        (Plain, Plain.key(plain_id="missing")),
    ]
    read: dict[int, Any] = {}
    for _ in range(60):
        which = chance.randrange(len(places))
        entity, ref = places[which]
        known = [*(n for n in VALUES if n in entity.model_fields), "rare"]
        names = chance.sample(known, chance.choice([1, 1, 1, 2, 3]))
        given: Any = {name: chance.choice(VALUES[name]) for name in names}
        if chance.random() < 0.3 or which not in read:
            read[which] = short.find(ref)
        target: Any = read[which] if chance.random() < 0.5 and read[which] is not None else ref
        sent.sent.clear()
        wanted.sent.clear()
        mine = outcome(short.update, target, **given)
        theirs = outcome(general_way(general), target, **given)
        told = f"{target!r} {given}"
        assert sent.sent == wanted.sent, told
        if isinstance(mine, tuple) or isinstance(theirs, tuple):
            assert mine == theirs, told
        elif theirs is not None:  # A transaction of several writes reads nothing back.
            assert mine == theirs, told
            read[which] = chance.choice([read[which], mine])
        for kind in (Plain, Rich, Part, PartPointer):
            assert [*short.scan(kind)] == [*general.scan(kind)], told


def test_a_plain_update_plans_nothing_twice() -> None:
    """Its request is rendered once; a structure that comes later is noticed."""
    later = Design("later")
    notes = later.table("notes")

    class Note(Entity, table=notes):
        note_id: Id
        title: str = ""
        key = Key("NOTE#{note_id}", "NOTE")

    db = later.open(":memory:")
    note = db.create(Note(note_id="n"))
    db.update(note, title="one")

    class NotePointer(Pointer[Note], table=notes, sync="transaction"):
        note_id: Id
        title: str
        key = Key("TITLES", "NOTE#{note_id}")

    db.put(db.get(note.ref()))
    db.update(note, title="two")
    assert [one.title for one in db.scan(NotePointer)] == ["two"]


def test_who_is_late_and_who_is_gone_hear_so() -> None:
    db, _ = opened()
    rich = db.get(Rich.key(rich_id="r"))
    db.update(rich, title="one")
    with pytest.raises(VersionConflict, match="was changed by another writer after it was read"):
        db.update(rich, title="two")
    with pytest.raises(NotFound, match=r"Plain\(plain_id='gone'\) does not exist"):
        db.update(Plain.key(plain_id="gone"), title="x")
