"""What the policy, the simulator and the guide count with is what the engine charges."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from keyfold import Db, Entity
from keyfold.clients.embedded import EmbeddedClient
from keyfold.clock import ManualClock
from keyfold.engine import Engine
from keyfold.limits import BATCH_WRITE_ITEMS
from keyfold.maintain.feed import policy
from keyfold.maintain.feed.fan_out import fan_out
from keyfold.maintain.feed.switch import pull, push
from keyfold.runtime.budget import Usage
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Activity, home

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = "Ten kilometres before breakfast, and the coffee after tasted of victory. " * 2
PAGES = 12
ROOT = Path(__file__).parents[3]


@pytest.fixture
def db() -> Iterator[Db]:
    clock = ManualClock(NOW.timestamp() + 1)
    with Engine.open(":memory:", clock=clock) as engine:
        yield design.open(EmbeddedClient(engine), clock=clock)


def _write(db: Db, items: list[Entity]) -> None:
    for start in range(0, len(items), BATCH_WRITE_ITEMS):
        chunk = items[start : start + BATCH_WRITE_ITEMS]
        puts = [{"PutRequest": {"Item": one.__spec__.encode(one)}} for one in chunk]
        db.client.call("BatchWriteItem", {"RequestItems": {"gg_core": puts}})


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
    listed = {"source": "star", "token": "0123456789", "reason": "9.8 pages for 0.2 posts a day"}
    one = home.support.subscription
    _write(db, [one(follower_id=f"r{number:04d}", **listed) for number in range(400)])
    activity = home.post(db, _activity("star", 1, 0.5))
    known = db.find(home.support.hint.key(source="star"))
    paid = _charged(db, lambda: db.run(fan_out(db.context, home, activity, known)))
    looks = 0.5 * 400 / policy.FeedPolicy.looks
    assert paid.write_units / 400 == pytest.approx(1.0, abs=0.05)
    assert (paid.read_units - looks) / 400 == pytest.approx(policy.COPY_READS, abs=0.08)


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
    engine = modelled = 0.0
    for seed in range(PAGES):
        paid, stated = _page(db, seed)
        engine, modelled = engine + paid, modelled + stated
    assert engine == pytest.approx(modelled, rel=0.05)


def _page(db: Db, seed: int) -> tuple[float, float]:
    """One random page: what the engine charges, what the model says; both show the same."""
    from bench.feed_days import PRICES, page_costs
    from bench.networks import DAYS, HISTORY, TOTAL, Network

    dice, reader = random.Random(seed), f"r{seed}"
    follows = dice.choice((10, 20, 40))
    rates = [min(20.0, dice.lognormvariate(-1.5, 1.3)) for _ in range(follows)]
    order = sorted(range(follows), key=lambda source: -rates[source])
    pulled = set(order[: dice.choice((0, 2, 5, follows // 2, follows))])
    names = [f"{seed}s{source}" for source in range(follows)]
    posts, made = np.zeros((follows + 1, TOTAL), np.float32), list[Activity]()
    for source, rate in enumerate(rates):
        for day in range(30):
            count = np.random.default_rng([seed, source, day]).poisson(rate)
            posts[source, HISTORY - 1 - day] = count
            for _ in range(count):
                made.append(_activity(names[source], len(made), day + dice.random() * 0.99))
    items: list[Entity] = [home.source_item(reader, names[source], "pull") for source in pulled]
    hidden = {names[source] for source in pulled}
    items += [*made, *(home.copy(one, reader) for one in made if one.actor_id not in hidden)]
    made.sort(key=lambda one: one.created_at)
    last = {one.actor_id: home.position(one) for one in made}
    items += [home.support.hint(source=source, last=place) for source, place in last.items()]
    _write(db, items)
    with db.work("page") as work:
        page = home.page(db, reader, limit=50)
    newest = [one.activity_id for one in reversed(made)][:50]
    assert [item.activity_id for item in page] == newest
    edges = np.arange(follows)
    always = np.full(follows, -HISTORY), np.full(follows, DAYS)
    pages = np.ones((follows + 1, DAYS), np.float32)
    network = Network("one", follows + 1, edges, np.full(follows, follows), *always, posts, pages)
    network.prepare(50, PRICES.days)
    units, _ = page_costs(network, 0, np.isin(edges, list(pulled)))
    return work.total.read_units, float(units[follows])


def _charged(db: Db, work: object) -> Usage:
    with db.work("charged") as charged:
        work()  # type: ignore[operator]
    return charged.total
