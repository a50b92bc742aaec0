"""Incidents of one hot key, of growth and of burst capacity."""

from __future__ import annotations

import random

from tests.unit.simulate.stories.ordered_writer import OrderedWriter
from tests.unit.simulate.stories.story import Claim, Story

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.load.schedule import Burst, Schedule
from keyfold_workbench.simulate.model.bucket import Bucket
from keyfold_workbench.simulate.outcome import RunOutcome
from keyfold_workbench.simulate.run import run
from keyfold_workbench.simulate.traffic import (
    KeySpace,
    Kind,
    Mode,
    OnDemand,
    ScaleModel,
    StoreSpec,
    TrafficLine,
)

TABLE = Store("Table")
MINUTE = 60.0
RAMP_STEP = 20.0


def one_table(
    rate: float,
    *,
    shares: tuple[float, ...] = (),
    keys: float = 1e6,
    divisible: bool = True,
    mode: Mode | None = None,
    kind: Kind = "write",
    schedule: Schedule | None = None,
    profile: str = "always",
    seconds: float = 600.0,
    assumptions: Assumptions | None = None,
    partitions: int | None = None,
    step: float = 10.0,
) -> RunOutcome:
    """A table with one kind of call."""
    space = KeySpace("key", shares, keys, divisible)
    spec = StoreSpec(TABLE, mode or OnDemand(), (space,), partitions=partitions)
    line = TrafficLine("call", TABLE, kind, 1.0, rate, "key", profile)
    model = ScaleModel("story", (spec,), (line,))
    return run(model, schedule or Schedule(), seconds, assumptions, step=step)


def _one_key(assumptions: Assumptions) -> float:
    seen = one_table(12_000, shares=(1.0,), keys=1, divisible=False, assumptions=assumptions)
    return seen.stores[TABLE].write_units / seen.seconds


def _one_key_warm(assumptions: Assumptions) -> float:
    mode = OnDemand(40_000, 40_000)
    seen = one_table(
        12_000, shares=(1.0,), keys=1, divisible=False, mode=mode, assumptions=assumptions
    )
    return seen.stores[TABLE].write_units / seen.seconds


def _rows(partitions: int, *, shuffled: bool, seed: int = 4) -> list[int]:
    """The rows of about 200 first octets, in uneven numbers."""
    rng = random.Random(seed)
    homes = [rng.randrange(partitions) for _ in range(200)]
    rows = [homes[key] for key in range(200) for _ in range(rng.randint(300, 1500))]
    if shuffled:
        rng.shuffle(rows)
    return rows


def _sorted_rows(_: Assumptions) -> float:
    return OrderedWriter(_rows(4, shuffled=False), 150).rate(1000)


def _shuffled_rows(_: Assumptions) -> float:
    return OrderedWriter(_rows(4, shuffled=True)).rate(1000)


def _shuffled_provisioned(_: Assumptions) -> float:
    return OrderedWriter(_rows(10, shuffled=True)).rate(1000)


def _hot_reads(assumptions: Assumptions) -> float:
    """The first ten minutes, before any split."""
    seen = one_table(
        20_000, shares=(1.0,), keys=1, kind="read", seconds=600, assumptions=assumptions
    )
    return seen.stores[TABLE].read_units / seen.seconds


ONE_KEY = Story(
    "One partition key: 1,000 writes a second, and nothing helps",
    "AWS Database Blog 2023, parts 1 and 2",
    (
        Claim("one key, sorted rows", "1,000/s", 950, 1050, _one_key),
        Claim("the same with warm throughput", "no help", 950, 1050, _one_key_warm),
        Claim("200 keys, sorted rows", "about 1,250/s", 1000, 1500, _sorted_rows),
        Claim("200 keys, shuffled", "about 3,600/s", 3400, 4000, _shuffled_rows),
        Claim("200 keys, shuffled, 10,000 WCU", "6,000/s", 6000, 10000, _shuffled_provisioned),
        Claim(
            "one key, eventual reads",
            "4,500/s",
            3000,
            4500,
            _hot_reads,
        ),
    ),
    "A key takes what one partition gives. Shuffle the input and spread the key; warm throughput "
    "does not help.",
)


