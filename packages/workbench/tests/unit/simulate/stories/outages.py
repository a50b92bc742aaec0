"""Incidents of temporary outages."""

from __future__ import annotations

from tests.unit.simulate.stories.retry_pool import RetryPool
from tests.unit.simulate.stories.story import Claim, Story

from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.model.shard_reader import ShardQueue, ShardWork


def catch_up(backlog: float, arriving: float, reader: ShardWork) -> float:
    """Seconds until a backlog is gone; infinite if more arrives than is processed."""
    spare = reader.rate - arriving
    return backlog / spare if spare > 0 else float("inf")


def stopped_consumer(work: ShardWork, arriving: float = 1_000.0) -> float:
    """Minutes to catch up after an hour without a consumer."""
    queue = ShardQueue()
    queue.pass_time(3600, arriving, 0.0)
    return catch_up(queue.waiting, arriving, work) / 60


def sends_after_return() -> float:
    """Sends per call in the minute after an endpoint returned, compared to normal traffic."""
    pool = RetryPool(clients=100)
    for second in range(600):
        pool.second(second, 100.0, 0.0)
    before, asked = pool.sent, 0.0
    for second in range(600, 660):
        pool.second(second, 100.0, 1e9)
        asked += 100.0
    return (pool.sent - before) / asked


def _poison(_: Assumptions) -> float:
    """Hours that a shard is blocked by a record that always fails, with Lambda's defaults."""
    queue = ShardQueue()
    for _minute in range(36 * 60):
        queue.pass_time(60, 10.0, 0.0)
    return queue.longest / 3600


OUTAGES = Story(
    "Away for a while",
    "AWS post-event summaries 2015 and 2025; Lambda Developer Guide",
    (
        Claim(
            "consumer stopped 1 h, all polls used: back after",
            "20 min",
            19,
            21,
            lambda _: stopped_consumer(ShardWork(1000, 0.0)),
            " min",
        ),
        Claim(
            "batches of 100 in 50 ms",
            "60 min",
            59,
            61,
            lambda _: stopped_consumer(ShardWork(100, 0.05)),
            unit=" min",
        ),
        Claim(
            "batches of 100 in 120 ms",
            "never",
            1e9,
            float("inf"),
            lambda _: stopped_consumer(ShardWork(100, 0.12)),
            unit=" min",
        ),
        Claim("a poison record holds its shard", "24 h", 23.9, 24.1, _poison, unit=" h"),
        Claim(
            "endpoint back, sends a call, 2026",
            "usually 1.1, at most 4",
            1.0,
            1.2,
            lambda _: sends_after_return(),
            unit="",
        ),
    ),
    "A consumer needs spare capacity, or an hour's stop is never made good. Bound its retries.",
)
