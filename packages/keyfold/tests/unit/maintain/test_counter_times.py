"""The time at which a counter last moved: `Counter(..., stamps="updated_at")`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Timestamp, Updated, Version
from keyfold.errors import DeclarationError
from keyfold.maintain import repair, verify
from keyfold.streams import Consumer
from keyfold_engine.clock import ManualClock

Time = Annotated[Timestamp | None, Updated()]

design = Design("times")
table = design.table("times", stream="NEW_AND_OLD_IMAGES")


class Follow(Entity, table=table):
    follower_id: Id
    followee_id: Id
    key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")


class Followers(Entity, table=table):
    user_id: Id
    count: Annotated[
        int,
        Counter("Follow", via={"user_id": "followee_id"}, creates=True, stamps="updated_at"),
    ] = 0
    updated_at: Time = None
    key = Key("USER#{user_id}", "COUNTER#FOLLOWERS")


class User(Entity, table=table):
    user_id: Id
    name: str = ""
    following: Annotated[
        int,
        Counter("Follow", via={"user_id": "follower_id"}, sync="stream", stamps="counted_at"),
    ] = 0
    counted_at: Timestamp | None = None
    updated_at: Time = None
    version: Annotated[int, Version()] = 0
    key = Key("USER#{user_id}", "PROFILE")


ADA = Followers.key(user_id="ada")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_800_000_000)


@pytest.fixture
def db(clock: ManualClock) -> Db:
    return design.open(":memory:", clock=clock)


def _follow(db: Db, who: str) -> None:
    db.create(Follow(follower_id=who, followee_id="ada"))


def test_every_count_says_when_it_was(db: Db, clock: ManualClock) -> None:
    _follow(db, "ben")
    first = db.get(ADA)
    assert (first.count, first.updated_at) == (1, db.context.now())
    clock.advance(60)
    _follow(db, "cleo")
    assert db.get(ADA).updated_at == db.context.now()
    clock.advance(60)
    db.delete(Follow.key(follower_id="ben", followee_id="ada"))
    last = db.get(ADA)
    assert (last.count, last.updated_at) == (1, db.context.now())
    assert verify(db).clean


def test_the_stream_says_so_too_and_an_edits_time_and_version_stay(
    db: Db, clock: ManualClock
) -> None:
    made = db.create(User(user_id="ben", name="Ben"))
    clock.advance(60)
    _follow(db, "ben")
    Consumer(db).drain()
    ben = db.get(made.ref())
    assert (ben.following, ben.counted_at) == (1, db.context.now())
    assert (ben.updated_at, ben.version) == (made.updated_at, made.version)


def test_repair_says_when_it_counted(db: Db, clock: ManualClock) -> None:
    _follow(db, "ben")
    clock.advance(60)
    key = {**ADA.wire()}
    change = {"TableName": "times", "Key": key, "UpdateExpression": "SET #c = :c"}
    names: dict[str, Any] = {"ExpressionAttributeNames": {"#c": "count"}}
    db.client.call("UpdateItem", change | names | {"ExpressionAttributeValues": {":c": {"N": "7"}}})
    repair(db, verify(db))
    found = db.get(ADA)
    assert (found.count, found.updated_at) == (1, db.context.now())


def test_who_counts_at_once_does_not_contend_for_the_time(db: Db) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: _follow(db, f"u{n}"), range(40)))
        gone = [Follow.key(follower_id=f"u{n}", followee_id="ada") for n in range(0, 40, 2)]
        list(pool.map(db.delete, gone))
    assert db.get(ADA).count == 20


def _no_such_field(to: Design) -> None:
    somewhere = to.table("t")
    _counted(somewhere)

    class Holder(Entity, table=somewhere):
        a: Id
        n: Annotated[int, Counter("Counted", stamps="when")] = 0
        key = Key("H#{a}", "H")


def _no_time(to: Design) -> None:
    somewhere = to.table("t")
    _counted(somewhere)

    class Holder(Entity, table=somewhere):
        a: Id
        n: Annotated[int, Counter("Counted", stamps="label")] = 0
        label: str = ""
        key = Key("H#{a}", "H")


def _in_an_index(to: Design) -> None:
    somewhere = to.table("t", indexes=[Index("GSI1", "p", "s")])
    _counted(somewhere)

    class Holder(Entity, table=somewhere):
        a: Id
        n: Annotated[int, Counter("Counted", stamps="at")] = 0
        at: Timestamp = datetime(2026, 1, 1, tzinfo=UTC)
        key = Key("H#{a}", "H")
        by_time = On("GSI1", "H", "{at:iso}")


def _sharded(to: Design) -> None:
    somewhere = to.table("t")
    _counted(somewhere)

    class Holder(Entity, table=somewhere):
        a: Id
        n: Annotated[int, Counter("Counted", shards=4, stamps="at")] = 0
        at: Timestamp | None = None
        key = Key("H#{a}", "H")


def _counted(somewhere: Any) -> None:
    class Counted(Entity, table=somewhere):
        a: Id
        b: Id
        key = Key("H#{a}", "C#{b}")


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (_no_such_field, "Holder has no field 'when'"),
        (_no_time, "label is not a Timestamp"),
        (_in_an_index, "at is part of a key"),
        (_sharded, "has shards"),
    ],
)
def test_what_cannot_be_stamped_is_refused(declare: Callable[[Design], None], says: str) -> None:
    wrong = Design("wrong")
    declare(wrong)
    with pytest.raises(DeclarationError, match=says):
        wrong.complete()
