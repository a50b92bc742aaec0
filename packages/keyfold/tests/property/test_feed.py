"""Random networks: every sequence of pages equals the sorted union of what a reader follows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

from keyfold import Created, Db, Design, Entity, Id, Key, On, Timestamp
from keyfold.errors import CursorRefused, PlanError
from keyfold.feeds import Feed, Flag
from keyfold.maintain import repair, verify
from keyfold.maintain.feed import edges, fan_out
from keyfold.streams import Consumer
from keyfold.structures import Sharded
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

design = Design("network")
table = network_table(design)


class Follow(FollowFields, table=table):
    shard: Annotated[int, Sharded("follower_id", 2)] = 0
    followers = On("GSI1", "USER#{followee_id}#{shard:02d}", "FOLLOWER#{follower_id}")


class Member(Entity, table=table):
    group_id: Id
    user_id: Id
    joined_at: Annotated[Timestamp | None, Created()] = None
    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")
    by_user = On("GSI1", "MEMBER#{user_id}", "GROUP#{group_id}")


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
    push=Flag(Promotion, "fanout_enabled", since="updated_at"),
    cap=60,
)

START = datetime(2025, 1, 1, tzinfo=UTC)
PEOPLE = ["ann", "ben", "cat", "dan"]
GROUPS = ["climbers"]
SOURCES = PEOPLE + GROUPS


@pytest.fixture(autouse=True, scope="module")
def _few_followers_at_once() -> Iterator[None]:
    """So that a crash meets work over followers in its middle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "FOLLOWERS_AT_ONCE", 2)
        yield


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

    def __init__(self, seed: int, lag: tuple[float, float] | None = None) -> None:
        self.clock = ManualClock(START.timestamp())
        engine = Engine.open(":memory:", clock=self.clock, index_lag=lag)
        self.client = Fragile(EmbeddedClient(engine))
        self.db: Db = design.open(self.client, clock=self.clock)
        self.consumer = Consumer(self.db)
        self.dice = random.Random(seed)
        self.follows: set[tuple[str, str]] = set()
        self.activities: list[Activity] = []
        self.posted = 0
        self.late: set[str] = set()
        """What the stream may not have copied or taken back yet."""

    @classmethod
    def grown(cls, seed: int, lag: tuple[float, float] | None = None) -> Network:
        """One in which everybody follows about half of the others, since two minutes."""
        network = cls(seed, lag=lag)
        for reader in PEOPLE:
            for source in SOURCES:
                if network.dice.random() < 0.5:
                    network._follow(reader, source)
        network.clock.advance(120)
        return network

    def act(self, verb: str, reader: str, source: str) -> None:
        self.clock.advance(self.dice.choice([0, 1, 30, 90]))
        # Groups post and are promoted too; only people read.
        ends = (source, reader) if verb in ("post", "promote", "demote") else (reader, source)
        getattr(self, f"_{verb}")(*ends)
        if self.dice.random() < 0.3:
            self.drain()

    def drain(self) -> None:
        self.consumer.drain()
        self.late.clear()

    def _follow(self, reader: str, source: str) -> None:
        if reader != source and (reader, source) not in self.follows:
            self.db.create(edge_of(reader, source))
            self.follows.add((reader, source))

    def _unfollow(self, reader: str, source: str) -> None:
        if (reader, source) in self.follows:
            self.db.delete(edge_of(reader, source))
            self.follows.discard((reader, source))

    def _post(self, actor: str, _: str) -> None:
        self.posted += 1
        at = datetime.fromtimestamp(self.clock.now(), UTC)
        activity = Activity(actor_id=actor, created_at=at, activity_id=f"a{self.posted:04d}")
        self.activities.append(self.db.create(activity))
        self.late.add(activity.activity_id)

    def _edit(self, _: str, __: str) -> None:
        if self.activities:
            place = self.dice.randrange(len(self.activities))
            text = f"edited {self.dice.random()}"
            self.activities[place] = self.db.update(self.activities[place], text=text)

    def _delete(self, _: str, __: str) -> None:
        if self.activities:
            gone = self.activities.pop(self.dice.randrange(len(self.activities)))
            self.db.delete(gone)
            self.late.add(gone.activity_id)

    def _promote(self, source: str, _: str) -> None:
        self.db.put(Promotion(user_id=source, fanout_enabled=True))

    def _demote(self, source: str, _: str) -> None:
        self.db.put(Promotion(user_id=source, fanout_enabled=False))

    def _forget(self, _: str, source: str) -> None:
        self.db.delete(Promotion.key(user_id=source))

    def _drain(self, _: str, __: str) -> None:
        self.drain()

    def _step(self, _: str, __: str) -> None:
        self.consumer.run_once()

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
        copies = list(self.db.scan(FeedItem))
        if kind == "lose" and copies:
            self.db.delete_many([self.dice.choice(copies).ref()])
        if kind == "alter" and copies:
            self.db.put_many([self.dice.choice(copies).model_copy(update={"text": "wrong"})])
        if kind == "invent":
            reader, source = self.dice.choice(PEOPLE), self.dice.choice(SOURCES)
            at = datetime.fromtimestamp(self.clock.now(), UTC)
            activity = Activity(actor_id=source, created_at=at, activity_id="invented")
            self.db.put_many([feed.copy(activity, reader)])

    def expected(self, reader: str) -> list[tuple[str, str]]:
        sources = {source for one, source in self.follows if one == reader}
        seen = [a for a in self.activities if a.actor_id in sources]
        ordered = sorted(seen, key=lambda a: (a.created_at, a.activity_id), reverse=True)
        return [(a.activity_id, a.text) for a in ordered][: feed.cap]

    def found(self, reader: str, size: int) -> list[tuple[str, str]]:
        pages: list[tuple[str, str]] = []
        cursor: str | None = None
        while True:
            page = feed.page(self.db, reader, limit=size, cursor=cursor)
            pages += [(item.activity_id, item.text) for item in page]
            cursor = page.cursor
            if cursor is None:
                return pages


