"""A feed's bounds, what fails for good, who is flagged, and declarations that are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

from keyfold import Counter, Db, Design, Entity, Id, Key, On, Timestamp, Ttl
from keyfold.errors import AlreadyExists, DeclarationError, NotFound
from keyfold.feeds import Feed, Flag, Threshold
from keyfold.maintain.feed.newest_first import CONCURRENCY
from keyfold.streams import AsyncConsumer, Consumer, ConsumerOptions, Policy, letters, replay
from keyfold.structures import Edge
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.limits import ITEM_BYTES
from keyfold_engine.values.size import item_size

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


class Followers(Entity, table=table):
    user_id: Id
    count: Annotated[int, Counter("Follow", via={"user_id": "followee_id"}, creates=True)] = 0
    key = Key("USER#{user_id}", "COUNTER#FOLLOWERS")


FAMOUS = Threshold(Followers, "count", 3, sets={"reason": "followers"})
feed = Feed(
    "home",
    activity=Activity,
    edge=Follow,
    item=FeedItem,
    push=Flag(Promotion, "fanout_enabled", since="updated_at", thresholds=(FAMOUS,)),
    cap=60,
)

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
    db.create(Follow(follower_id=reader, followee_id=source))


def _post(db: Db, actor: str, name: str, at: datetime | None = None, text: str = "") -> Activity:
    when = at or db.context.now()
    return db.create(Activity(actor_id=actor, created_at=when, activity_id=name, text=text))


def _star(db: Db, clock: ManualClock, *readers: str) -> None:
    """An author who is flagged and followed since two minutes."""
    for reader in readers:
        _follow(db, reader, "star")
    db.put(Promotion(user_id="star", fanout_enabled=True))
    clock.advance(120)


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
    _star(db, clock, *(f"r{number}" for number in range(120)))
    consumer.drain()
    _post(db, "star", "news")
    client = Crowd(engine)
    following = await design.open_async(client, clock=clock)
    await AsyncConsumer(following).drain()
    assert all(len(feed.page(db, f"r{number}")) == 1 for number in range(120))
    assert client.most == 1


def test_a_fan_out_that_fails_for_good_is_a_dead_letter_and_can_be_replayed(
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    _star(db, clock, "reader")
    # The activity fits into an item; its copy, which also says whose it is, does not.
    short = Activity(actor_id="star", created_at=db.context.now(), activity_id="huge", text="x")
    room = ITEM_BYTES - item_size(Activity.__spec__.encode(short))
    huge = _post(db, "star", "huge", text="x" * room)
    clock.advance(1)
    _post(db, "star", "small")
    assert consumer.drain().dead == 1
    assert [item.activity_id for item in feed.page(db, "reader")] == ["small"]

    [letter] = db.run(letters(db.context))
    assert letter.effect == "feed home Activity"
    assert "Item size has exceeded the maximum allowed size" in letter.reason

    db.update(huge, text="small again")
    db.run(replay(db, letter))
    assert db.run(letters(db.context)) == []
    assert [item.activity_id for item in feed.page(db, "reader")] == ["small", "huge"]


def test_a_cursor_older_than_the_window_is_an_empty_page(db: Db, clock: ManualClock) -> None:
    _follow(db, "reader", "source")
    for number in range(3):
        _post(db, "source", str(number), START - feed.ttl + timedelta(minutes=1 + number))
    first = feed.page(db, "reader", limit=1)
    clock.advance(3600)
    after = feed.page(db, "reader", limit=1, cursor=first.cursor)
    assert first.cursor is not None
    assert (list(after), after.cursor) == ([], None)


def test_what_a_copy_does_not_show_is_not_copied_again(
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    _star(db, clock, "reader")
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
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    _star(db, clock, "reader")
    gone, _ = _post(db, "star", "gone"), _post(db, "star", "kept")
    consumer.drain()
    assert len(feed.page(db, "reader")) == 2
    db.delete(gone.ref())
    consumer.drain()
    assert [item.activity_id for item in feed.page(db, "reader")] == ["kept"]
    copies = db.read(FeedItem.key.query(follower_id="reader"))
    assert [item.activity_id for item in copies] == ["kept"]


def test_a_page_ends_at_the_cap(db: Db) -> None:
    _follow(db, "reader", "source")
    for number in range(70):
        _post(db, "source", f"a{number}", START - timedelta(minutes=number))
    first = feed.page(db, "reader", limit=50)
    second = feed.page(db, "reader", limit=50, cursor=first.cursor)
    assert (len(first), len(second), second.cursor) == (50, 10, None)


def test_a_threshold_sets_the_flag_of_who_reaches_it(db: Db, consumer: Consumer) -> None:
    for number in range(3):
        assert db.find(Promotion.key(user_id="star")) is None
        _follow(db, f"r{number}", "star")
        consumer.drain()
    flag = db.get(Promotion.key(user_id="star"))
    assert (flag.fanout_enabled, flag.reason) == (True, "followers")
    assert flag.updated_at == db.context.now()


def test_a_threshold_leaves_a_flag_that_a_person_set(db: Db, consumer: Consumer) -> None:
    db.put(Promotion(user_id="star", fanout_enabled=False))
    for number in range(4):
        _follow(db, f"r{number}", "star")
    consumer.drain()
    assert not db.get(Promotion.key(user_id="star")).fanout_enabled
    _post(db, "star", "news")
    consumer.drain()
    assert list(db.scan(FeedItem)) == []


def test_an_author_below_the_threshold_is_not_flagged_by_a_late_record(
    db: Db, consumer: Consumer
) -> None:
    for number in range(3):
        _follow(db, f"r{number}", "star")
    db.delete(Follow.key(follower_id="r0", followee_id="star"))
    consumer.drain()
    assert db.find(Promotion.key(user_id="star")) is None


def test_following_twice_and_unfollowing_nobody_are_refused(db: Db) -> None:
    edge = Follow(follower_id="a", followee_id="b")
    db.create(edge)
    with pytest.raises(AlreadyExists):
        db.create(edge)
    db.delete(edge, must_exist=True)
    with pytest.raises(NotFound):
        db.delete(edge, must_exist=True)


def test_a_feed_is_part_of_the_design_as_data() -> None:
    [described] = design.schema.feeds
    assert (described.name, described.post, described.item) == ("home", "Activity", "FeedItem")
    assert (described.mode, described.cap, described.flag) == ("hybrid", 60, "Promotion")


class Unflagged(Entity, table=table):
    user_id: Id
    fanout_enabled: bool = False
    at: Timestamp
    key = Key("PLAIN#{user_id}", "PLAIN#{user_id}")


class Undated(Edge, table=table):
    follower_id: Id
    followee_id: Id
    key = Key("UNDATED#{follower_id}", "FOLLOWING#{followee_id}")
    followers = On("GSI1", "UNDATED#{followee_id}", "FOLLOWER#{follower_id}")


class OneSided(Entity, table=table):
    a: Id
    b: Id
    key = Key("ONE#{a}", "B#{b}")


PUSH = Flag(Promotion, "fanout_enabled", since="updated_at")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"push": Flag(Promotion, "reason", since="updated_at")}, "reason is not a bool"),
        ({"push": Flag(Unflagged, "fanout_enabled", since="at")}, "time of the flag's last change"),
        ({"push": Flag(Follow, "follower_id", since="created_at")}, "must have one field"),
        (
            {
                "push": Flag(
                    Promotion,
                    "fanout_enabled",
                    since="updated_at",
                    thresholds=(Threshold(Promotion, "reason", 3),),
                )
            },
            "not a number of one author",
        ),
        (
            {
                "push": Flag(
                    Promotion,
                    "fanout_enabled",
                    since="updated_at",
                    thresholds=(Threshold(Followers, "count", 3, sets={"why": "x"}),),
                )
            },
            "no field why",
        ),
        ({"edge": Undated, "push": PUSH}, "since when somebody follows"),
        ({"edge": {OneSided: "key"}}, "does not list the sources of one reader"),
        ({"edge": OneSided}, "no key 'followers'"),
        ({"cap": 0}, "cap must be at least 1"),
        ({"ttl": timedelta(0)}, "ttl must be greater than 0"),
    ],
)
def test_a_feed_that_cannot_be_kept_is_refused(options: dict[str, Any], reason: str) -> None:
    given: dict[str, Any] = {"activity": Activity, "edge": Follow, "item": FeedItem, **options}
    with pytest.raises(DeclarationError, match=reason):
        Feed("other", **given)


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

    class Copy(Entity, table=main):
        reader: Id
        actor_id: Id
        post_id: Id
        at: Timestamp
        until: Annotated[Timestamp | None, Ttl()] = None
        key = Key("F#{reader}", copied)

    with pytest.raises(DeclarationError, match=reason):
        Feed("x", activity=Post, edge=Follow, item=Copy)
