"""Random networks: every sequence of pages equals the sorted union of what a reader may see."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyfold import (
    Db,
    Design,
    Entity,
    Feed,
    Id,
    Key,
    On,
    RemovedList,
    Sharded,
    Timestamp,
    Ttl,
)
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults
from keyfold.errors import (
    AlreadyExists,
    CursorRefused,
    DeclarationError,
    NotFound,
    PlanError,
    TransactionCanceled,
)
from keyfold.maintain import plan, repair, verify
from keyfold.maintain.feed import FeedPolicy, edges, fan_out, switch
from keyfold.maintain.feed.heads import Head
from keyfold.runtime.budget import Work
from keyfold.streams import Consumer
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

design = Design("network")
table = network_table(design)


class Follow(FollowFields, table=table):
    shard: Annotated[int, Sharded("follower_id", 2)] = 0
    followers = On("GSI1", "USER#{followee_id}#{shard:02d}", "FOLLOWER#{follower_id}")


class Member(Entity, table=table):
    group_id: Id
    user_id: Id
    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")


class Activity(ActivityFields, table=table):
    pass


class FeedItem(FeedItemFields, table=table):
    pass


class Promotion(PromotionFields, table=table):
    pass


feed = Feed(
    "home",
    activity=Activity,
    edge={Follow: "followers", Member: "key"},
    item=FeedItem,
    promotion=Promotion,
    cap=60,
    removed=RemovedList(replicas=3, entries=2, settled_after=timedelta(minutes=2)),
    heads=2,
)

MAINTAINERS = list(design.maintainers)
START = datetime(2025, 1, 1, tzinfo=UTC)
PEOPLE = ["ann", "ben", "cat", "dan"]
GROUPS = ["climbers"]
SOURCES = PEOPLE + GROUPS


EAGER = FeedPolicy(samples=1e6, looks=1, horizon=1e6, doubt=0.0, least=0.0)
"""Switches as soon as anything speaks for it."""


@pytest.fixture(autouse=True, scope="module")
def _few_followers_at_once() -> Iterator[None]:
    """So that a crash meets work over followers in its middle; histories are those of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "FOLLOWERS_AT_ONCE", 2)
        patch.setattr(feed, "policy", None)
        keep_heads(patch, 0)
        yield


def keep_heads(patch: pytest.MonkeyPatch, count: int) -> None:
    """As if the feed were declared with so many."""
    kept = [one for one in MAINTAINERS if count or one.kind != "feed heads"]
    patch.setattr(feed, "heads", count)
    patch.setattr(design, "maintainers", kept)


class Crash(BaseException):
    """The process is gone; no handler sees it."""


class Fragile:
    """A client whose process dies after so many requests."""

    def __init__(self, client: EmbeddedClient) -> None:
        self._client = client
        self.left: int | None = None

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Crash
        return self._client.call(operation, request)

    def close(self) -> None:
        self._client.close()


def edge_of(reader: str, source: str) -> Entity:
    if source in GROUPS:
        return Member(group_id=source, user_id=reader)
    return Follow(follower_id=reader, followee_id=source)