_VERBS = st.sampled_from(
    ["post"] * 6
    + ["promote", "promote", "demote", "edit", "forget"]
    + ["follow", "follow", "unfollow", "delete", "crash", "step", "drain"]
)
_STEPS = st.lists(
    st.tuples(_VERBS, st.sampled_from(PEOPLE), st.sampled_from(SOURCES)), min_size=10, max_size=60
)
_QUIETLY = [HealthCheck.too_slow]


@settings(max_examples=60, suppress_health_check=_QUIETLY)
@given(_STEPS, st.integers(1, 9), st.integers(0, 1000))
def test_every_page_sequence_equals_the_oracle(
    steps: list[tuple[str, str, str]], size: int, seed: int
) -> None:
    network = Network.grown(seed)
    for step in steps:
        network.act(*step)
    network.drain()
    for reader in PEOPLE:
        assert network.found(reader, size) == network.expected(reader)
    report = verify(network.db)
    assert report.clean, report.drifts[0]


@settings(max_examples=40, suppress_health_check=_QUIETLY)
@given(_STEPS, st.integers(0, 1000))
def test_at_any_moment_a_page_lacks_and_repeats_only_what_the_stream_has_not_read(
    steps: list[tuple[str, str, str]], seed: int
) -> None:
    network = Network.grown(seed)
    for step in steps:
        network.act(*step)
        for reader in PEOPLE:
            found = [name for name, _ in network.found(reader, 20)]
            expected = {name for name, _ in network.expected(reader)}
            assert len(found) == len(set(found))
            assert set(found) ^ expected <= network.late
            assert all((reader, one.actor_id) in network.follows for one in _page(network, reader))


def _page(network: Network, reader: str) -> list[FeedItem]:
    return list(feed.page(network.db, reader, limit=20))


