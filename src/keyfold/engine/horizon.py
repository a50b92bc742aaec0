"""The time by which things are deleted: a clock that leaps ahead is not believed at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from keyfold.clock import Clock, SystemClock

LEAP_SECONDS = 300.0
"""By how much a clock may be put forward at once."""
BELIEVED_AFTER = 3600.0
"""Seconds for which a leap has to last. Clocks that are wrong are mostly put right before."""


def _since_start() -> float:
    """Seconds that have really passed, asleep or awake."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Horizon:
    """Tells the time for whoever deletes what is old.

    Clocks of tests move as they are told, and are believed.
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
