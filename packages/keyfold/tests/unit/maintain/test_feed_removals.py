"""What was removed is never shown: at any moment, by any replica, in a list of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from keyfold import Db, Design, Feed
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold.design.read import Page
from keyfold_engine.engine import Engine
from keyfold.errors import DeclarationError
from keyfold.maintain import repair, verify
from keyfold.maintain.feed import RemovedList
from keyfold.maintain.feed.page import read_page
from keyfold.maintain.feed.removal_work import settle
from keyfold.maintain.feed.removed_list import SETTLED_AFTER
from keyfold.maintain.feed.switch import push
from keyfold.runtime.flow import Answer, Call, Effect, Parallel
from keyfold.streams import Consumer
from tests.samples.network import ActivityFields, FeedItemFields, FollowFields, network_table

REPLICAS, ENTRIES = 5, 3
START = datetime(2026, 1, 1, tzinfo=UTC)

design = Design("removals")
table = network_table(design)


class Follow(FollowFields, table=table):
    pass


class Activity(ActivityFields, table=table):
    pass


class FeedItem(FeedItemFields, table=table):
    pass


feed = Feed(
    "home",
    activity=Activity,
    edge=Follow,
    item=FeedItem,
    policy=None,
    removed=RemovedList(replicas=REPLICAS, entries=ENTRIES),
)


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
    return Consumer(db)


def _posted(db: Db, source: str, count: int, *, days: float = 0) -> list[Activity]:
    """Oldest first."""
    made = []
    for number in range(count):
        at = START - timedelta(days=days, minutes=count - number)
        activity = Activity(actor_id=source, created_at=at, activity_id=f"{source}{number:03d}")
        made.append(feed.post(db, activity))
    return made


def _followed(db: Db, *sources: str) -> None:
    for source in sources:
        db.transact(*feed.following(Follow(follower_id="reader", followee_id=source)))


def _pushed(db: Db, consumer: Consumer, *sources: str) -> None:
    consumer.drain()
    for source in sources:
        assert db.run(push(db.context, feed, "reader", source, "a test"))


def _remove(db: Db, *activities: Activity) -> None:
    for one in activities:
        db.transact(*feed.removing(one))


def _shown(page: Page[FeedItem]) -> list[str]:
    return [item.activity_id for item in page]


def _listed(db: Db) -> int:
    return len(list(db.scan(feed.support.removed)))


class _ByHand:
    """A page whose requests are made one by one, with something else between two of them."""

    def __init__(self, db: Db, order: Sequence[int], between: int, work: Callable[[], object]):
        self._db, self._order, self._between, self._work = db, order, between, work
        self._made = 0

    def page(self) -> list[str]:
        flow = read_page(self._db.context, feed, "reader", 10, None)
        answer: object = None
        while True:
            try:
                effect = flow.send(answer)
            except StopIteration as end:
                return _shown(end.value)
            answer = self._performed(effect)

    def _performed(self, effect: Effect) -> object:
        if isinstance(effect, Call):
            return self._asked(effect)
        assert isinstance(effect, Parallel)
        order = [place for place in self._order if place < len(effect.calls)]
        answers = {place: self._asked(effect.calls[place]) for place in order}
        return [answers[place] for place in range(len(effect.calls))]

    def _asked(self, call: Call) -> Answer:
        if self._made == self._between:
            self._work()
        self._made += 1
        return self._db.client.call(call.operation, call.request)


ORDERS = list(permutations(range(3)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("between", range(4))
def test_a_removal_that_is_carried_out_between_two_requests_of_a_page_is_not_shown(
    db: Db, consumer: Consumer, order: Sequence[int], between: int
) -> None:
    _followed(db, "star")
    posts = _posted(db, "star", 2)
    _pushed(db, consumer, "star")
    _remove(db, posts[1])
    page = _ByHand(db, order, between, consumer.drain)
    assert page.page() == ["star000"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("between", range(4))
def test_a_switch_between_two_requests_of_a_page_hides_nothing(
    db: Db, consumer: Consumer, order: Sequence[int], between: int
) -> None:
    _followed(db, "star")
    _posted(db, "star", 3)
    consumer.drain()
    page = _ByHand(db, order, between, lambda: _pushed(db, consumer, "star"))
    assert page.page() == ["star002", "star001", "star000"]


@pytest.mark.parametrize("removed", [0, 1, ENTRIES - 1, ENTRIES, 20])
def test_a_page_is_full_and_exact_however_much_was_removed(
    db: Db, consumer: Consumer, removed: int
) -> None:
    _followed(db, "star", "moon")
    stars, _ = _posted(db, "star", 40), _posted(db, "moon", 4)
    _pushed(db, consumer, "star")
    gone = stars[-removed:] if removed else []
    _remove(db, *gone)
    expected = [item.activity_id for item in reversed(stars) if item not in gone]
    for _ in range(3 * REPLICAS):
        page = feed.page(db, "reader", limit=10)
        assert len(page) == 10
        assert [one for one in _shown(page) if "star" in one] == expected[: 10 - 4]
    shown, cursor = list[str](), None
    while True:
        page = feed.page(db, "reader", limit=7, cursor=cursor)
        shown += _shown(page)
        cursor = page.cursor
        if cursor is None:
            break
        assert len(page) == 7
    assert sorted(shown) == sorted([*expected, *(f"moon{n:03d}" for n in range(4))])


def test_a_long_list_costs_a_page_its_first_entries_and_a_unit_for_each_copy(
    db: Db, consumer: Consumer
) -> None:
    _followed(db, "star")
    _posted(db, "star", 30)
    others = _posted(db, "other", 200)
    _pushed(db, consumer, "star")
    with db.work("none") as before:
        feed.page(db, "reader", limit=10)
    _remove(db, *others)
    with db.work("many") as many:
        assert len(feed.page(db, "reader", limit=10)) == 10
    assert many.total.read_units == before.total.read_units + 10
    assert many.total.requests == before.total.requests + 1


def test_an_old_activity_that_is_removed_leaves_no_entry_behind(db: Db, consumer: Consumer) -> None:
    old = _posted(db, "star", 1, days=40)
    _remove(db, *old)
    consumer.drain()
    assert _listed(db) == 0


def _settled(db: Db, consumer: Consumer, clock: ManualClock) -> None:
    """Time goes by, and somebody else takes something back."""
    for number in range(2):
        clock.advance(SETTLED_AFTER.total_seconds() + 1)
        at = datetime.fromtimestamp(clock.now(), UTC)
        other = Activity(actor_id="other", created_at=at, activity_id=f"other{number}")
        _remove(db, feed.post(db, other))
        consumer.drain()


def test_a_copy_that_arrives_after_the_removal_was_carried_out_is_hidden_and_then_deleted(
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    _followed(db, "star")
    posts = _posted(db, "star", 2)
    _pushed(db, consumer, "star")
    late = feed.copy(posts[1], "reader")
    _remove(db, posts[1])
    consumer.drain()
    db.put_many([late])
    assert _shown(feed.page(db, "reader")) == ["star000"]
    _settled(db, consumer, clock)
    assert db.find(late.ref()) is None
    assert _shown(feed.page(db, "reader")) == ["star000"]


def test_what_is_settled_leaves_the_list_and_what_is_not_stays(
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    _remove(db, *_posted(db, "star", 3))
    consumer.drain()
    assert _listed(db) == 3 * REPLICAS
    for _ in range(2):
        _settled(db, consumer, clock)
    # The last removal waits for its own time.
    assert _listed(db) == REPLICAS
    assert len(list(db.scan(feed.support.settlement))) == 1
    assert verify(db).counts == {}


@pytest.mark.parametrize("after", range(8))
def test_a_consumer_that_dies_while_it_settles_shows_nothing(
    db: Db, consumer: Consumer, after: int
) -> None:
    _followed(db, "star")
    posts = _posted(db, "star", 2)
    _pushed(db, consumer, "star")
    _remove(db, posts[1])
    consumer.drain()
    late = feed.copy(posts[1], "reader")
    db.put_many([late])
    position = feed.position(posts[1])
    flow = settle(db.context, feed, "star", position)
    answer: Answer | None = None
    with suppress(StopIteration):
        for _ in range(after):
            effect = flow.send(answer)
            assert isinstance(effect, Call)
            answer = db.client.call(effect.operation, effect.request)
    flow.close()
    assert _shown(feed.page(db, "reader")) == ["star000"]
    db.run(settle(db.context, feed, "star", position))
    assert db.find(late.ref()) is None
    assert _listed(db) == 0


def test_a_removal_after_which_no_other_comes_is_settled_when_its_time_is_over(
    db: Db, consumer: Consumer, clock: ManualClock, engine: Engine
) -> None:
    _remove(db, *_posted(db, "star", 1))
    consumer.drain()
    assert _listed(db) == REPLICAS
    clock.advance(SETTLED_AFTER.total_seconds() + 1)
    engine.sweep()
    consumer.drain()
    assert _listed(db) == 0


def test_an_entry_that_nobody_carries_out_expires_with_the_copies(
    db: Db, consumer: Consumer, clock: ManualClock
) -> None:
    posts = _posted(db, "star", 1)
    _remove(db, *posts)
    assert {entry.expires_at for entry in db.scan(feed.support.removed)} == {
        posts[0].created_at + feed.ttl
    }


def test_every_replica_has_what_was_removed_and_repair_puts_back_what_one_lost(
    db: Db, consumer: Consumer
) -> None:
    _followed(db, "star")
    posts = _posted(db, "star", 2)
    _pushed(db, consumer, "star")
    _remove(db, posts[1])
    assert _listed(db) == REPLICAS
    assert verify(db).counts == {}
    entries = list(db.scan(feed.support.removed))
    lost = [entry for entry in entries if entry.replica in (1, 3)]
    db.delete_many([entry.ref() for entry in lost])
    report = verify(db)
    assert report.counts == {"feed": 2}
    repair(db, report)
    assert sorted(db.scan(feed.support.removed), key=lambda e: e.replica) == sorted(
        entries, key=lambda e: e.replica
    )
    consumer.drain()
    assert verify(db).counts == {}


def test_an_entry_of_a_replica_that_is_not_written_any_more_is_found_and_goes(
    db: Db, consumer: Consumer
) -> None:
    posts = _posted(db, "star", 1)
    _remove(db, *posts)
    entry = next(db.scan(feed.support.removed))
    db.put(entry.model_copy(update={"replica": REPLICAS}))
    report = verify(db)
    assert report.counts == {"feed": 1}
    repair(db, report)
    assert _listed(db) == REPLICAS


def test_pages_read_the_replicas_that_every_writer_writes_while_the_number_changes(
    db: Db, consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _followed(db, "star")
    posts = _posted(db, "star", 2)
    _pushed(db, consumer, "star")
    _remove(db, posts[1])
    wider = RemovedList(replicas=4 * REPLICAS, read=REPLICAS, entries=ENTRIES)
    monkeypatch.setattr(feed, "removed", wider)
    assert all(_shown(feed.page(db, "reader")) == ["star000"] for _ in range(40))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (RemovedList(replicas=0), "replicas of its removed list must be 1 to 80"),
        (RemovedList(replicas=81), "replicas of its removed list must be 1 to 80"),
        (RemovedList(replicas=4, read=5), "must be 1 to 4, not 5"),
        (RemovedList(entries=0), "entries of its removed list must be 1 to 1,000"),
    ],
)
def test_a_list_that_cannot_be_kept_is_refused(wrong: RemovedList, says: str) -> None:
    with pytest.raises(DeclarationError, match=says):
        Feed("other", activity=Activity, edge=Follow, item=FeedItem, removed=wrong)
