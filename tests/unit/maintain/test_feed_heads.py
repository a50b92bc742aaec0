"""Heads: a page reads the newest of many sources at once, and misses and shows nothing by it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Annotated, Any

import pytest

from keyfold import Db, Design, Edge, Entity, Feed, Id, Index, Key, On, Timestamp, Ttl
from keyfold.clients.embedded import EmbeddedClient
from keyfold.clock import ManualClock
from keyfold.engine import Engine
from keyfold.errors import AlreadyExists, ConditionFailed, DeclarationError
from keyfold.limits import READ_UNIT_BYTES
from keyfold.maintain import rebuild, repair, verify
from keyfold.maintain.feed import heads
from keyfold.maintain.feed.fan_out import post
from keyfold.migrations.diff import diff
from keyfold.runtime.flow import Parallel
from keyfold.streams import Consumer
from keyfold.values.size import item_size

START = datetime(2026, 1, 1, tzinfo=UTC)
NEWEST = 4


def _declare(newest: int) -> tuple[Design, Feed[Any], Any, Any]:
    design = Design("headed")
    table = design.table(
        "headed",
        indexes=[Index("GSI1", "GSI1PK", "GSI1SK")],
        ttl="ttl",
        stream="NEW_AND_OLD_IMAGES",
    )

    class Follow(Edge, table=table):
        follower_id: Id
        followee_id: Id
        key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")
        followers = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")

    class Activity(Entity, table=table):
        actor_id: Id
        created_at: Timestamp
        activity_id: Id
        text: str = ""
        hidden: str = ""
        likes: Decimal = Decimal(0)
        tags: set[str] = set()
        media: dict[str, Any] = {}
        key = Key("ACTIVITY#{actor_id}", "TS#{created_at:iso}#{activity_id}")

    class FeedItem(Entity, table=table):
        follower_id: Id
        actor_id: Id
        created_at: Timestamp
        activity_id: Id
        text: str = ""
        likes: Decimal = Decimal(0)
        tags: set[str] = set()
        media: dict[str, Any] = {}
        expires_at: Annotated[Timestamp | None, Ttl()] = None
        key = Key("FEED#{follower_id}", "TS#{created_at:iso}#{activity_id}")

    home = Feed("home", activity=Activity, edge=Follow, item=FeedItem, policy=None, heads=newest)
    return design, home, Activity, Follow


design, home, Activity, Follow = _declare(NEWEST)
plain, _, _, _ = _declare(0)


class World:
    """One reader who pulls all that they follow, on a clock that stands still between steps."""

    def __init__(self) -> None:
        self.clock = ManualClock(START.timestamp())
        engine = Engine.open(":memory:", clock=self.clock)
        self.db: Db = design.open(EmbeddedClient(engine), clock=self.clock)
        self.posted = 0

    def follow(self, *sources: str) -> None:
        for source in sources:
            self.db.transact(*home.following(Follow(follower_id="ann", followee_id=source)))

    def activity(self, source: str, **fields: Any) -> Any:
        self.posted += 1
        self.clock.advance(1)
        at = datetime.fromtimestamp(self.clock.now(), UTC)
        name = f"a{self.posted:04d}"
        return Activity(actor_id=source, created_at=at, activity_id=name, **fields)

    def post(self, source: str, **fields: Any) -> Any:
        return home.post(self.db, self.activity(source, **fields))

    def drain(self) -> None:
        Consumer(self.db).drain()

    def page(self, limit: int = 50) -> list[str]:
        return [item.activity_id for item in home.page(self.db, "ann", limit=limit)]

    def pages(self, limit: int) -> list[str]:
        found, cursor = list[str](), None
        while True:
            page = home.page(self.db, "ann", limit=limit, cursor=cursor)
            found, cursor = [*found, *(item.activity_id for item in page)], page.cursor
            if cursor is None:
                return found

    def hint(self, source: str) -> Any:
        return self.db.find(home.support.hint.key(source=source))


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    with world.db:
        yield world


def test_a_page_of_many_pulled_sources_is_a_few_requests(world: World) -> None:
    names = [f"s{number:03d}" for number in range(150)]
    world.follow(*names)
    for name in names:
        world.post(name)
    with world.db.work("page") as work:
        page = world.page()
    assert page == [f"a{number:04d}" for number in range(150, 100, -1)]
    # The marks, what was removed, the copies, and two hundred heads at most.
    assert work.total.requests == 3 + 2


def test_what_is_older_than_a_head_is_read_from_its_source(world: World) -> None:
    world.follow("ben", "cat")
    for _ in range(3 * NEWEST):
        world.post("ben")
        world.post("cat")
    everything = [f"a{number:04d}" for number in range(6 * NEWEST, 0, -1)]
    assert world.pages(100) == everything
    assert world.pages(5) == everything


def test_a_post_is_on_the_next_page_whatever_came_before() -> None:
    for seed in range(6):
        world, dice = World(), random.Random(seed)
        names = ["ben", "cat", "dan"]
        world.follow(*names)
        present: list[Any] = []
        for _ in range(30):
            step = dice.choice(["post", "post", "post", "remove", "late"])
            if step == "post":
                present.append(world.post(dice.choice(names)))
            elif step == "late":
                made = world.activity(dice.choice(names))
                earlier = made.created_at - timedelta(seconds=dice.randrange(1, 20), milliseconds=1)
                present.append(home.post(world.db, made.model_copy(update={"created_at": earlier})))
            elif present:
                world.db.transact(*home.removing(present.pop(dice.randrange(len(present)))))
            if dice.random() < 0.2:
                world.drain()
            ordered = sorted(present, key=home.position, reverse=True)
            size = dice.choice([2, 5, 50])
            assert world.pages(size) == [one.activity_id for one in ordered], (seed, step)
        world.drain()
        assert verify(world.db).clean
        world.db.close()


@pytest.mark.parametrize("before", [0, NEWEST + 2])
def test_two_posts_of_one_source_at_once_are_both_there_in_every_order(before: int) -> None:
    for order in product((0, 1), repeat=5):
        world = World()
        world.follow("ben")
        for _ in range(before):
            world.post("ben")
        flows = [post(world.db.context, home, world.activity("ben")) for _ in range(2)]
        effects: list[Any] = [next(flow) for flow in flows]
        for turn in (*order, *[0] * 30, *[1] * 30):
            if effects[turn] is not None:
                effects[turn] = _step(world.db, flows[turn], effects[turn])
                if effects[turn] is None:
                    assert f"a{before + 1 + turn:04d}" in world.page(), order
        assert effects == [None, None]
        assert len(world.page()) == before + 2
        world.drain()
        assert verify(world.db).clean
        world.db.close()


def _step(db: Db, flow: Any, effect: Any) -> Any:
    """One request of a flow; None when it is at its end."""
    calls = effect.calls if isinstance(effect, Parallel) else [effect]
    try:
        try:
            answers = [db.client.call(one.operation, one.request) for one in calls]
        except ConditionFailed as refused:
            return flow.throw(refused)
        return flow.send(answers if isinstance(effect, Parallel) else answers[0])
    except StopIteration:
        return None


def test_a_head_that_is_always_contended_is_taken_away_and_made_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.follow("ben")
    world.post("ben")
    monkeypatch.setattr(heads, "ATTEMPTS", 0)
    world.post("ben")
    assert world.hint("ben").since is None
    assert world.page() == ["a0002", "a0001"]
    monkeypatch.undo()
    world.drain()
    assert len(world.hint("ben").newest) == 2
    assert verify(world.db).clean


def test_a_post_whose_process_died_before_its_head_comes_with_the_stream(world: World) -> None:
    world.follow("ben")
    world.post("ben")
    flow = post(world.db.context, home, world.activity("ben"))
    _step(world.db, flow, next(flow))
    flow.close()
    world.drain()
    assert world.page() == ["a0002", "a0001"]
    assert verify(world.db).clean


def test_who_posts_again_after_a_lost_answer_finds_it_in_the_head(world: World) -> None:
    world.follow("ben")
    world.post("ben")
    activity = world.activity("ben")
    flow = post(world.db.context, home, activity)
    _step(world.db, flow, next(flow))
    flow.close()
    with pytest.raises(AlreadyExists):
        home.post(world.db, activity)
    assert world.page() == ["a0002", "a0001"]


def test_what_is_changed_or_written_past_the_feed_comes_with_the_stream(world: World) -> None:
    world.follow("ben")
    shown = world.post("ben", text="Hello", likes=Decimal("1.5"), tags={"a", "b"}, media={"n": 3})
    world.db.update(shown.ref(), text="Hello again")
    world.db.put(world.activity("ben", text="imported"))
    world.drain()
    newest, oldest = home.page(world.db, "ann")
    assert (newest.text, oldest.text) == ("imported", "Hello again")
    assert oldest == home.copy(world.db.get(shown.ref()), "ann")
    before = world.hint("ben").token
    world.db.update(shown.ref(), hidden="not shown")
    world.drain()
    assert world.hint("ben").token == before


@pytest.mark.parametrize("listed", [1, 60])
def test_what_is_removed_is_hidden_at_once_and_leaves_the_head(world: World, listed: int) -> None:
    world.follow("ben")
    kept, *gone = [world.post("ben") for _ in range(listed + 1)]
    for one in gone:
        world.db.transact(*home.removing(one))
        assert one.activity_id not in world.page()
    assert world.page() == [kept.activity_id]
    world.drain()
    assert [one["activityId"] for one in world.hint("ben").newest] == [kept.activity_id]
    assert verify(world.db).clean


def test_what_is_deleted_past_the_feed_leaves_the_head_with_the_stream(world: World) -> None:
    world.follow("ben")
    world.db.delete(world.post("ben"))
    world.drain()
    assert world.page() == []
    assert verify(world.db).clean


def test_a_head_is_never_more_than_a_read_unit(world: World) -> None:
    world.follow("ben")
    for length in (1_500, 1_500, 1_500, 5_000, 10):
        world.post("ben", text="x" * length)
        hint = world.hint("ben")
        assert item_size(hint.__spec__.encode(hint)) <= READ_UNIT_BYTES
        assert world.pages(2) == [f"a{number:04d}" for number in range(world.posted, 0, -1)]
        assert verify(world.db).clean


def test_expired_activities_are_not_shown_from_heads(world: World) -> None:
    world.follow("ben")
    world.post("ben")
    world.clock.advance(31 * 86_400)
    world.post("ben")
    assert world.page() == ["a0002"]
    assert verify(world.db).clean


@pytest.mark.parametrize(
    "wrong", [{"newest": []}, {"newest": None, "since": None}, {"since": "TS#2020"}]
)
def test_a_head_that_is_wrong_is_found_and_repaired(world: World, wrong: dict[str, Any]) -> None:
    world.follow("ben")
    for _ in range(NEWEST + 2):
        world.post("ben")
    world.drain()
    right = world.hint("ben")
    world.db.put_many([right.model_copy(update=wrong)])
    report = verify(world.db)
    assert report.counts == {"feed heads": 1}
    assert report.drifts[0].structure == "feed home heads"
    assert repair(world.db, report).fixed == 1
    assert world.hint("ben").newest == right.newest
    assert world.hint("ben").since == right.since
    assert verify(world.db).clean


def test_heads_that_are_declared_later_are_built_by_the_migration(world: World) -> None:
    changes = diff(plain.schema, design.schema)
    assert any(
        (change.kind, change.detail) == ("structure added", "feed home heads") for change in changes
    )
    world.follow("ben")
    for _ in range(3):
        world.post("ben")
    hint = world.hint("ben")
    world.db.put_many([hint.model_copy(update={"newest": None, "since": None, "token": None})])
    assert world.page() == ["a0003", "a0002", "a0001"]
    rebuild(world.db, ["feed home heads"])
    assert world.hint("ben").newest == hint.newest


def test_heads_are_part_of_the_design_as_data() -> None:
    [feed] = design.schema.feeds
    assert feed.heads == NEWEST
    assert plain.schema.feeds[0].heads is None
    [kept] = [each for each in design.schema.follows if each.name == "feed home heads"]
    assert (kept.source, kept.target, kept.fact) == ("Activity", "HomeHint", "best")


def test_who_is_forgotten_leaves_no_head(world: World) -> None:
    world.follow("ben")
    world.db.delete(world.post("ben"))
    world.drain()
    world.db.transact(*home.forgetting("ben"))
    assert world.hint("ben") is None
    assert world.page() == []


@pytest.mark.parametrize("newest", [-1, 51])
def test_heads_that_cannot_be_kept_are_refused(newest: int) -> None:
    with pytest.raises(DeclarationError, match="0 to 50 activities"):
        _declare(newest)
