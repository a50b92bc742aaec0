"""A feed's bounds and decisions: requests at once, what fails for good, who is pushed and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from keyfold import Db, Design, Feed
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold.errors import ConditionFailed, PlanError
from keyfold_engine.limits import ITEM_BYTES
from keyfold.maintain import verify
from keyfold.maintain.feed import FeedPolicy
from keyfold.maintain.feed.counts import hint
from keyfold.maintain.feed.newest_first import CONCURRENCY
from keyfold.maintain.feed.removed_list import RemovedList
from keyfold.maintain.feed.switch import pull, push
from keyfold.runtime.flow import Flow
from keyfold.streams import AsyncConsumer, Consumer, ConsumerOptions, Policy, letters, replay
from keyfold_engine.values.size import item_size
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

design = Design("bounded")
table = network_table(design)


class Follow(FollowFields, table=table):
    pass


class Activity(ActivityFields, table=table):
    pass


class FeedItem(FeedItemFields, table=table):
    pass


class Promotion(PromotionFields, table=table):
    pass


feed = Feed("home", activity=Activity, edge=Follow, item=FeedItem, promotion=Promotion)

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine.open(":memory:", clock=clock) as engine:
        yield engine


@pytest.fixture
def db(engine: Engine, clock: ManualClock) -> Db:
    return design.open(EmbeddedClient(engine), clock=clock)


@pytest.fixture
def consumer(db: Db) -> Consumer:
    return Consumer(db, options=ConsumerOptions(policy=Policy(attempts=2, backoff=0.0)))


def _follow(db: Db, reader: str, source: str) -> None:
    db.transact(*feed.following(Follow(follower_id=reader, followee_id=source)))


def _post(db: Db, actor: str, name: str, at: datetime = START, text: str = "") -> Activity:
    activity = Activity(actor_id=actor, created_at=at, activity_id=name, text=text)
    return feed.post(db, activity)


def _promote(db: Db, consumer: Consumer, source: str, reason: str = "manual") -> None:
    db.put(Promotion(user_id=source, fanout_enabled=True, reason=reason))
    consumer.drain()


class Crowd(AsyncEmbeddedClient):
    """Answers no request before all that can be on the way together are."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.under_way = 0
        self.most = 0

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for _ in range(100):
            await asyncio.sleep(0)
        try:
            return await super().call(operation, request)
        finally:
            self.under_way -= 1


async def test_a_page_reads_its_sources_at_once_up_to_a_bound(
    db: Db, engine: Engine, clock: ManualClock
) -> None:
    for number in range(3 * CONCURRENCY):
        _follow(db, "reader", f"s{number}")
        _post(db, f"s{number}", f"a{number}")
    client = Crowd(engine)
    reading = await design.open_async(client, clock=clock)
    page = await feed.page(reading, "reader", limit=3 * CONCURRENCY)
    assert len(page) == 3 * CONCURRENCY
    assert client.most == CONCURRENCY


async def test_a_fan_out_is_one_batch_after_another(
    db: Db, consumer: Consumer, engine: Engine, clock: ManualClock
) -> None:
    for number in range(120):
        _follow(db, f"r{number}", "star")
    _promote(db, consumer, "star")
    _post(db, "star", "news")
    client = Crowd(engine)
    following = await design.open_async(client, clock=clock)
    await AsyncConsumer(following).drain()
    assert all(len(feed.page(db, f"r{number}")) == 1 for number in range(120))
    assert client.most == 1


def test_a_fan_out_that_fails_for_good_is_a_dead_letter_and_can_be_replayed(
    db: Db, consumer: Consumer
) -> None:
    _follow(db, "reader", "star")
    _promote(db, consumer, "star")
    # The activity fits into an item; its copy, which also says whose it is, does not.
    short = Activity(actor_id="star", created_at=START, activity_id="huge", text="x")
    room = ITEM_BYTES - item_size(Activity.__spec__.encode(short))
    huge = _post(db, "star", "huge", text="x" * room)
    _post(db, "star", "small", at=START + timedelta(seconds=1))
    assert consumer.drain().dead == 1
    assert [item.activity_id for item in feed.page(db, "reader")] == ["small"]

    [letter] = db.run(letters(db.context))
    assert letter.effect == "feed home Activity"
    assert "Item size has exceeded the maximum allowed size" in letter.reason

    db.update(huge, text="small again")
    db.run(replay(db, letter))
    assert db.run(letters(db.context)) == []
    assert [item.activity_id for item in feed.page(db, "reader")] == ["small", "huge"]


