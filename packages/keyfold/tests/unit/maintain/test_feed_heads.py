"""Heads: a page reads the newest of many sources at once, and misses and shows nothing by it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from string import ascii_letters
from typing import Any
from zlib import compress

import pytest

from keyfold import Db, Design, Feed
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold.errors import AlreadyExists, ConditionFailed, DeclarationError
from keyfold.maintain import rebuild, repair, verify
from keyfold.maintain.feed import FeedPolicy, heads
from keyfold.maintain.feed.fan_out import post
from keyfold.migrations.diff import diff
from keyfold.runtime.flow import Parallel
from keyfold.streams import Consumer
from keyfold_engine.values.size import item_size
from tests.samples.network import ActivityFields, FeedItemFields, FollowFields, network_table

START = datetime(2026, 1, 1, tzinfo=UTC)
NEWEST = 4
LAST = "TS#2026-01-01T00:00:06.000000Z#a0006"


def _declare(newest: int) -> tuple[Design, Feed[Any], Any, Any]:
    design = Design("headed")
    table = network_table(design)

    class Follow(FollowFields, table=table):
        pass

    class Activity(ActivityFields, table=table):
        hidden: str = ""
        likes: Decimal = Decimal(0)
        tags: set[str] = set()
        media: dict[str, Any] = {}

    class FeedItem(FeedItemFields, table=table):
        likes: Decimal = Decimal(0)
        tags: set[str] = set()
        media: dict[str, Any] = {}

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

    def hint_bytes(self, source: str) -> int:
        hint = self.hint(source)
        return item_size(hint.__spec__.encode(hint))

    def long(self, *sources: str) -> list[str]:
        """Those whose heads may be long."""
        hints = {source: self.hint(source) for source in sources}
        return [s for s, hint in hints.items() if hint is not None and hint.long_until is not None]

    def head(self, source: str) -> list[str] | None:
        """The activities in a source's head."""
        head = heads.head_of(home, self.hint(source))
        return None if head is None else [one["activityId"]["S"] for one in head.entries]


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
    assert world.head("ben") is None
    assert world.page() == ["a0002", "a0001"]
    monkeypatch.undo()
    world.drain()
    assert world.head("ben") == ["a0002", "a0001"]
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
    assert world.head("ben") == [kept.activity_id]
    assert verify(world.db).clean


def test_what_is_deleted_past_the_feed_leaves_the_head_with_the_stream(world: World) -> None:
    world.follow("ben")
    world.db.delete(world.post("ben"))
    world.drain()
    assert world.page() == []
    assert verify(world.db).clean


def test_a_head_is_never_more_than_two_write_units(world: World) -> None:
    world.follow("ben")
    for length in (500, 500, 1_500, 5_000, 10):
        world.post("ben", text=noise(length))
        assert world.hint_bytes("ben") <= heads.LONG_BYTES
        assert world.pages(2) == [f"a{number:04d}" for number in range(world.posted, 0, -1)]
        assert verify(world.db).clean


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is counted, and nothing is switched by it."""
    monkeypatch.setattr(home, "policy", FeedPolicy(samples=1e6, busiest=0.0))


@pytest.mark.usefixtures("counted")
def test_a_head_is_one_write_unit_until_pages_take_more_than_twice_the_requests_of_copies(
    world: World,
) -> None:
    for source in ("dan", "cat", "ben"):
        world.follow(source)
        for _ in range(NEWEST):
            world.post(source, text=noise(260))
        assert 0 < len(world.head(source) or ()) < NEWEST
        assert world.hint_bytes(source) <= heads.SHORT_BYTES
        for _ in range(60):
            # One page in two is counted at most.
            world.page()
            world.clock.advance(1)
        world.drain()
        assert world.long("ben", "cat", "dan") == (["ben"] if source == "ben" else [])
    for _ in range(NEWEST):
        assert world.page() == [f"a{number:04d}" for number in range(world.posted, 0, -1)]
        world.post("ben", text=noise(260))
    assert len(world.head("ben") or ()) == NEWEST
    assert heads.SHORT_BYTES < world.hint_bytes("ben") <= heads.LONG_BYTES
    assert verify(world.db).clean
    world.clock.advance(heads.LONG_FOR.total_seconds() + 1)
    world.post("ben", text=noise(260))
    assert world.hint_bytes("ben") <= heads.SHORT_BYTES


@pytest.mark.usefixtures("counted")
def test_a_page_that_finds_enough_in_heads_lengthens_none(world: World) -> None:
    world.follow("ben", "cat")
    for _ in range(2):
        world.post("ben", text=noise(100))
    for _ in range(40):
        # What is further back than heads go is no reason.
        assert len(world.pages(1)) == 2
        world.clock.advance(1)
    world.drain()
    assert world.hint("ben").long_until is None


@pytest.mark.usefixtures("counted")
def test_a_record_that_comes_again_lengthens_no_head_twice(world: World) -> None:
    world.post("ben")
    named = ["ben", "nobody"]
    world.db.run(heads.lengthen(world.db.context, home, named))
    until = world.hint("ben").long_until
    assert until is not None
    world.clock.advance(3_600)
    world.db.run(heads.lengthen(world.db.context, home, named))
    assert world.hint("ben").long_until == until
    assert world.hint("nobody") is None


def noise(length: int, dice: random.Random = random.Random(1)) -> str:  # noqa: B008 - one for all
    """A text that cannot be compressed much."""
    return "".join(dice.choices(ascii_letters, k=length))


def test_expired_activities_are_not_shown_from_heads(world: World) -> None:
    world.follow("ben")
    world.post("ben")
    world.clock.advance(31 * 86_400)
    world.post("ben")
    assert world.page() == ["a0002"]
    assert verify(world.db).clean


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        b"no head",
        compress(b"no list"),
        heads.Head((), "SK", last=LAST).packed,
        heads.Head(({"SK": {"S": "TS#2030"}},), "SK", whole=False, last=LAST).packed,
    ],
)
def test_a_head_that_is_wrong_is_found_and_repaired(world: World, wrong: bytes | None) -> None:
    world.follow("ben")
    for _ in range(NEWEST + 2):
        world.post("ben")
    world.drain()
    right = world.hint("ben")
    assert right.last == LAST
    world.db.put_many([right.model_copy(update={"head": wrong})])
    report = verify(world.db)
    assert report.counts == {"feed heads": 1}
    assert report.drifts[0].structure == "feed home heads"
    assert repair(world.db, report).fixed == 1
    assert world.hint("ben").head == right.head
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
    world.db.put_many([hint.model_copy(update={"head": None, "token": None})])
    assert world.page() == ["a0003", "a0002", "a0001"]
    rebuild(world.db, ["feed home heads"])
    assert world.hint("ben").head == hint.head


def test_who_posts_without_heads_lets_them_lapse(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.follow("ben")
    world.post("ben")
    monkeypatch.setattr(home, "heads", 0)
    world.post("ben")
    monkeypatch.undo()
    assert world.head("ben") is None
    assert world.page() == ["a0002", "a0001"]
    world.drain()
    assert world.head("ben") == ["a0002", "a0001"]


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


@pytest.mark.parametrize("newest", [-1, 51, True, 2.5, "8"])
def test_heads_that_cannot_be_kept_are_refused(newest: Any) -> None:
    with pytest.raises(DeclarationError, match="heads must be 0 to 50"):
        _declare(newest)
