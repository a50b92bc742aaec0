"""What common journeys cost: calls of keyfold's functions, and requests. Both may only fall.

Calls of the engine and of libraries are not counted: other things decide them.
"""

from __future__ import annotations

import sys
from collections import Counter as Counts
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import pytest
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

import keyfold
from keyfold import Copied, Counter, Db, Design, Entity, Id, Key, Pointer, Query, Version
from keyfold.feeds import Feed, Flag
from keyfold.streams import Consumer
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

OURS = f"{Path(keyfold.__file__).parent}/"
design = Design("journeys")
table = network_table(design)


class Plain(Entity, table=table):
    plain_id: Id
    title: str = ""
    version: Annotated[int, Version()] = 0
    key = Key("PLAIN#{plain_id}", "PLAIN")


class Room(Entity, table=table):
    room_id: Id
    name: str = ""
    members: Annotated[int, Counter("Member")] = 0
    key = Key("ROOM#{room_id}", "ROOM")


class Member(Entity, table=table):
    room_id: Id
    user_id: Id
    room_members: Annotated[int, Copied("Room", "members")] = 0
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


class Task(Entity, table=table):
    task_id: Id
    title: str = ""
    key = Key("TASK#{task_id}", "TASK")


class TaskPointer(Pointer[Task], table=table, sync="transaction"):
    task_id: Id
    title: str
    key = Key("TASKS", "TASK#{task_id}")


class Follow(FollowFields, table=table):
    pass


class Activity(ActivityFields, table=table):
    pass


class FeedItem(FeedItemFields, table=table):
    pass


class Promotion(PromotionFields, table=table):
    pass


feed = Feed(
    "home",
    activity=Activity,
    edge=Follow,
    item=FeedItem,
    push=Flag(Promotion, "fanout_enabled", since="updated_at"),
)


@design.pattern(requests=1)
def members(room_id: str) -> Query[Member]:
    """The members of a room."""
    return Member.key.query(room_id=room_id).limit(5)


class Counting(EmbeddedClient):
    def __init__(self, clock: ManualClock) -> None:
        super().__init__(Engine.open(":memory:", clock=clock))
        self.sent: list[str] = []

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.sent.append(operation)
        return super().call(operation, request)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_900_000_000)


@pytest.fixture
def client(clock: ManualClock) -> Counting:
    return Counting(clock)


@pytest.fixture
def db(client: Counting, clock: ManualClock) -> Db:
    return design.open(client, clock=clock, create_tables=True)


def counted(client: Counting, work: Callable[[], object]) -> tuple[int, list[str]]:
    """The calls of keyfold's functions, and the requests."""
    client.sent.clear()
    calls = 0

    def on_event(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(OURS)

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls, client.sent


def test_a_plain_update(db: Db, client: Counting) -> None:
    db.create(Plain(plain_id="p"))
    ref = Plain.key(plain_id="p")
    db.update(ref, title="w")
    calls, sent = counted(client, lambda: db.update(ref, title="x"))
    assert sent == ["UpdateItem"]
    assert calls <= 24


def test_an_update_with_a_pointer(db: Db, client: Counting) -> None:
    db.create(Task(task_id="t"))
    ref = Task.key(task_id="t")
    db.update(ref, title="w")
    calls, sent = counted(client, lambda: db.update(ref, title="x"))
    assert sent == ["GetItem", "TransactWriteItems"]
    assert calls <= 179


def test_a_create_with_a_counter_and_its_shown_copy(db: Db, client: Counting) -> None:
    db.create(Room(room_id="r"))
    db.create(Member(room_id="r", user_id="mia"))
    calls, sent = counted(client, lambda: db.create(Member(room_id="r", user_id="leo")))
    assert sent == ["TransactWriteItems"]
    assert calls <= 107


def test_a_page_of_five(db: Db, client: Counting) -> None:
    db.create(Room(room_id="r"))
    for user in "abcdef":
        db.create(Member(room_id="r", user_id=user))
    members(db, room_id="r")
    calls, sent = counted(client, lambda: members(db, room_id="r"))
    assert sent == ["Query"]
    assert calls <= 100


def test_a_record_to_one_copy_of_a_feed(db: Db, client: Counting, clock: ManualClock) -> None:
    db.create(Follow(follower_id="mia", followee_id="star"))
    db.put(Promotion(user_id="star", fanout_enabled=True))
    clock.advance(120)
    consumer, names = Consumer(db), iter("abcdefgh")

    def read(posts: int) -> tuple[int, Counts[str]]:
        for _ in range(posts):
            at = db.context.now()
            db.create(Activity(actor_id="star", created_at=at, activity_id=next(names)))
        calls, sent = counted(client, consumer.drain)
        return calls, Counts(sent)

    read(1)
    (calls, few), (more_calls, more) = read(1), read(2)
    assert more - few == Counts(GetItem=3, Query=1, BatchWriteItem=1)
    assert more_calls - calls <= 436
