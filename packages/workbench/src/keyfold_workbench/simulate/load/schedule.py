"""When calls come: the day, its busiest minutes, and bursts.

No hourly distribution of requests is published. Internet traffic peaks between 19:00 and 23:00, and
a trough of a third of the peak is usual. Several time zones would flatten the day: one is the
worst case.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from keyfold_workbench.simulate.traffic import ALWAYS

DAY = 86_400.0
STEP = 60.0


@dataclass(frozen=True)
class Day:
    """The curve of a day, with a mean of 1."""

    peak_hour: float = 20.0
    trough: float = 1 / 3
    """The quietest hour as a share of the peak."""

    def factor(self, seconds: float) -> float:
        swing = (1 - self.trough) / (1 + self.trough)
        return 1 + swing * math.cos((seconds / 3600 - self.peak_hour) * math.pi / 12)


@dataclass(frozen=True)
class Burst:
    """A temporary factor on a profile."""

    profile: str
    at: float
    """Seconds after the first midnight."""
    seconds: float
    factor: float


@dataclass(frozen=True)
class Schedule:
    """Factors by profile at each time."""

    day: Day | None = None
    """None is a flat day."""
    peaks: dict[str, float] = field(default_factory=dict)
    """Profiles with this factor in the busiest minutes of each day."""
    busy_seconds: float = 600.0
    bursts: tuple[Burst, ...] = ()

    def factors(self, now: float) -> dict[str, float]:
        usual = self.day.factor(now % DAY) if self.day else 1.0
        busy = self._is_busy(now)
        found = {ALWAYS: usual}
        for profile, peak in self.peaks.items():
            found[profile] = max(usual, peak) if busy else usual
        for burst in self.bursts:
            within = burst.at <= now < burst.at + burst.seconds
            found[burst.profile] = found.get(burst.profile, 0.0) + within * burst.factor
        return found

    def _is_busy(self, now: float) -> bool:
        hour = self.day.peak_hour if self.day else 20.0
        return 0 <= now % DAY - hour * 3600 < self.busy_seconds

    def highest(self) -> dict[str, float]:
        """The highest daily factor of each profile, without bursts."""
        usual = self.day.factor(self.day.peak_hour * 3600) if self.day else 1.0
        found = {ALWAYS: usual, **{p: max(usual, peak) for p, peak in self.peaks.items()}}
        return found | {burst.profile: 0.0 for burst in self.bursts}

    def step(self, now: float, seconds: float, longest: float = STEP) -> float:
        """How long the load stays constant from now on: a step ends where something starts or
        ends.
        """
        edge = self._edges(seconds)
        following = edge[bisect_right(edge, now + 1e-9)]
        return min(longest - now % longest, following - now)

    @cached_property
    def _edges_of(self) -> dict[float, list[float]]:
        return {}

    def _edges(self, seconds: float) -> list[float]:
        known = self._edges_of.get(seconds)
        if known is not None:
            return known
        edges = {0.0, seconds}
        for burst in self.bursts:
            edges |= {burst.at, burst.at + burst.seconds}
        if self.peaks:
            hour = (self.day.peak_hour if self.day else 20.0) * 3600
            for day in range(int(seconds // DAY) + 1):
                edges |= {day * DAY + hour, day * DAY + hour + self.busy_seconds}
        found = sorted(edge for edge in edges if 0 <= edge <= seconds)
        self._edges_of[seconds] = found
        return found
