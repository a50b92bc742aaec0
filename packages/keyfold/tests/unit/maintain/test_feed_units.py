"""What the policy, the simulator and the guide count with is what the engine charges."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keyfold import Db, Entity, Feed
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.limits import BATCH_WRITE_ITEMS
from keyfold.maintain.feed import policy
from keyfold.maintain.feed.fan_out import fan_out
from keyfold.maintain.feed.heads import head_of, refresh
from keyfold.maintain.feed.switch import pull, push
from keyfold.runtime.budget import Usage
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Activity, home
from tests.unit.maintain.test_feed_heads import Activity as HeadedActivity
from tests.unit.maintain.test_feed_heads import design as headed
from tests.unit.maintain.test_feed_heads import home as headed_home

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = "Ten kilometres before breakfast, and the coffee after tasted of victory. " * 2
PAGES = 12
SUBSCRIBERS, LOOK = 400, 0.5
ROOT = Path(__file__).parents[5]


@pytest.fixture
def db() -> Iterator[Db]:
    clock = ManualClock(NOW.timestamp() + 1)
    with Engine.open(":memory:", clock=clock) as engine:
        yield design.open(EmbeddedClient(engine), clock=clock)


def _write(db: Db, items: list[Entity], table: str = "gg_core") -> None:
    for start in range(0, len(items), BATCH_WRITE_ITEMS):
        chunk = items[start : start + BATCH_WRITE_ITEMS]
        puts = [{"PutRequest": {"Item": one.__spec__.encode(one)}} for one in chunk]
        db.client.call("BatchWriteItem", {"RequestItems": {table: puts}})


def _activity(source: str, number: int, days: float) -> Activity:
    return Activity(
        actor_id=source,
        author_id=source,
        activity_id=f"a{number:05d}",
        verb="post",
        object_type="Post",
        object_id=f"a{number:05d}",
        preview_text=TEXT,
        created_at=NOW - timedelta(days=days, minutes=1),
    )


def test_a_copy_is_one_write_and_a_tenth_of_a_read(db: Db) -> None:
    paid = _fanned_out(db, "star", posts=1, over=25)
    assert paid.write_units / SUBSCRIBERS == pytest.approx(1.0, abs=0.05)
    assert paid.read_units / SUBSCRIBERS == pytest.approx(policy.COPY_READS, abs=0.05)


def test_copies_look_at_their_readers_only_where_that_could_end_the_copying(db: Db) -> None:
    quiet = _fanned_out(db, "quiet", posts=1, over=25)
    busy = _fanned_out(db, "busy", posts=50, over=25)
    left = Counter(one.source for one in db.scan(home.support.subscription))
    assert left["quiet"] == SUBSCRIBERS
    # None of these readers was ever seen, so that no copies go to those who are looked at.
    looked = SUBSCRIBERS / policy.FeedPolicy.looks
    assert SUBSCRIBERS - left["busy"] == pytest.approx(looked, rel=0.25)
    assert busy.read_units - quiet.read_units >= LOOK * (SUBSCRIBERS - left["busy"])


def _fanned_out(db: Db, source: str, posts: int, over: float) -> Usage:
    """The last of so many posts over some days, copied to those who were listed before."""
    listed: dict[str, Any] = {"source": source, "token": "0123456789"}
    listed |= {"at": NOW - timedelta(days=60), "counts": [0.0] * 4}
    listed |= {"reason": "9.8 pages for 0.2 posts a day"}
    one = home.support.subscription
    _write(db, [one(follower_id=f"r{number:04d}", **listed) for number in range(SUBSCRIBERS)])
    for number in range(posts):
        activity = home.post(db, _activity(source, number, over * (1 - number / posts)))
    known = db.find(home.support.hint.key(source=source))
    return _charged(db, lambda: db.run(fan_out(db.context, home, activity, known)))


def test_a_switch_costs_two_writes_and_one_pages_worth_of_copies(db: Db) -> None:
    posts: list[Entity] = [_activity("s", number, number / 10) for number in range(90)]
    _write(db, [*posts, home.source_item("r", "s", "pull")])
    up = _charged(db, lambda: db.run(push(db.context, home, "r", "s", "why", 3)))
    assert up.write_units == policy.UP_WRITES + 3
    # A decision reads the hint, the mark and the flag before.
    assert up.read_units + 0.5 + 0.5 + 1 <= policy.UP_READS + 0.5
    down = _charged(db, lambda: db.run(pull(db.context, home, "r", "s")))
    assert down.write_units == policy.DOWN_WRITES
    assert down.read_units <= policy.DOWN_READS


def test_a_switch_brings_one_page_however_much_there_is(db: Db) -> None:
    posts: list[Entity] = [_activity("s", number, number / 40) for number in range(900)]
    _write(db, [*posts, home.source_item("r", "s", "pull")])
    up = _charged(db, lambda: db.run(push(db.context, home, "r", "s", "why")))
    assert up.write_units == policy.UP_WRITES + 50
    shown = [item.activity_id for item in home.page(db, "r", limit=100)]
    assert shown == [f"a{number:05d}" for number in range(100)]


def test_pages_cost_what_the_simulator_says(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "policy", None)
    monkeypatch.syspath_prepend(str(ROOT))
    pages = [_page(db, home, _activity, seed) for seed in range(PAGES)]
    engine, modelled = (sum(way) for way in zip(*((p[0], s[0]) for p, s in pages), strict=True))
    assert engine == pytest.approx(modelled, rel=0.05)


def test_pages_with_heads_cost_what_the_simulator_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    clock = ManualClock(NOW.timestamp() + 1)
    with Engine.open(":memory:", clock=clock) as engine:
        db = headed.open(EmbeddedClient(engine), clock=clock)
        pages = [_page(db, headed_home, _headed_activity, seed) for seed in range(PAGES)]
    paid, stated = (
        [sum(way[number] for way in side) for number in (0, 1)] for side in zip(*pages, strict=True)
    )
    assert paid[0] == pytest.approx(stated[0], rel=0.05)
    # Some are asked again, which the model spreads over all that are busy.
    assert 0.9 * stated[1] <= paid[1] <= 1.05 * stated[1]


def test_a_post_with_a_head_costs_what_the_simulator_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.feed_days import LOOK_UNITS, SHORT, hint_units

    # With a policy heads are short; this text is never changed.
    monkeypatch.setattr(headed_home, "policy", policy.FeedPolicy())
    monkeypatch.setattr(headed_home, "heads", 2 * SHORT)
    text = (ROOT / "docs/adr/0005-feeds-are-pulled-unless-copies-are-certain.md").read_text("utf-8")
    clock = ManualClock(NOW.timestamp() + 1)
    with Engine.open(":memory:", clock=clock) as engine:
        db = headed.open(EmbeddedClient(engine), clock=clock)
        for number in range(20):
            said = text[146 * number : 146 * (number + 1)]
            made = _headed_activity("s", number, 1 - number / 50).model_copy(update={"text": said})
            paid = _charged(db, lambda made=made: headed_home.post(db, made))
        known = db.find(headed_home.support.hint.key(source="s"))
    head = head_of(headed_home, known)
    assert head is not None
    assert abs(len(head.entries) - SHORT) <= 1
    assert paid.write_units == 1 + hint_units(np.array(SHORT))
    assert paid.read_units == LOOK_UNITS


@pytest.mark.long
@pytest.mark.parametrize("name", ["trial", "trial, popular post most"])
def test_sixty_days_of_two_hundred_users_are_within_five_percent_of_the_best_fixed_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.cases.feed import SEED, TRIAL_PEOPLE
    from bench.feed_days import Deciding, compare
    from bench.networks import make

    compared = compare(make(name, SEED, TRIAL_PEOPLE), Deciding())
    assert compared.over_fixed <= 1.05
    asked = compared.headed["heads as asked"]
    assert asked.percentile(0.95) <= 2 * compared.push.percentile(0.95)


def _headed_activity(source: str, number: int, days: float) -> HeadedActivity:
    at = NOW - timedelta(days=days, minutes=1)
    return HeadedActivity(
        actor_id=source, activity_id=f"a{number:05d}", created_at=at, text=TEXT + "x" * 40
    )


def _page(
    db: Db, home: Feed[Any], make: Callable[[str, int, float], Any], seed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """One random page: units and requests, by the engine and by the model; both show the same."""
    from bench.feed_days import PRICES, HeadLengths, page_costs
    from bench.networks import DAYS, HISTORY, TOTAL, Network

    dice, reader = random.Random(seed), f"r{seed}"
    follows = dice.choice((10, 20, 40))
    rates = [min(20.0, dice.lognormvariate(-1.5, 1.3)) for _ in range(follows)]
    order = sorted(range(follows), key=lambda source: -rates[source])
    pulled = set(order[: dice.choice((0, 2, 5, follows // 2, follows))])
    names = [f"{seed}s{source}" for source in range(follows)]
    posts, made = np.zeros((follows + 1, TOTAL), np.float32), list[Any]()
    for source, rate in enumerate(rates):
        for day in range(30):
            count = np.random.default_rng([seed, source, day]).poisson(rate)
            posts[source, HISTORY - 1 - day] = count
            for _ in range(count):
                made.append(make(names[source], len(made), day + dice.random() * 0.99))
    items: list[Entity] = [home.source_item(reader, names[source], "pull") for source in pulled]
    hidden = {names[source] for source in pulled}
    items += [*made, *(home.copy(one, reader) for one in made if one.actor_id not in hidden)]
    made.sort(key=lambda one: one.created_at)
    last = {one.actor_id: home.position(one) for one in made}
    items += [home.support.hint(source=source, last=place) for source, place in last.items()]
    if home.heads:
        items.append(_known(home, reader, made, hidden))
    _write(db, items, home.design.name)
    for name in hidden if home.heads else ():
        db.run(refresh(db.context, home, name))
    with db.work("page") as work:
        page = home.page(db, reader, limit=50)
    newest = [one.activity_id for one in reversed(made)][:50]
    assert [item.activity_id for item in page] == newest
    edges = np.arange(follows)
    always = np.full(follows, -HISTORY), np.full(follows, DAYS)
    pages = np.ones((follows + 1, DAYS), np.float32)
    network = Network("one", follows + 1, edges, np.full(follows, follows), *always, posts, pages)
    network.prepare(50, PRICES.days)
    lengths = HeadLengths(follows + 1, home.heads, home.heads)
    costs = page_costs(network, 0, np.isin(edges, list(pulled)), lengths)
    paid = work.total.read_units, float(work.total.requests)
    return paid, (float(costs.units[follows]), float(costs.requests[follows]))


def _known(home: Feed[Any], reader: str, made: list[Any], pulled: set[str]) -> Entity:
    """A reader of whom an earlier page was sampled: it says which sources are busy."""
    shown = Counter(one.actor_id for one in made[-50:] if one.actor_id in pulled)
    known: Entity = home.support.reader(
        follower_id=reader,
        at=NOW,
        seen=1.0,
        days=1.0,
        noise=0.0,
        total=1.0,
        busy={source: count for source, count in shown.items() if count > home.heads},
    )
    return known


def _charged(db: Db, work: object) -> Usage:
    with db.work("charged") as charged:
        work()  # type: ignore[operator]
    return charged.total