class Network:
    """The feed under test beside a plain model of who follows whom and what was posted."""

    def __init__(
        self, seed: int, faults: Faults | None = None, lag: tuple[float, float] | None = None
    ) -> None:
        self.clock = ManualClock(START.timestamp())
        engine = Engine.open(":memory:", clock=self.clock, faults=faults, index_lag=lag)
        self.client = Fragile(EmbeddedClient(engine))
        self.db: Db = design.open(self.client, clock=self.clock)
        self.consumer = Consumer(self.db)
        self.dice = random.Random(seed)
        self.follows: set[tuple[str, str]] = set()
        self.parted: set[tuple[str, str]] = set()
        self.activities: list[Activity] = []
        self.posted = 0

    @classmethod
    def grown(cls, seed: int, lag: tuple[float, float] | None = None) -> Network:
        """One in which everybody follows about half of the others."""
        network = cls(seed, lag=lag)
        for reader in PEOPLE:
            for source in SOURCES:
                if network.dice.random() < 0.5:
                    network._follow(reader, source)
        return network

    def act(self, verb: str, reader: str, source: str) -> None:
        self.clock.advance(self.dice.choice([0, 1, 60]))
        # Groups post and are promoted too; only people read.
        ends = (source, reader) if verb in ("post", "promote", "demote") else (reader, source)
        getattr(self, f"_{verb}")(*ends)
        if self.dice.random() < 0.3:
            self.consumer.drain()

    def _follow(self, reader: str, source: str) -> None:
        if reader == source or (reader, source) in self.follows:
            return
        self.db.transact(*feed.following(edge_of(reader, source)))
        self.follows.add((reader, source))

    def _unfollow(self, reader: str, source: str) -> None:
        source = self._followed(reader, source)
        if (reader, source) not in self.follows:
            return
        self.db.transact(*feed.unfollowing(edge_of(reader, source)))
        self.follows.discard((reader, source))
        self.parted.add((reader, source))

    def _cut(self, reader: str, source: str) -> None:
        """An edge goes without the feed being told, as when a group is deleted."""
        if (reader, source) in self.follows:
            self.db.delete(edge_of(reader, source))
            self.follows.discard((reader, source))
            self.parted.add((reader, source))

    def _link(self, reader: str, source: str) -> None:
        """An edge comes without the feed being told, which shows nothing that was hidden."""
        if reader != source and (reader, source) not in self.follows | self.parted:
            self.db.create(edge_of(reader, source))
            self.follows.add((reader, source))

    def _post(self, actor: str, _: str) -> None:
        self.posted += 1
        at = datetime.fromtimestamp(self.clock.now(), UTC)
        activity = Activity(actor_id=actor, created_at=at, activity_id=f"a{self.posted:04d}")
        self.activities.append(feed.post(self.db, activity))

    def _delete(self, _: str, __: str) -> None:
        if self.activities:
            gone = self.activities.pop(self.dice.randrange(len(self.activities)))
            self.db.transact(*feed.removing(gone))

    def _promote(self, source: str, _: str) -> None:
        self.db.put(Promotion(user_id=source, fanout_enabled=True))

    def _demote(self, source: str, _: str) -> None:
        self.db.put(Promotion(user_id=source, fanout_enabled=False))

    def _subscribe(self, reader: str, source: str) -> None:
        followed = self._followed(reader, source)
        self.db.run(switch.push(self.db.context, feed, reader, followed, "a test"))

    def _unsubscribe(self, reader: str, source: str) -> None:
        followed = self._followed(reader, source)
        self.db.run(switch.pull(self.db.context, feed, reader, followed))

    def _followed(self, reader: str, source: str) -> str:
        """The source if it is followed, or another that is."""
        followed = sorted(other for one, other in self.follows if one == reader)
        return source if source in followed or not followed else self.dice.choice(followed)

    def _read(self, reader: str, _: str) -> None:
        feed.page(self.db, reader, limit=3)

    def _step(self, _: str, __: str) -> None:
        self.consumer.run_once()

    def _drain(self, _: str, __: str) -> None:
        self.consumer.drain()

    def _crash(self, _: str, __: str) -> None:
        """The consumer dies somewhere in its work; after its lease another one goes on."""
        self.client.left = self.dice.randrange(60)
        with suppress(Crash):
            self.consumer.drain()
        self.client.left = None
        self.clock.advance(60)
        self.consumer = Consumer(self.db)

    def damage(self, kind: str) -> None:
        """Somebody writes past the feed."""
        copies, marks = list(self.db.scan(FeedItem)), list(self.db.scan(feed.support.source))
        if kind == "lose" and copies:
            self.db.delete_many([self.dice.choice(copies).ref()])
        if kind == "alter" and copies:
            self.db.put_many([self.dice.choice(copies).model_copy(update={"text": "wrong"})])
        if kind == "invent":
            reader, source = self.dice.choice(PEOPLE), self.dice.choice(SOURCES)
            at = datetime.fromtimestamp(self.clock.now(), UTC)
            activity = Activity(actor_id=source, created_at=at, activity_id="invented")
            self.db.put_many([feed.copy(activity, reader)])
        if kind == "unmark" and marks:
            self.db.delete_many([self.dice.choice(marks).ref()])
        hints = list(self.db.scan(feed.support.hint))
        if kind == "behead" and hints and feed.heads:
            hint = self.dice.choice(hints)
            nothing = Head((), "SK", last=hint.last)
            entry = {"SK": {"S": "TS#2030"}, "activity_id": {"S": "no such"}}
            invented = replace(nothing, entries=(entry,))
            head = self.dice.choice([None, b"damaged", nothing.packed, invented.packed])
            self.db.put_many([hint.model_copy(update={"head": head})])

    def expected(self, reader: str) -> list[str]:
        sources = {source for one, source in self.follows if one == reader}
        seen = [a for a in self.activities if a.actor_id in sources]
        ordered = sorted(seen, key=lambda a: (a.created_at, a.activity_id), reverse=True)
        return [a.activity_id for a in ordered][: feed.cap]

    def found(self, reader: str, size: int) -> list[str]:
        pages: list[str] = []
        cursor: str | None = None
        while True:
            page = feed.page(self.db, reader, limit=size, cursor=cursor)
            pages += [item.activity_id for item in page]
            cursor = page.cursor
            if cursor is None:
                return pages