def _ramp(minutes: float, top: float, assumptions: Assumptions) -> float:
    steps = int(minutes * MINUTE / RAMP_STEP)
    rise = (Burst("ramp", at * RAMP_STEP, RAMP_STEP, top * (at + 1) / steps) for at in range(steps))
    after = Burst("ramp", minutes * MINUTE, 10 * MINUTE, top)
    schedule = Schedule(bursts=(*rise, after))
    seen = one_table(
        1.0,
        schedule=schedule,
        profile="ramp",
        seconds=(minutes + 10) * MINUTE,
        assumptions=assumptions,
        step=5.0,
    )
    return 100 * seen.lost_share


def _provisioned_first(assumptions: Assumptions) -> float:
    seen = one_table(40_000, mode=OnDemand(40_000, 40_000), assumptions=assumptions)
    return 100 * seen.lost_share


def _within_first(assumptions: Assumptions) -> float:
    return _ramp(1, 3_000, assumptions)


def _above_first(assumptions: Assumptions) -> float:
    seen = one_table(9_000, seconds=300, assumptions=assumptions)
    return seen.stores[TABLE].write_units / seen.seconds


def _sessions(assumptions: Assumptions) -> float:
    """60,000 agents on an unused table: minutes until nothing is refused."""
    seen = one_table(
        1_300 * 4.5,
        seconds=40 * MINUTE,
        assumptions=assumptions,
        schedule=Schedule(bursts=(Burst("burst", 0, 40 * MINUTE, 1.0),)),
        profile="burst",
    )
    return seen.calls["call"].throttled_seconds / MINUTE


GROWTH = Story(
    "A cold on-demand table",
    "Y. Cui 2019; A. Stone 2020; Teleport 2024",
    (
        Claim("step to 3,000/s", "no throttle", 0, 0.1, _within_first, unit="%"),
        Claim("step to 9,000/s", "never above 4,000/s", 3900, 4100, _above_first),
        Claim(
            "ramp to 40,000/s in 60 min, lost",
            "much",
            5,
            80,
            lambda a: _ramp(60, 40_000, a),
            "%",
        ),
        Claim(
            "ramp to 40,000/s in 90 min, lost",
            "less, still much",
            1,
            65,
            lambda a: _ramp(90, 40_000, a),
            "%",
        ),
        Claim(
            "made with 40,000 WCU, switched",
            "40,000/s at once",
            0,
            0.1,
            _provisioned_first,
            unit="%",
        ),
        Claim(
            "unused table (units assumed), throttled for",
            "5 to 10 min",
            5,
            16,
            _sessions,
            " min",
        ),
    ),
    "AWS promises no more than twice the peak of 30 minutes ago. Buy warm throughput before a "
    "launch, or spread it over hours.",
)


def _rows_written(stored: float) -> float:
    return _seconds_for(2_000, Bucket(5.0, 330.0, stored))


def _full(assumptions: Assumptions) -> float:
    return _seconds_for(2_000, Bucket.full(5.0, assumptions.burst_seconds))


def _seconds_for(units: float, bucket: Bucket) -> float:
    """How long these units take, asked for as fast as they are granted."""
    seconds = 0.0
    while units > 1e-9:
        units -= bucket.take(units, 1.0)
        seconds += 1.0
    return seconds


def _support_article(assumptions: Assumptions) -> float:
    """Minutes for which 150 read units sustain 200 after being idle."""
    bucket = Bucket.full(150.0, assumptions.burst_seconds)
    seconds = 0
    while bucket.take(200.0, 1.0) >= 200.0 - 1e-9:
        seconds += 1
    return seconds / MINUTE


BURST = Story(
    "Burst runs dry",
    "AWS workshop 2026, steps 1 to 6; AWS knowledge centre",
    (
        Claim(
            "2,000 rows at 5 WCU, full bucket",
            "75 to 134 s",
            75,
            134,
            _full,
            " s",
        ),
        Claim(
            "the same, started early", "134 s", 130, 138, lambda _: _rows_written(1_331), unit=" s"
        ),
        Claim(
            "150 RCU rested: 200 for",
            "15 min",
            14.5,
            15.5,
            _support_article,
            " min",
        ),
    ),
    "Burst is five minutes of what was not used, and best effort: a test that passes on it says "
    "nothing about the next one.",
)
