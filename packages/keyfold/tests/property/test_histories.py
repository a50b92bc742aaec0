"""Random histories under faults: whatever happens, what follows from the records ends right."""

from __future__ import annotations

import random
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold import (
    Copied,
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Unique,
    Version,
    add,
    update,
)
from keyfold.errors import KeyfoldError
from keyfold.maintain.verify import verify
from keyfold.streams import Consumer, ConsumerOptions, Delivery, Policy
from keyfold.structures import Cascade, Edge, Mirror, total
from keyfold_engine.clients import Client
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults

design = Design("histories")
table = design.table(
    "Histories",
    stream="NEW_AND_OLD_IMAGES",
    ttl="ttl",
    indexes=[Index("GSI1", "gsi1pk", "gsi1sk")],
)


class User(Entity, table=table):
    user_id: Id
    email: str | None = None
    followers: Annotated[int, Counter("Follow", via={"user_id": "followee_id"})] = 0
    following: Annotated[int, Counter("Follow", via={"user_id": "follower_id"}, sync="stream")] = 0
    key = Key("USER#{user_id}", "USER")
    one_email = Unique("email", normalise=str.casefold)


class Follow(Edge, table=table):
    follower_id: Id
    followee_id: Id
    key = Key("USER#{follower_id}", "FOLLOWS#{followee_id}")
    seen_by_followee = Mirror("USER#{followee_id}", "FOLLOWER#{follower_id}")


class Group(Entity, table=table):
    group_id: Id
    name: str
    members: Annotated[int, Counter("Membership")] = 0
    key = Key("GROUP#{group_id}", "GROUP")
    memberships = Cascade("Membership")


class Membership(Entity, table=table):
    group_id: Id
    user_id: Id
    group_name: Annotated[str, Copied("Group", "name")]
    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")
    by_user = On("GSI1", "USER#{user_id}", "GROUP#{group_id}")


class Hangout(Entity, table=table):
    hangout_id: Id
    title: str
    group_ids: set[str] = set()
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    hearts: Annotated[int, Counter("Like", shards=4)] = 0
    version: Annotated[int, Version()] = 0
    key = Key("EVENT#{hangout_id}", "METADATA")
    liked = Cascade("Like", sync="stream")


class HangoutPointer(Pointer[Hangout], table=table, each="group_ids", sync="transaction"):
    group_id: str
    hangout_id: Id
    title: str
    key = Key("GROUP#{group_id}", "HANGOUT#{hangout_id}")
    by_title = On("GSI1", "GROUP#{group_id}", "TITLE#{title}")


class LatePointer(Pointer[Hangout], table=table, each="group_ids", sync="stream"):
    group_id: str
    hangout_id: Id
    title: str
    likes: int
    key = Key("GROUP#{group_id}", "LATE#{hangout_id}")


class Like(Entity, table=table):
    hangout_id: Id
    user_id: Id
    key = Key("EVENT#{hangout_id}", "LIKE#{user_id}")


class Notice(Entity, table=table):
    """How often a user's likes were seen by a processor."""

    user_id: Id
    inserted: int = 0
    removed: int = 0
    key = Key("USER#{user_id}", "NOTICE")


@design.on(Like, "insert", "remove")
def notice(old: Like | None, new: Like | None, work: Delivery) -> Any:
    if new is not None:
        return update(Notice.key(user_id=new.user_id), inserted=add(1))
    assert old is not None
    return update(Notice.key(user_id=old.user_id), removed=add(1))


class LikesGiven(Entity, table=table):
    user_id: Id
    given: Annotated[int, Counter("Like", creates=True, sync="stream")] = 0
    key = Key("USER#{user_id}", "COUNTER#LIKES")


class Killed(BaseException):
    """The consumer's process is gone, between any two requests."""


class Troubled:
    """A backend that brings every record twice, in any order, and kills its caller at times."""

    def __init__(self, client: EmbeddedClient, chance: random.Random) -> None:
        self._client, self._chance = client, chance
        self.deadly = 0.0

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._chance.random() < self.deadly:
            raise Killed
        answer = self._client.call(operation, request)
        if operation == "GetRecords":
            answer["Records"] = answer["Records"] * 2
            self._chance.shuffle(answer["Records"])
        if self._chance.random() < self.deadly:
            raise Killed
        return answer

    def close(self) -> None:
        self._client.close()