@settings(max_examples=30, deadline=None, suppress_health_check=_QUIETLY)
@given(_STEPS, st.integers(0, 1000))
def test_a_list_of_followers_that_is_behind_does_no_harm(
    steps: list[tuple[str, str, str]], seed: int
) -> None:
    network = Network.grown(seed, lag=(0.0, 50.0))
    for step in steps:
        network.act(*step)
    network.drain()
    network.clock.advance(60)
    for reader in PEOPLE:
        assert network.found(reader, 7) == network.expected(reader)


@settings(max_examples=30, suppress_health_check=_QUIETLY)
@given(
    _STEPS,
    st.lists(st.sampled_from(["lose", "alter", "invent"]), min_size=1, max_size=5),
    st.integers(0, 1000),
)
def test_damaged_feeds_are_found_and_repaired(
    steps: list[tuple[str, str, str]], damage: list[str], seed: int
) -> None:
    network = Network.grown(seed)
    for step in steps:
        network.act(*step)
    network.drain()
    for kind in damage:
        network.damage(kind)
    repair(network.db, verify(network.db))
    for reader in PEOPLE:
        assert network.found(reader, 20) == network.expected(reader)
    assert verify(network.db).clean


@pytest.fixture
def network() -> Network:
    return Network(0)


def _grow(network: Network, followees: int, posts: int) -> None:
    for number in range(followees):
        network._follow("reader", f"s{number}")
    network.clock.advance(120)
    for number in range(posts):
        network.clock.advance(1)
        network._post(f"s{number % followees}", "")


def _shown(network: Network) -> list[str]:
    return [name for name, _ in network.found("reader", 7)]


def test_copies_of_flagged_authors_are_read_with_one_query(network: Network) -> None:
    for number in range(5):
        network._promote(f"s{number}", "")
    network.clock.advance(120)
    _grow(network, 5, 20)
    network.consumer.drain()
    with network.db.work("page") as work:
        page = feed.page(network.db, "reader", limit=20)
    assert len(page) == 20
    # Both kinds of edges, the flags, the copies; nothing is older.
    assert work.total.requests == 4 + 5
    assert len(list(network.db.scan(FeedItem))) == 20


def test_without_a_flag_nothing_is_copied(network: Network) -> None:
    _grow(network, 3, 9)
    network.consumer.drain()
    assert list(network.db.scan(FeedItem)) == []
    assert len(_shown(network)) == 9


def test_what_is_older_than_the_flag_or_the_follow_is_read_from_the_author(
    network: Network,
) -> None:
    _grow(network, 1, 3)
    network.clock.advance(1)
    network._promote("s0", "")
    network.clock.advance(120)
    network._post("s0", "")
    network._follow("new", "s0")
    network.consumer.drain()
    assert {copy.activity_id for copy in network.db.scan(FeedItem)} == {"a0004"}
    for reader in ("reader", "new"):
        assert network.found(reader, 3) == network.expected(reader)


def test_who_follows_again_does_not_see_what_was_deleted_meanwhile(network: Network) -> None:
    network._promote("s0", "")
    _grow(network, 1, 1)
    network.consumer.drain()
    network._unfollow("reader", "s0")
    network._delete("", "")
    network.consumer.drain()
    network._follow("reader", "s0")
    assert _shown(network) == []


def test_a_fan_out_goes_on_where_it_died(network: Network) -> None:
    readers = [f"r{number:02d}" for number in range(12)]
    for reader in readers:
        network._follow(reader, "star")
    network._promote("star", "")
    network.clock.advance(120)
    network._post("star", "")

    def fan_again() -> set[str]:
        context = network.db.context
        network.db.run(fan_out.copy_to_all(context, feed, network.activities[-1]))
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
    assert list(network.db.scan(feed.job)) == []


def test_a_page_asks_a_pulled_source_for_no_more_than_can_be_on_it(network: Network) -> None:
    _grow(network, 50, 100)
    with network.db.work("page") as work:
        assert len(feed.page(network.db, "reader", limit=20)) == 20
    # The edges, the flags, and each source once.
    assert work.total.requests <= 2 + 1 + 50


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
    network.clock.advance(timedelta(days=61).total_seconds())
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
