"""Incidents of indexes that throttle their tables."""

from __future__ import annotations

from tests.unit.simulate.stories.story import Claim, Story

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.load.schedule import Schedule
from keyfold_workbench.simulate.outcome import RunOutcome
from keyfold_workbench.simulate.run import run
from keyfold_workbench.simulate.traffic import (
    KeySpace,
    Mode,
    OnDemand,
    Provisioned,
    ScaleModel,
    StoreSpec,
    TrafficLine,
)

TABLE, INDEX = Store("logfile"), Store("logfile", "by_host")


def run_with_index(
    rate: float,
    *,
    table: Mode | None = None,
    index: Mode | None = None,
    shares: tuple[float, ...] = (),
    keys: float = 1e4,
    divisible: bool = False,
    beside: float = 0.0,
    seconds: float = 600.0,
    assumptions: Assumptions | None = None,
) -> RunOutcome:
    """A table with one index that all writes update; `beside` has no entry in the index."""
    stores = (
        StoreSpec(TABLE, table or OnDemand(), (KeySpace("request", (), 1e9),)),
        StoreSpec(INDEX, index or OnDemand(), (KeySpace("host", shares, keys, divisible),)),
    )
    lines = [
        TrafficLine("log", TABLE, "write", 1.0, rate, "request"),
        TrafficLine("log", INDEX, "write", 1.0, rate, "host"),
    ]
    if beside:
        lines.append(TrafficLine("without host", TABLE, "write", 1.0, beside, "request"))
    model = ScaleModel("story", stores, tuple(lines))
    return run(model, Schedule(), seconds, assumptions, step=5.0)


def _run_workshop(assumptions: Assumptions, index: float = 1.0) -> RunOutcome:
    return run_with_index(
        325,
        table=Provisioned(1000, 1000),
        index=Provisioned(1, index),
        beside=10,
        seconds=300,
        assumptions=assumptions,
    )


def _minute(assumptions: Assumptions) -> float:
    first = _run_workshop(assumptions).first
    return first.at if first else 300.0


def _culprit(assumptions: Assumptions) -> float:
    first = _run_workshop(assumptions).first
    return float(first is not None and first.place == INDEX and first.store == TABLE)


def _refused_without_entry(assumptions: Assumptions) -> float:
    return 100 * _run_workshop(assumptions).calls["without host"].lost_share


def _lost_percent_after_cure(assumptions: Assumptions) -> float:
    return 100 * _run_workshop(assumptions, 1000.0).lost_share


def _counter_check(assumptions: Assumptions) -> float:
    """Step 6: 2,000 rows in 17 seconds through an index of 5 WCU."""
    seen = run_with_index(
        117,
        table=Provisioned(100, 100),
        index=Provisioned(5, 5),
        seconds=17,
        assumptions=assumptions,
    )
    return 100 * seen.lost_share


def _active(assumptions: Assumptions) -> float:
    """80 % of all entries are ACTIVE, at 2,000 writes per second: what remains in the last hour."""
    one = run_with_index(2000, shares=(0.8,), keys=5, seconds=3600, assumptions=assumptions)
    two = run_with_index(2000, shares=(0.8,), keys=5, seconds=7200, assumptions=assumptions)
    return (two.stores[TABLE].write_units - one.stores[TABLE].write_units) / 3600


BACK_PRESSURE = Story(
    "An index that holds its table back",
    "AWS workshop 2026; Developer Guide",
    (
        Claim(
            "index of 1 WCU: first refusal after",
            "about a minute",
            30,
            120,
            _minute,
            " s",
        ),
        Claim("the index is named, not the table", "yes", 1, 1, _culprit, unit=""),
        Claim(
            "writes without an entry, refused too", "yes", 1, 100, _refused_without_entry, unit="%"
        ),
        Claim("index of 1,000 WCU, lost", "none", 0, 0, _lost_percent_after_cure, unit="%"),
        Claim("2,000 rows through 5 WCU, lost", "none", 0, 0, _counter_check, "%"),
        Claim(
            "80 % ACTIVE at 2,000/s: the table falls to",
            "1,250/s",
            1230,
            1270,
            _active,
        ),
    ),
    "Give an index at least its table's write capacity, and no key of few values.",
)


def _outbox(shards: int, assumptions: Assumptions) -> float:
    shares = tuple(1 / shards for _ in range(shards))
    one = run_with_index(1500, shares=shares, keys=shards, seconds=3600, assumptions=assumptions)
    two = run_with_index(1500, shares=shares, keys=shards, seconds=7200, assumptions=assumptions)
    return (two.stores[TABLE].write_units - one.stores[TABLE].write_units) / 3600


def _sweeper(_: Assumptions) -> float:
    """2,000 messages per minute, kept an hour, all read every five seconds: read units per
    second.
    """
    messages, bytes_each = 2_000 * 60, 1_024
    return messages * bytes_each / 4_096 / 2 / 5


OUTBOX = Story(
    "An outbox with an index by topic and time",
    "BrighterCommand/Brighter #2810, #2813, #3293",
    (
        Claim(
            "one topic at 1,500/s: the table ends at",
            "1,000/s for ever",
            990,
            1010,
            lambda a: _outbox(1, a),
        ),
        Claim("two shards", "enough", 1490, 1510, lambda a: _outbox(2, a)),
        Claim("three shards, their cure", "enough", 1490, 1510, lambda a: _outbox(3, a)),
        Claim("the sweeper reads", "at the index's limit", 2900, 3100, _sweeper),
    ),
    "One hash key with a rising sort key is never split. Shards cure it; the order across them is "
    "gone, and a reader asks each.",
)