@pytest.mark.parametrize("reason", ["followers", "volume", "manual"])
def test_the_reason_of_a_promotion_is_kept_with_the_decision(
    db: Db, consumer: Consumer, reason: str
) -> None:
    _follow(db, "reader", "star")
    _promote(db, consumer, "star", reason)
    reach = feed.reach(db, "star")
    assert (reach.promoted, reach.copied, reach.followers) == (True, 1, 1)
    assert reach.reasons == {"reader": reason}


def test_a_cursor_older_than_the_window_is_an_empty_page(db: Db, clock: ManualClock) -> None:
    _follow(db, "reader", "source")
    for number in range(3):
        _post(db, "source", str(number), START - feed.ttl + timedelta(minutes=1 + number))
    first = feed.page(db, "reader", limit=1)
    clock.advance(3600)
    after = feed.page(db, "reader", limit=1, cursor=first.cursor)
    assert first.cursor is not None
    assert (list(after), after.cursor) == ([], None)


def test_a_feed_that_decides_pushes_to_who_reads_and_stops_when_they_do_not(
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    _follow(db, "reader", "star")
    consumer.drain()
    assert feed.reach(db, "star").copied == 1, "a source without posts is pushed"
    # Three posts a day, and nobody reads.
    for number in range(60):
        clock.advance(8 * 3600)
        _post(db, "star", f"a{number:02d}", at=datetime.fromtimestamp(clock.now(), UTC))
        consumer.drain()
    assert feed.reach(db, "star").copied == 0
    decision = feed.explain(db, "reader", "star")
    assert (decision.mode, decision.switch) == ("pull", False)
    # Then hundreds of pages a day, and no posts.
    for number in range(2000):
        clock.advance(300)
        feed.page(db, "reader", limit=10)
        if number % 100 == 99:
            consumer.drain()
    assert feed.reach(db, "star").copied == 1
    shown = [item.activity_id for item in feed.page(db, "reader", limit=60)]
    assert shown == [f"a{number:02d}" for number in reversed(range(60))]


def test_there_is_nothing_to_explain_of_who_does_not_follow(db: Db) -> None:
    with pytest.raises(PlanError, match="reader does not follow star in the feed"):
        feed.explain(db, "reader", "star")
    reach = feed.reach(db, "star")
    assert (reach.posts, reach.followers, reach.copied) == (0, 0, 0)


def test_what_a_copy_does_not_show_is_not_copied_again(db: Db, consumer: Consumer) -> None:
    _follow(db, "reader", "star")
    _promote(db, consumer, "star")
    post = _post(db, "star", "news")
    consumer.drain()
    with db.work("the same") as work:
        db.update(post, text="")
        consumer.drain()
    before = work.total.write_units
    with db.work("another") as work:
        db.update(post, text="changed")
        consumer.drain()
    assert work.total.write_units > before
    assert feed.page(db, "reader")[0].text == "changed"


def test_an_activity_that_is_deleted_past_the_feed_leaves_all_copies(
    db: Db, consumer: Consumer
) -> None:
    _follow(db, "reader", "star")
    _promote(db, consumer, "star")
    gone, _ = _post(db, "star", "gone"), _post(db, "star", "kept")
    consumer.drain()
    assert len(feed.page(db, "reader")) == 2
    db.delete(gone.ref())
    consumer.drain()
    assert [item.activity_id for item in feed.page(db, "reader")] == ["kept"]
    copies = db.read(FeedItem.key.query(follower_id="reader"))
    assert [item.activity_id for item in copies] == ["kept"]


def test_many_removals_that_nobody_has_carried_out_hide_and_cost_little(
    db: Db, consumer: Consumer
) -> None:
    _follow(db, "reader", "star")
    _promote(db, consumer, "star")
    kept, gone = _post(db, "star", "kept"), _post(db, "star", "gone")
    others = [_post(db, f"other{number}", "gone") for number in range(3 * RemovedList.entries)]
    consumer.drain()
    with db.work("none") as before:
        assert len(feed.page(db, "reader")) == 2
    for one in (*others, gone):
        db.transact(*feed.removing(one))
    with db.work("many") as many:
        assert [item.activity_id for item in feed.page(db, "reader")] == [kept.activity_id]
    assert many.total.read_units <= before.total.read_units + 2


def test_how_somebody_read_and_posted_is_forgotten(db: Db, consumer: Consumer) -> None:
    _post(db, "star", "news")
    for _ in range(40):
        feed.page(db, "star")
    consumer.drain()
    db.transact(*feed.forgetting("star"))
    assert db.find(feed.support.hint.key(source="star")) is None
    assert db.find(feed.reader_ref("star")) is None


def test_a_post_goes_to_no_more_readers_than_the_bound(
    db: Db, consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "policy", FeedPolicy(widest=3))
    for number in range(6):
        _follow(db, f"r{number}", "star")
    consumer.drain()
    assert feed.reach(db, "star").copied == 6
    _post(db, "star", "news")
    consumer.drain()
    assert feed.reach(db, "star").copied == 3
    _follow(db, "late", "star")
    consumer.drain()
    assert feed.reach(db, "star").copied == 3
    assert all(len(feed.page(db, f"r{number}")) == 1 for number in range(6))


def test_a_feed_without_a_policy_neither_counts_nor_switches(
    db: Db, consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "policy", None)
    _follow(db, "reader", "star")
    consumer.drain()
    for _ in range(300):
        feed.page(db, "reader")
    consumer.drain()
    assert feed.reach(db, "star").copied == 0
    assert list(db.scan(feed.support.reader)) == []


def test_a_record_that_comes_again_counts_a_post_once(db: Db) -> None:
    activity = _post(db, "star", "news")
    for _ in range(3):
        db.run(hint(db.context, feed, activity))
    assert db.get(feed.support.hint.key(source="star")).posts == 1


@pytest.mark.parametrize("dies_after", range(1, 8))
def test_a_switch_that_dies_anywhere_hides_and_doubles_nothing(
    db: Db, consumer: Consumer, dies_after: int
) -> None:
    feed_policy, feed.policy = feed.policy, None
    try:
        _follow(db, "reader", "star")
        for number in range(4):
            _post(db, "star", f"a{number}", at=START - timedelta(minutes=9 - number))
        consumer.drain()
        shown = [f"a{number}" for number in (3, 2, 1, 0)]
        switches: list[Callable[[], Flow[bool]]] = [
            lambda: push(db.context, feed, "reader", "star", "why", 2),
            lambda: pull(db.context, feed, "reader", "star"),
        ]
        for switch in switches:
            _die(db, switch(), dies_after)
            assert [item.activity_id for item in feed.page(db, "reader")] == shown
            _post(db, "star", f"b{len(shown)}", at=START + timedelta(seconds=len(shown)))
            shown = [f"b{len(shown)}", *shown]
            consumer.drain()
            assert [item.activity_id for item in feed.page(db, "reader")] == shown
            db.run(switch())
            assert [item.activity_id for item in feed.page(db, "reader")] == shown
    finally:
        feed.policy = feed_policy


@pytest.mark.parametrize("before", ["pull", "push"])
@pytest.mark.parametrize("ways", [("push", "push"), ("push", "pull"), ("pull", "pull")])
def test_two_consumers_that_switch_one_follow_at_once_hide_and_double_nothing(
    db: Db, consumer: Consumer, monkeypatch: pytest.MonkeyPatch, before: str, ways: tuple[str, str]
) -> None:
    monkeypatch.setattr(feed, "policy", None)
    names = [f"a{number}" for number in range(4)]
    for number, name in enumerate(names):
        _post(db, "star", name, at=START - timedelta(minutes=9 - number))
    orders = {f"reader{number}": order for number, order in enumerate(product((0, 1), repeat=6))}

    def switch(way: str, reader: str) -> Flow[bool]:
        if way == "push":
            return push(db.context, feed, reader, "star", "why", 2)
        return pull(db.context, feed, reader, "star")

    for reader, order in orders.items():
        _follow(db, reader, "star")
        db.run(switch(before, reader))
        flows = [switch(way, reader) for way in ways]
        effects: list[Any] = [next(flow) for flow in flows]
        for turn in (*order, *[0] * 20, *[1] * 20):
            if effects[turn] is not None:
                effects[turn] = _step(db, flows[turn], effects[turn])
        assert effects == [None, None]
    _post(db, "star", "news", at=START + timedelta(seconds=1))
    consumer.drain()
    for reader, order in orders.items():
        page = [item.activity_id for item in feed.page(db, reader)]
        assert page == ["news", *reversed(names)], order
    assert verify(db).clean


def _step(db: Db, flow: Any, effect: Any) -> Any:
    """One request of a flow; None when it is at its end."""
    try:
        try:
            answer = db.client.call(effect.operation, effect.request)
        except ConditionFailed as refused:
            return flow.throw(refused)
        return flow.send(answer)
    except StopIteration:
        return None


def _die(db: Db, flow: Any, after: int) -> None:
    """Carry out so many requests of a flow, and no more."""
    try:
        call = next(flow)
        for _ in range(after):
            call = flow.send(db.client.call(call.operation, call.request))
    except StopIteration:
        return
    flow.close()
