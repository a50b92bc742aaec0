"""Incidents of temporary outages."""

from __future__ import annotations

from keyfold_workbench.simulate.assumptions import Assumptions, ClientName
from keyfold_workbench.simulate.model.retries import RetryPool
from keyfold_workbench.simulate.model.shard_reader import ShardQueue, ShardWork, catch_up
from keyfold_workbench.simulate.stories.story import Claim, Story


def stopped_consumer(work: ShardWork, arriving: float = 1_000.0) -> float:
    """Minutes to catch up after an hour without a consumer."""
    queue = ShardQueue()
    queue.pass_time(3600, arriving, 0.0)
    return catch_up(queue.waiting, arriving, work) / 60


def sends_after_return(client: ClientName) -> float:
    """Sends per call in the minute after an endpoint returned, compared to normal traffic."""
    pool = RetryPool(client, clients=100)
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
            lambda a: stopped_consumer(ShardWork(1000, 0.0, polls=a.polls)),
            ("polls",),
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
            lambda _: sends_after_return("2026"),
            unit="",
        ),
        Claim(
            "endpoint back, sends a call, legacy",
            "up to 10",
            1.2,
            10,
            lambda _: sends_after_return("legacy"),
            unit="",
        ),
    ),
    "A consumer needs spare capacity, or an hour's stop is never made good. Bound its retries.",
)