def step(db: Db, chance: random.Random, made: list[str]) -> None:
    """One thing that somebody does; it may be refused or fail like in production."""
    user, other = chance.choice("abc"), chance.choice("abc")
    group, hangout = chance.choice("gh"), chance.choice(made[-3:])
    title = chance.choice(["Picnic", "Swim", "Chess"])
    some_groups = set(chance.sample("ghij", chance.randint(0, 4)))
    follow = Follow(follower_id=user, followee_id=other)
    like = Like(hangout_id=hangout, user_id=user)
    fresh = f"h{chance.getrandbits(32)}"
    new_hangout = Hangout(hangout_id=fresh, title=title, group_ids=some_groups)
    actions: list[Callable[[], object]] = [
        lambda: db.create(User(user_id=user, email=chance.choice([None, "A@x", "b@x"]))),
        lambda: db.update(User.key(user_id=user), email=chance.choice(["a@x", "c@x"])),
        lambda: db.create(follow),
        lambda: db.delete(follow.ref()),
        lambda: db.create(Group(group_id=group, name=title)),
        lambda: db.update(Group.key(group_id=group), name=title),
        lambda: db.create(Membership(group_id=group, user_id=user, group_name=title)),
        lambda: db.delete(Membership.key(group_id=group, user_id=user)),
        lambda: db.delete(Group.key(group_id=group)),
        lambda: made.append(db.create(new_hangout).hangout_id),
        lambda: db.delete(Hangout.key(hangout_id=hangout)),
        lambda: db.update(Hangout.key(hangout_id=hangout), title=title),
        lambda: db.update(Hangout.key(hangout_id=hangout), group_ids=some_groups),
        lambda: db.create(like),
        lambda: db.create(like),
        lambda: db.delete(like.ref()),
    ]
    try:
        chance.choice(actions)()
    except KeyfoldError:
        return


def consume(db: Db, client: Troubled, clock: ManualClock, *, deadly: float) -> None:
    """Run a consumer that may be killed."""
    options = ConsumerOptions(
        lease_seconds=30, batch=20, policy=Policy(backoff=0.0001, patience=30)
    )
    client.deadly = deadly
    try:
        Consumer(db, options=options).drain()
    except (Killed, KeyfoldError):
        clock.advance(31)
    finally:
        client.deadly = 0.0


@given(seed=st.integers(0, 2**32))
def test_histories_under_faults_end_verified_with_exact_counters(seed: int) -> None:
    chance = random.Random(seed)
    clock = ManualClock()
    faults = Faults(seed=seed, throttle=0.05, conflict=0.05, unprocessed=0.1, lose_answer=0.02)
    shards = chance.choice([1, 3])
    engine = Engine.open(":memory:", clock=clock, faults=faults, stream_shards=shards)
    client = Troubled(EmbeddedClient(engine), chance)
    db = opened(client, clock)
    for user in "abc":
        patiently(lambda user=user: db.put(User(user_id=user)))
        patiently(lambda user=user: db.put(Notice(user_id=user)))
    patiently(lambda: db.put(Hangout(hangout_id="h0", title="Picnic")))
    made = ["h0"]
    for _ in range(chance.randint(5, 60)):
        step(db, chance, made)
        if chance.random() < 0.1:
            consume(db, client, clock, deadly=0.02)
    faults.stop()
    Consumer(db).drain()

    check(db)
    db.close()


def check(db: Db) -> None:
    """Everything verified, and every counter counted once more by hand."""
    report = verify(db)
    assert report.clean, [str(drift) for drift in report.drifts]
    assert Consumer(db).status().dead_letters == 0
    likes = Tally(like.hangout_id for like in db.scan(Like))
    for hangout in db.scan(Hangout):
        assert hangout.likes == likes[hangout.hangout_id]
        assert db.run(total(db.context, hangout.ref(), "hearts")) == likes[hangout.hangout_id]
    given_likes = Tally(like.user_id for like in db.scan(Like))
    assert {one.user_id: one.given for one in db.scan(LikesGiven) if one.given} == given_likes
    for seen in db.scan(Notice):
        assert seen.inserted - seen.removed == given_likes[seen.user_id]
    followed = Tally(follow.followee_id for follow in db.scan(Follow))
    assert all(user.followers == followed[user.user_id] for user in db.scan(User))


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_writers_and_consumers_at_once_end_verified_with_exact_counters(seed: int) -> None:
    faults = Faults(seed=seed, throttle=0.02, conflict=0.03, lose_answer=0.01)
    engine = Engine.open(":memory:", faults=faults, stream_shards=3)
    db = opened(EmbeddedClient(engine))
    for user in "abc":
        patiently(lambda user=user: db.put(User(user_id=user)))
        patiently(lambda user=user: db.put(Notice(user_id=user)))
    patiently(lambda: db.put(Hangout(hangout_id="h0", title="Picnic")))
    made, policy = ["h0"], Policy(backoff=0.001, patience=20)
    options = ConsumerOptions(lease_seconds=0.3, poll_seconds=0.005, batch=10, policy=policy)
    consumers = [Consumer(db, options=options) for _ in range(2)]

    def write(worker: int) -> None:
        chance = random.Random(seed + worker)
        for _ in range(40):
            step(db, chance, made)

    with ThreadPoolExecutor(5) as pool:
        reading = [pool.submit(consumer.run) for consumer in consumers]
        for writing in [pool.submit(write, worker) for worker in range(3)]:
            writing.result()
        for consumer in consumers:
            consumer.stop()
        for done in reading:
            done.result()
    engine._faults = None
    Consumer(db, options=options).drain()
    check(db)
    db.close()


def opened(client: Client, clock: ManualClock | None = None) -> Db:
    db: Db = patiently(lambda: design.open(client, clock=clock))
    return db


def patiently(action: Any) -> Any:
    for _ in range(30):
        try:
            return action()
        except KeyfoldError as problem:
            last = problem
    pytest.fail(f"the backend never recovered: {last!r}")