@contextmanager
def _deciding(seed: int) -> Iterator[None]:
    """In half of the histories an eager policy switches too, in two of three there are heads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feed, "policy", EAGER if seed % 2 else None)
        keep_heads(patch, seed % 3)
        yield


_VERBS = st.sampled_from(
    ["post"] * 6
    + ["read"] * 2
    + ["promote", "demote", "subscribe", "subscribe", "unsubscribe", "crash"] * 2
    + ["follow", "follow", "unfollow", "cut", "link", "delete", "step", "drain"]
)
_STEPS = st.lists(
    st.tuples(_VERBS, st.sampled_from(PEOPLE), st.sampled_from(SOURCES)), min_size=10, max_size=60
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(_STEPS, st.integers(1, 9), st.integers(0, 1000))
def test_every_page_sequence_equals_the_oracle(
    steps: list[tuple[str, str, str]], size: int, seed: int
) -> None:
    with _deciding(seed):
        network = Network.grown(seed)
        for verb, one, other in steps:
            network.act(verb, one, other)
        network.consumer.drain()
        for reader in PEOPLE:
            assert network.found(reader, size) == network.expected(reader)
        network.consumer.drain()
        report = verify(network.db)
        assert report.clean, report.drifts[0]


_DAMAGE = st.lists(
    st.sampled_from(["lose", "alter", "invent", "unmark", "behead"]), min_size=1, max_size=5
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(_STEPS, _DAMAGE, st.integers(0, 1000))
def test_damaged_feeds_are_found_and_repaired(
    steps: list[tuple[str, str, str]], damage: list[str], seed: int
) -> None:
    with _deciding(2 * seed):
        network = Network.grown(seed)
        for verb, one, other in steps:
            network.act(verb, one, other)
        network.consumer.drain()
        for kind in damage:
            network.damage(kind)
        repair(network.db, verify(network.db))
        network.consumer.drain()
        for reader in PEOPLE:
            assert network.found(reader, 20) == network.expected(reader)
        assert verify(network.db).clean


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_STEPS, st.integers(0, 1000))
def test_a_list_of_followers_that_is_behind_does_no_harm(
    steps: list[tuple[str, str, str]], seed: int
) -> None:
    with _deciding(2 * seed):
        network = Network.grown(seed, lag=(0.0, 90.0))
        for verb, one, other in steps:
            network.act(verb, one, other)
        network.consumer.drain()
        for reader in PEOPLE:
            assert network.found(reader, 7) == network.expected(reader)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(_STEPS, st.integers(0, 1000))
def test_what_was_taken_away_is_hidden_at_once(
    steps: list[tuple[str, str, str]], seed: int
) -> None:
    with _deciding(seed):
        network = Network.grown(seed)
        for verb, one, other in steps:
            network.act(verb, one, other)
            if verb == "cut":
                network.consumer.drain()
            for reader in PEOPLE:
                assert set(network.found(reader, 20)) <= set(network.expected(reader))


@pytest.fixture
def network() -> Network:
    return Network(0)


def _grow(network: Network, followees: int, posts: int) -> None:
    for number in range(followees):
        network._follow("reader", f"s{number}")
    for number in range(posts):
        network.clock.advance(1)
        network._post(f"s{number % followees}", "")


def _reads(work: Work) -> float:
    """Requests of a page, without the write of one that was sampled."""
    return work.total.requests - work.total.write_units


def test_a_promoted_source_is_read_from_one_partition(network: Network) -> None:
    _grow(network, 5, 20)
    for number in range(5):
        network._promote(f"s{number}", "")
    network.consumer.drain()
    with network.db.work("page") as work:
        page = feed.page(network.db, "reader", limit=20)
    assert len(page) == 20
    assert _reads(work) == 3


def test_a_subscriber_reads_copies_of_a_source_that_others_pull(network: Network) -> None:
    _grow(network, 2, 6)
    network._follow("other", "s0")
    network._subscribe("reader", "s0")
    network.consumer.drain()
    network._post("s0", "")
    network.consumer.drain()
    copies = network.db.read(FeedItem.key.query(follower_id="reader"))
    assert [item.activity_id for item in copies] == ["a0001", "a0003", "a0005", "a0007"]
    assert list(network.db.read(FeedItem.key.query(follower_id="other"))) == []
    assert network.db.find(feed.source_ref("reader", "s0")) is None
    assert network.db.find(feed.source_ref("other", "s0")) is not None
    for reader in ("reader", "other"):
        assert network.found(reader, 3) == network.expected(reader)


@pytest.mark.parametrize("way", ["push", "subscriptions"])
def test_a_fan_out_goes_on_where_it_died(network: Network, way: str) -> None:
    readers = [f"r{number:02d}" for number in range(12)]
    for reader in readers:
        network._follow(reader, "star")
        if way == "subscriptions":
            network._subscribe(reader, "star")
    if way == "push":
        network._promote("star", "")
    network.consumer.drain()
    network._post("star", "")

    def fan_again() -> set[str]:
        network.db.run(fan_out.fan_out(network.db.context, feed, network.activities[-1]))
        return {copy.follower_id for copy in network.db.scan(FeedItem)}

    network.client.left = 20
    with pytest.raises(Crash):
        fan_again()
    network.client.left = None
    copies = list(network.db.scan(FeedItem))
    before = {copy.follower_id for copy in copies}
    network.db.delete_many([copy.ref() for copy in copies])
    after = fan_again()
    assert len(before) >= 4
    assert before | after == set(readers)
    assert len(before & after) <= edges.FOLLOWERS_AT_ONCE
    assert list(network.db.scan(feed.support.job)) == []


def test_an_unfollow_ends_a_subscription(network: Network) -> None:
    _grow(network, 1, 3)
    network._subscribe("reader", "s0")
    network.consumer.drain()
    network._unfollow("reader", "s0")
    network.consumer.drain()
    network._post("s0", "")
    network.consumer.drain()
    assert list(network.db.scan(FeedItem)) == []
    assert list(network.db.scan(feed.support.subscription)) == []


def test_who_follows_again_while_copies_are_deleted_has_them_all(network: Network) -> None:
    _grow(network, 1, 6)
    network._promote("s0", "")
    network.consumer.drain()
    network._unfollow("reader", "s0")
    [mark] = network.db.scan(feed.support.source)
    [cleaning] = [m for m in design.maintainers if m.source is feed.support.source]
    flow = cleaning.reconcile(network.db.context, None, mark)
    call = next(flow)
    with suppress(StopIteration):
        while call.operation != "TransactWriteItems":
            call = flow.send(network.client.call(call.operation, call.request))
        network._follow("reader", "s0")
        network.db.run(switch.push(network.db.context, feed, "reader", "s0", "again"))
        assert network.db.find(feed.source_ref("reader", "s0")) is None
        while True:
            try:
                answer = network.client.call(call.operation, call.request)
            except TransactionCanceled as refused:
                call = flow.throw(refused)
            else:
                call = flow.send(answer)
    assert network.found("reader", 3) == network.expected("reader")


def test_many_pulled_sources_are_not_many_pages(network: Network) -> None:
    _grow(network, 200, 200)
    with network.db.work("page") as work:
        page = feed.page(network.db, "reader", limit=10)
    assert len(page) == 10
    # One round to look around, two batches of hints, and the sources that can be on the page.
    assert _reads(work) <= 3 + 2 + 32


@pytest.mark.parametrize("pulled", [5, 40])
def test_copies_that_do_not_count_do_not_cut_a_page_short(network: Network, pulled: int) -> None:
    for number in range(pulled):
        network._follow("reader", f"s{number}")
        network._post(f"s{number}", "")
        network.clock.advance(1)
    network._follow("reader", "loud")
    network._promote("loud", "")
    network.consumer.drain()
    for _ in range(30):
        network._post("loud", "")
        network.clock.advance(1)
    network.consumer.drain()
    network._unfollow("reader", "loud")
    assert network.found("reader", 12) == network.expected("reader")


def test_a_page_asks_a_pulled_source_for_no_more_than_can_be_on_it(network: Network) -> None:
    for source in ("copied", "pulled"):
        network._follow("reader", source)
        for number in range(40):
            network.clock.advance(1)
            at = datetime.fromtimestamp(network.clock.now(), UTC)
            made = Activity(
                actor_id=source, created_at=at, activity_id=f"{number}", text="long" * 200
            )
            network.activities.append(feed.post(network.db, made))
    network._promote("copied", "")
    network.consumer.drain()
    for source in ("pulled", "copied", "copied", "copied"):
        network._post(source, "")
        network.clock.advance(1)
    network.consumer.drain()
    with network.db.work("page") as work:
        feed.page(network.db, "reader", limit=3)
    # Four of the newest copies, marks, removals, and nothing at all from the pulled one.
    assert _reads(work) == 4
    assert work.total.read_units == 4
    assert network.found("reader", 7) == network.expected("reader")


def test_an_edge_written_past_the_feed_brings_what_its_source_pushed_before(
    network: Network,
) -> None:
    network._post("star", "")
    network._promote("star", "")
    network.consumer.drain()
    network._link("reader", "star")
    network.consumer.drain()
    assert network.found("reader", 5) == network.expected("reader") == ["a0001"]


def test_activities_written_past_the_feed_are_found_by_many_followers(network: Network) -> None:
    _grow(network, 60, 60)
    network.clock.advance(60)
    at = datetime.fromtimestamp(network.clock.now(), UTC)
    quiet = Activity(actor_id="s7", created_at=at, activity_id="imported")
    network.db.put(quiet)
    network.consumer.drain()
    page = feed.page(network.db, "reader", limit=5)
    assert page[0].activity_id == "imported"


def test_hints_that_were_not_answered_hide_nothing() -> None:
    network = Network(1, Faults(seed=5, unprocessed=0.9))
    _grow(network, 150, 150)
    assert network.found("reader", 60) == network.expected("reader")


def test_renewed_feeds_have_what_a_lost_stream_never_brought(network: Network) -> None:
    _grow(network, 3, 30)
    network._promote("s0", "")
    network._promote("s1", "")
    network.consumer.drain()
    items = list(network.db.iterate(FeedItem.key.query(follower_id="reader")))
    lost = [item.ref() for item in items[::2]]
    network.db.delete_many(lost)
    assert network.found("reader", 20) != network.expected("reader")
    assert feed.renew(network.db) == 2
    assert network.found("reader", 20) == network.expected("reader")
    network.consumer.drain()
    assert network.found("reader", 20) == network.expected("reader")
    assert network.db.find(feed.source_ref("reader", "s0")) is None


@pytest.fixture
def pushed(network: Network) -> Network:
    _grow(network, 2, 10)
    network._promote("s0", "")
    network.consumer.drain()
    return network


def test_a_copy_that_is_missing_is_written_anew(pushed: Network) -> None:
    lost = next(iter(pushed.db.scan(FeedItem)))
    pushed.db.delete_many([lost.ref()])
    report = verify(pushed.db, only=["feed home Activity"])
    [drift] = report.drifts
    assert (drift.kind, drift.key, drift.found) == ("feed", lost.ref().wire(), None)
    assert plan(drift) == "write it again"
    assert repair(pushed.db, report).fixed == 1
    assert pushed.db.get(lost.ref()) == lost
    assert verify(pushed.db).clean


def test_a_copy_that_differs_is_overwritten(pushed: Network) -> None:
    copy = next(iter(pushed.db.scan(FeedItem)))
    pushed.db.put_many([copy.model_copy(update={"text": "wrong"})])
    [drift] = verify(pushed.db).drifts
    assert (drift.expected, drift.found) == ({"text": {"S": ""}}, {"text": {"S": "wrong"}})
    assert repair(pushed.db, verify(pushed.db)).fixed == 1
    assert pushed.db.get(copy.ref()) == copy


def test_a_copy_of_nothing_is_deleted(pushed: Network) -> None:
    copy = next(iter(pushed.db.scan(FeedItem)))
    pushed.db.put_many([copy.model_copy(update={"activity_id": "never"})])
    report = verify(pushed.db)
    [drift] = report.drifts
    assert (drift.expected, plan(drift)) == (None, "delete it")
    repair(pushed.db, report)
    assert verify(pushed.db).clean


def test_a_copy_for_somebody_who_does_not_follow_is_hidden_at_once(pushed: Network) -> None:
    copy = next(iter(pushed.db.scan(FeedItem)))
    pushed.db.put_many([copy.model_copy(update={"follower_id": "stranger"})])
    assert pushed.found("stranger", 5) != []
    repair(pushed.db, verify(pushed.db))
    assert pushed.found("stranger", 5) == []
    pushed.consumer.drain()
    assert [item.follower_id for item in pushed.db.scan(FeedItem)] == ["reader"] * 5


def test_a_reader_who_neither_pulls_nor_gets_copies_pulls_again(pushed: Network) -> None:
    pushed.db.delete_many([feed.source_ref("reader", "s1")])
    assert pushed.found("reader", 20) != pushed.expected("reader")
    report = verify(pushed.db)
    [drift] = report.drifts
    assert drift.key == feed.source_ref("reader", "s1").wire()
    repair(pushed.db, report)
    assert pushed.found("reader", 20) == pushed.expected("reader")


def test_paging_is_stable_while_new_activities_arrive(network: Network) -> None:
    _grow(network, 3, 30)
    first = feed.page(network.db, "reader", limit=10)
    network._post("s1", "")
    network._promote("s0", "")
    network.consumer.drain()
    second = feed.page(network.db, "reader", limit=10, cursor=first.cursor)
    found = [item.activity_id for item in (*first, *second)]
    assert found == [f"a{number:04d}" for number in range(30, 10, -1)]


def test_expired_activities_are_not_shown(network: Network) -> None:
    _grow(network, 2, 4)
    network.clock.advance(61 * 86400)
    assert network.found("reader", 5) == []


def test_a_cursor_of_another_reader_is_refused(network: Network) -> None:
    _grow(network, 2, 10)
    cursor = feed.page(network.db, "reader", limit=2).cursor
    with pytest.raises(CursorRefused):
        feed.page(network.db, "other", limit=2, cursor=cursor)


@pytest.mark.parametrize("size", [0, -1, 101])
def test_a_page_that_is_too_small_or_large_is_refused(network: Network, size: int) -> None:
    with pytest.raises(PlanError, match="1 to 100"):
        feed.page(network.db, "reader", limit=size)


def test_following_twice_and_unfollowing_nobody_are_refused(network: Network) -> None:
    edge = Follow(follower_id="a", followee_id="b")
    network.db.transact(*feed.following(edge))
    with pytest.raises(AlreadyExists):
        network.db.transact(*feed.following(edge))
    network.db.transact(*feed.unfollowing(edge))
    with pytest.raises(NotFound):
        network.db.transact(*feed.unfollowing(edge))


def test_a_feed_is_part_of_the_design_as_data() -> None:
    [described] = design.schema.feeds
    assert (described.name, described.post, described.item) == ("home", "Activity", "FeedItem")
    assert (described.mode, described.cap) == ("hybrid", 60)


@pytest.mark.parametrize(
    ("posted", "copied", "reason"),
    [
        ("T#{at:iso}#{post_id}", "{post_id}", "sorted by"),
        ("{at:iso}#{post_id}", "{at:iso}#{post_id}", "cannot be distinguished"),
        ("T#{post_id}", "T#{post_id}", "does not begin with a time"),
    ],
)
def test_a_feed_whose_order_does_not_work_is_refused(posted: str, copied: str, reason: str) -> None:
    other = Design("other")
    main = other.table("t", ttl="ttl")

    class Post(Entity, table=main):
        actor_id: Id
        at: Timestamp
        post_id: Id
        key = Key("P#{actor_id}", posted)

    class Likes(Entity, table=main):
        a: Id
        b: Id
        key = Key("A#{a}", "B#{b}")

    class Copy(Entity, table=main):
        reader: Id
        actor_id: Id
        post_id: Id
        at: Timestamp
        until: Annotated[Timestamp | None, Ttl()] = None
        key = Key("F#{reader}", copied)

    with pytest.raises(DeclarationError, match=reason):
        Feed("x", activity=Post, edge={Likes: "key"}, item=Copy)
    with pytest.raises(DeclarationError, match="no key 'followers'"):
        Feed("x", activity=Activity, edge=Likes, item=FeedItem)
