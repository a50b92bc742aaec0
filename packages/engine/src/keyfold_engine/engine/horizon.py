"""The time used for deletions: a clock that jumps ahead is not trusted at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from keyfold_engine.clock import Clock, SystemClock

LEAP_SECONDS = 300.0
"""The largest jump of a clock that is trusted at once."""
BELIEVED_AFTER = 3600.0
"""Seconds a jump must last to be trusted. Wrong clocks are usually corrected sooner."""


def _since_start() -> float:
    """Seconds actually elapsed, including suspension."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Horizon:
    """Tells the time for deletions.

    Manual clocks of tests are trusted.
    """

    def __init__(self, clock: Clock, passed: Callable[[], float] = _since_start) -> None:
        self._clock, self._passed = clock, passed
        self._is_real = isinstance(clock, SystemClock)
        self._known, self._at = clock.now(), passed()
        self._leapt_at: float | None = None

    def now(self) -> float:
        told = self._clock.now()
        if not self._is_real:
            return told
        passed = self._passed()
        expected = self._known + passed - self._at
        if told > expected + LEAP_SECONDS:
            if self._leapt_at is None:
                self._leapt_at = passed
            if passed - self._leapt_at < BELIEVED_AFTER:
                return expected
        self._known, self._at, self._leapt_at = told, passed, None
        return told
