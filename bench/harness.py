"""Cases: the same work done by several sides, in turns.

The figure is processor time, so that a busy machine gives the same ratios as a quiet one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[], object]
"""Does the work of one round and is measured."""


@dataclass
class Side:
    """One contestant in a case."""

    name: str
    work: Work
    operations: int = 1
    """How many operations one call of `work` does."""
    prepare: Callable[[int], object] | None = None
    """Makes the requests for this many calls of `work`, before they are measured."""
    elsewhere: Callable[[int], float] | None = None
    """Does the work a number of times in other processes; gives the seconds they spent on it."""


@dataclass
class Row:
    """What one side achieved: microseconds per operation."""

    side: str
    median: float
    spread: float
    """The width of the middle half of all rounds, as a share of the median."""
    ratio: float = 1.0
    """This side's time over the reference's."""


@dataclass
class Outcome:
    """A case's rows, or why it could not run."""

    case: str
    title: str
    reference: str
    rows: list[Row] = field(default_factory=list)
    goal: str = ""
    met: bool | None = None
    missing: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    """Numbers that are no times: requests, units, bytes."""
    in_readme: bool = False
    """Whether the README's short table shows it."""

    def time(self, side: str) -> float:
        return next(row.median for row in self.rows if row.side == side)

    @property
    def ours(self) -> Row | None:
        return next((row for row in self.rows if row.side.startswith("keyfold")), None)

    @property
    def best_other(self) -> Row | None:
        others = [row for row in self.rows if not row.side.startswith("keyfold")]
        return min(others, key=lambda row: row.median, default=None)

    def take_goal(self, factor: float) -> None:
        """Ask that ours needs at most the best other's time divided by this."""
        if factor >= 1:
            self.goal = f"at least {factor:g}x the best other"
        else:
            self.goal = f"at most {1 / factor:g}x the best other"
        if self.ours is not None and self.best_other is not None:
            self.met = self.best_other.median >= factor * self.ours.median


@dataclass(frozen=True)
class Case:
    """A named measurement; `run` builds its sides inside a stack that closes them."""

    name: str
    title: str
    run: Callable[[ExitStack, Budget], Iterator[Outcome]]


@dataclass(frozen=True)
class Budget:
    """How long to measure."""

    rounds: int = 7
    seconds: float = 0.15
    """The least time of one side's turn."""
    items: int = 100_000
    """How many items a table has."""
    full: bool = False
    servers: Mapping[str, str] = field(default_factory=dict)
    """Servers that run already: what to call them, and their host and port."""


def compare(
    case: str,
    title: str,
    sides: list[Side],
    budget: Budget,
    *,
    reference: str,
    factor: float | None = None,
    missing: list[str] | None = None,
) -> Outcome:
    """Measure the sides in turns; every round visits each of them once.

    `factor` is the goal: how often ours must go into the time of the best other.
    """
    repeats = {side.name: _calibrate(side, budget) for side in sides}
    times: dict[str, list[float]] = {side.name: [] for side in sides}
    for number in range(budget.rounds):
        order = sides if number % 2 == 0 else sides[::-1]
        for side in order:
            times[side.name].append(_turn(side, repeats[side.name]))
    outcome = summed_up(case, title, times, reference)
    outcome.missing = missing or []
    if factor is not None:
        outcome.take_goal(factor)
    return outcome


def summed_up(
    case: str, title: str, times: Mapping[str, Sequence[float]], reference: str
) -> Outcome:
    """The middle and the spread of each side's rounds, in microseconds, and its ratio."""
    outcome = Outcome(case, title, reference)
    base = statistics.median(times[reference]) if reference in times else 0.0
    for side, rounds in times.items():
        found = sorted(rounds)
        median = statistics.median(found)
        quarter = len(found) // 4
        spread = (found[-1 - quarter] - found[quarter]) / median
        outcome.rows.append(Row(side, median, spread, median / base if base else 1.0))
    return outcome


def _calibrate(side: Side, budget: Budget) -> int:
    if side.prepare is not None:
        side.prepare(2)
    side.work()
    started = time.perf_counter()
    side.work()
    once = max(time.perf_counter() - started, 1e-6)
    return max(1, round(budget.seconds / once))


def _turn(side: Side, repeats: int) -> float:
    if side.prepare is not None:
        side.prepare(repeats)
    if side.elsewhere is not None:
        return side.elsewhere(repeats) / repeats / side.operations * 1e6
    work = side.work
    started = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - started) / repeats / side.operations * 1e6
