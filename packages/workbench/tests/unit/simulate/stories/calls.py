"""Incidents caused by callers: polls, counters and transactions."""

from __future__ import annotations

from tests.unit.simulate.stories.retry_pool import RetryPool
from tests.unit.simulate.stories.story import Claim, Story

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.load.schedule import Burst, Schedule
from keyfold_workbench.simulate.model import conflicts
from keyfold_workbench.simulate.model.retries import steady
from keyfold_workbench.simulate.run import run
from keyfold_workbench.simulate.traffic import (
    KeySpace,
    OnDemand,
    ScaleModel,
    StoreSpec,
    TrafficLine,
)

TABLE = Store("jobs")


def _polls(assumptions: Assumptions) -> float:
    """40 viewers with two polls per second of 15 units each, three times as many for a minute
    per hour.
    """
    line = TrafficLine("poll", TABLE, "read", 15.0, 80.0, "EXEC#{id}")
    more = TrafficLine("poll", TABLE, "read", 15.0, 80.0, "EXEC#{id}", "burst")
    space = KeySpace("EXEC#{id}", (1.0,), 1.0, divisible=False)
    model = ScaleModel("polls", (StoreSpec(TABLE, OnDemand(), (space,)),), (line, more))
    bursts = tuple(Burst("burst", 600 + 3600 * hour, 60, 2.0) for hour in range(2))
    seen = run(model, Schedule(bursts=bursts), 7200, assumptions)
    return (
        1000
        * seen.stores[TABLE].refused_read
        / (seen.stores[TABLE].refused_read + seen.stores[TABLE].read_units)
    )


POLLING = Story(
    "Everybody polls one item collection",
    "aws-samples/sample-collaborative-ai-dlc #443, 2026 (rates assumed)",
    (Claim("refused", "few per mille", 0.5, 9, _polls, " ‰"),),
    "The mean fits, the bursts do not: read less, or once for all. A higher limit of the table "
    "changes nothing.",
)


def scans(*, seconds: int = 300, rate: float = 1_050.0) -> RetryPool:
    """A scan of some minutes that counts on one item, and the traffic after it."""
    pool = RetryPool(clients=20)
    for second in range(seconds + 60):
        pool.second(second, rate if second < seconds else 0.0, 1_000.0)
    return pool


def _lost_of_scan() -> float:
    pool = scans()
    return 100 * pool.lost / (1_050 * 300)


STATISTICS = Story(
    "Statistics under one key",
    "praetorian-inc/chariot #684, 2024 (rates assumed)",
    (
        Claim(
            "lost, SDK defaults of 2026",
            "more than before",
            0.5,
            4.9,
            lambda _: _lost_of_scan(),
            unit="%",
        ),
        Claim(
            "added up for a second first, lost",
            "none",
            0,
            0,
            lambda _: scans(rate=20.0).lost,
            unit="",
        ),
    ),
    "Add up in the client, or spread the counter. Retries move the loss, they do not take it away.",
)


def _lost_at(refused: float) -> float:
    return 100 * steady(refused).lost


DEFAULTS = Story(
    "New retry defaults of the SDKs, November 2026",
    "AWS Developer Tools Blog 2026; botocore 1.44",
    (
        Claim("half refused, now: lost", "40 %", 38, 42, lambda _: _lost_at(0.5), unit="%"),
        Claim(
            "half refused, now: sends a call",
            "1.2",
            1.15,
            1.25,
            lambda _: steady(0.5).sends,
            unit="",
        ),
    ),
    "The client protects the partition and shows the error.",
)


def _cancelled_percent(rate: float, assumptions: Assumptions) -> float:
    return 100 * conflicts.cancelled_share(rate, assumptions.hold_seconds)


def _commits(workers: int, assumptions: Assumptions) -> float:
    """Commits per second of workers that retry at once: each holds the item or is refused."""
    return _committed(workers / assumptions.hold_seconds / 2, assumptions)


def _committed(rate: float, assumptions: Assumptions) -> float:
    return rate * (1 - conflicts.cancelled_share(rate, assumptions.hold_seconds))


def _lost_events(assumptions: Assumptions) -> float:
    _, lost = conflicts.attempt_rate(100.0, assumptions.hold_seconds, 5)
    return 100 * lost


COUNTER = Story(
    "A counter inside a transaction",
    "antiwork/gumroad #7452, #7454, August 2026",
    (
        Claim(
            "50 opens a second: cancelled",
            "33 %",
            32,
            34,
            lambda a: _cancelled_percent(50, a),
            "%",
        ),
        Claim(
            "100 opens a second: cancelled",
            "50 %",
            49,
            51,
            lambda a: _cancelled_percent(100, a),
            "%",
        ),
        Claim(
            "most commits of one item",
            "100/s",
            99,
            101,
            lambda a: _committed(1e6, a),
        ),
        Claim(
            "ten times the workers, commits",
            "hardly more",
            1.0,
            1.3,
            lambda a: _commits(100, a) / _commits(10, a),
            " times",
        ),
        Claim(
            "100 opens a second, five tries: lost",
            "events lost",
            1,
            60,
            _lost_events,
            "%",
        ),
    ),
    "Count by the stream: no conflict, and ten times the rate. Shards are second best.",
)
