"""Every fault against a feed: readers end with exactly what those they follow have posted."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fault.troubles import PASSING, Trouble, in_every_trouble, insistently
from tests.property.test_feed import Activity, Follow, Promotion, design, feed

from keyfold import Db
from keyfold.errors import AlreadyExists, NotFound, StreamError
from keyfold.maintain import verify
from keyfold.streams import Consumer, ConsumerOptions, Policy
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

HISTORIES = int(os.environ.get("FAULT_HISTORIES", "1"))
STEPS = 40
PEOPLE = ["ann", "ben", "cat", "dan"]
OPTIONS = ConsumerOptions(
    batch=9, lease_seconds=0.1, poll_seconds=0.005, policy=Policy(patience=8, backoff=0.0005)
)


class Network:
    """The feed beside a model of who follows whom and what was posted."""

    def __init__(self, db: Db, chance: random.Random) -> None:
        self.db, self.chance = db, chance
        self.follows: set[tuple[str, str]] = set()
        self.posted: list[Activity] = []
        self.now = datetime.now(UTC)

    def act(self) -> None:
        self.now += timedelta(milliseconds=10)
        one, other = self.chance.sample(PEOPLE, 2)
        verb = self.chance.choice(["follow"] * 3 + ["post"] * 4 + ["unfollow", "promote", "drain"])
        edge = Follow(follower_id=one, followee_id=other)
        if verb == "follow" and (one, other) not in self.follows:
            self._once(lambda: self.db.create(edge))
            self.follows.add((one, other))
        elif verb == "unfollow" and (one, other) in self.follows:
            self._once(lambda: self.db.delete(edge, must_exist=True))
            self.follows.discard((one, other))
        elif verb == "post":
            name = f"a{len(self.posted):03d}"
            activity = Activity(actor_id=one, created_at=self.now, activity_id=name)
            self._once(lambda: self.db.create(activity))
            self.posted.append(activity)
        elif verb == "promote":
            promotion = Promotion(user_id=one, fanout_enabled=self.chance.random() < 0.7)
            insistently(lambda: self.db.put(promotion))
        elif verb == "drain":
            insistently(Consumer(self.db, options=OPTIONS).drain, (*PASSING, StreamError))

    def _once(self, work: Callable[[], object]) -> None:
        try:
            insistently(work)
        except (AlreadyExists, NotFound):
            # An attempt whose answer was lost had done it.
            return

    def expected(self, reader: str) -> list[str]:
        followed = {source for one, source in self.follows if one == reader}
        return [one.activity_id for one in reversed(self.posted) if one.actor_id in followed]


@in_every_trouble
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_feed_under_faults_ends_right(trouble: Trouble, seed: int, tmp_path: Path) -> None:
    path, chance = tmp_path / "feed.db", random.Random(seed)
    with Engine.open(path, durability="memory") as engine:
        design.open(EmbeddedClient(engine))
    with trouble.client(path, seed) as client:
        network = Network(design.open(client, create_tables=False), chance)
        for _ in range(STEPS):
            network.act()
    with Engine.open(path, durability="memory") as engine:
        db = design.open(EmbeddedClient(engine))
        Consumer(db, options=OPTIONS).drain()
        for reader in PEOPLE:
            shown = [item.activity_id for item in feed.page(db, reader, limit=60)]
            assert shown == network.expected(reader)
        assert verify(db, only=["feed home Activity"]).clean
