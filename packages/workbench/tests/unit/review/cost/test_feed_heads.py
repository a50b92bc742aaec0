"""What heads cost in the model is what the engine charges for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold.maintain.feed.removed_list import SETTLED_AFTER
from keyfold_workbench.cost import EntityLoad, Workload
from keyfold_workbench.cost.feeds import page
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.workload import FeedLoad
from tests.unit.maintain.test_feed_heads import NEWEST, Activity, Follow, design, home
from tests.unit.maintain.test_feed_heads import noise as _noise
from tests.unit.review.cost.test_followed import Town

PULLED = "feeds:\n  home: {followers: 2, pushed: 0}\n"


@pytest.fixture
def town() -> Iterator[Town]:
    """Two readers pull three sources, whose heads are full."""
    clock = ManualClock()
    with Engine.open(":memory:", clock=clock) as engine:
        town = Town(design, engine, clock)
        for source in ("a", "b", "c"):
            for reader in ("r1", "r2"):
                town.db.transact(*home.following(Follow(follower_id=reader, followee_id=source)))
            for _ in range(NEWEST):
                home.post(town.db, _activity(town, source))
        town.settle()
        yield town


def _activity(town: Town, source: str) -> Any:
    text = _noise(360)
    town.clock.advance(1)
    now = town.clock.now()
    at = datetime.fromtimestamp(now, UTC)
    return Activity(actor_id=source, created_at=at, activity_id=f"{now:.0f}", text=text)


def test_a_post_writes_its_head(town: Town) -> None:
    loads = town.sizes()
    assert 1_024 < (loads["HomeHint"].bytes or 0) < 2_048
    paid = town.paid(lambda: home.post(town.db, _activity(town, "a")))
    assert paid == town.modelled("create Activity", loads, PULLED)
    assert paid[1]["headed"] == 1 + 2


def test_a_changed_post_brings_its_head_anew(town: Town) -> None:
    loads = town.sizes()
    shown = home.post(town.db, _activity(town, "a"))
    paid = town.paid(lambda: town.db.update(shown.ref(), text=_noise(360)))
    assert paid == town.modelled("update Activity (text)", loads, PULLED)


def test_a_removed_post_leaves_its_head(town: Town) -> None:
    earlier, gone = (home.post(town.db, _activity(town, "a")) for _ in range(2))
    small = EntityLoad(items=0, bytes=100)
    loads = {"FeedItem": small, "HomeSubscription": small, "HomeRemoved": small}
    loads = loads | {"HomeSettlement": small} | town.sizes()
    town.db.transact(*home.removing(earlier))
    town.settle()
    town.clock.advance(SETTLED_AFTER.total_seconds() + 1)
    _, writes = town.paid(lambda: town.db.transact(*home.removing(gone)))
    assert writes == town.modelled("delete Activity", loads, PULLED)[1]


def test_a_page_reads_heads_with_one_request(town: Town) -> None:
    small = EntityLoad(items=0, bytes=100)
    loads = {"FeedItem": small, "HomeRemoved": small} | town.sizes()
    loads["Activity"] = replace(loads["Activity"], distinct={"actor_id": 3})
    stated = Workload(loads, feeds={"home": FeedLoad(page=1, sources=3, pushed=0)})
    found = page(Figures(design.schema, stated), design.schema.feeds[0])
    assert found is not None
    reads, _ = town.paid(lambda: home.page(town.db, "r1", limit=1))
    assert reads == {"headed": found.units}
    assert found.requests == 4
