"""Copies of a feed that are missing, wrong or left over are found and repaired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

from keyfold import Db, Design
from keyfold.errors import InternalFailure
from keyfold.feeds import Feed, Flag
from keyfold.maintain import repair, verify
from keyfold.maintain.feed.edges import FOLLOWERS_AT_ONCE
from keyfold.streams import Consumer, ConsumerOptions, Policy
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

design = Design("damaged_feed")
table = network_table(design)


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


PATIENT = ConsumerOptions(policy=Policy(backoff=0.0))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_900_000_000)


@pytest.fixture
def db(clock: ManualClock) -> Db:
    db = design.open(EmbeddedClient(Engine.open(":memory:", clock=clock)), clock=clock)
    for reader in ("mia", "ned"):
        db.create(Follow(follower_id=reader, followee_id="star"))
    db.put(Promotion(user_id="star", fanout_enabled=True))
    db.put(Promotion(user_id="plain", fanout_enabled=False))
    clock.advance(120)
    for name in ("a", "b", "c"):
        db.create(Activity(actor_id="star", created_at=db.context.now(), activity_id=name))
        db.create(Activity(actor_id="plain", created_at=db.context.now(), activity_id=name))
        clock.advance(1)
    Consumer(db).drain()
    return db


def copies(db: Db, reader: str) -> dict[str, FeedItem]:
    return {one.activity_id: one for one in db.read(FeedItem.key.query(follower_id=reader))}


def raw(db: Db, operation: str, **request: Any) -> None:
    db.client.call(operation, {"TableName": design.name, **request})


def test_nothing_is_wrong_with_what_a_consumer_copied(db: Db) -> None:
    assert sorted(copies(db, "mia")) == ["a", "b", "c"]
    assert verify(db).drifts == []


def test_every_damage_is_found_and_repaired(db: Db, clock: ManualClock) -> None:
    right = {reader: copies(db, reader) for reader in ("mia", "ned")}
    raw(db, "DeleteItem", Key=right["mia"]["a"].ref().wire())
    changed = right["mia"]["b"].model_copy(update={"text": "not what was posted"})
    raw(db, "PutItem", Item=FeedItem.__spec__.encode(changed))
    raw(db, "DeleteItem", Key=activity(right["ned"]["c"]).wire())
    found = {(d.kind, d.key["PK"]["S"]): (d.expected, d.found) for d in verify(db).drifts}
    assert set(found) == {("feed", "FEED#mia"), ("feed", "FEED#ned")}
    assert len(verify(db).drifts) == 4  # c is left over for both.
    repair(db, verify(db))
    assert verify(db).drifts == []
    for reader in ("mia", "ned"):
        assert copies(db, reader) == {name: right[reader][name] for name in ("a", "b")}


def test_copies_from_before_the_follow_or_the_flag_are_nobodys_business(db: Db) -> None:
    db.create(Follow(follower_id="late", followee_id="star"))
    assert copies(db, "late") == {}
    old = copies(db, "mia")["a"].model_copy(update={"follower_id": "late", "text": "other"})
    raw(db, "PutItem", Item=FeedItem.__spec__.encode(old))
    assert verify(db).drifts == []


def test_copies_of_an_author_whose_flag_is_taken_away_are_not_looked_at(db: Db) -> None:
    db.put(Promotion(user_id="star", fanout_enabled=False))
    raw(db, "DeleteItem", Key=copies(db, "mia")["a"].ref().wire())
    assert verify(db).drifts == []


def test_a_copy_that_was_repaired_meanwhile_stays(db: Db) -> None:
    lost = copies(db, "mia")["a"]
    raw(db, "DeleteItem", Key=lost.ref().wire())
    report = verify(db)
    raw(db, "PutItem", Item=FeedItem.__spec__.encode(lost))
    repair(db, report)
    assert copies(db, "mia")["a"] == lost
    assert verify(db).drifts == []


def activity(copy: FeedItem) -> Any:
    return Activity.key(
        actor_id=copy.actor_id, created_at=copy.created_at, activity_id=copy.activity_id
    )


class Breaking(EmbeddedClient):
    """Fails once, in the middle of the second page of a fan-out."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.batches = 0

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.batches += operation == "BatchWriteItem"
        if self.batches == FOLLOWERS_AT_ONCE // 25 + 2:
            self.batches += 1
            raise InternalFailure("not now")
        return super().call(operation, request)


def test_a_crowd_gets_its_copies_page_by_page_and_a_page_that_fails_is_gone_on_with(
    db: Db, clock: ManualClock
) -> None:
    crowd = [f"fan{number:03d}" for number in range(FOLLOWERS_AT_ONCE + 60)]
    db.put_many([Follow(follower_id=one, followee_id="star") for one in crowd])
    clock.advance(120)
    embedded: Any = db.client
    client = Breaking(embedded.engine)
    consumer = Consumer(design.open(client, clock=clock), options=PATIENT)
    consumer.drain()
    before = len(db.client.call("Scan", {"TableName": design.name})["Items"])
    made = db.create(Activity(actor_id="star", created_at=db.context.now(), activity_id="d"))
    client.batches = 0
    consumer.drain()
    assert all(next(iter(copies(db, reader))) == "d" for reader in (crowd[0], crowd[-1]))
    assert verify(db).drifts == []
    # The first page is not written again: its 8 batches, 3 with the failure, 3, and the job's end.
    assert client.batches <= 8 + 3 + 3 + 1
    db.delete(made.ref())
    consumer.drain()
    assert len(db.client.call("Scan", {"TableName": design.name})["Items"]) == before
