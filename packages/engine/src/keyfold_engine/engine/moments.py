"""The times of an engine: of a commit, and for deletions, while the clock may be wrong.

A commit has one time for all that it changes, and never one before the commits that it follows. So
a restore has a transaction whole or not at all, and what is written while the clock is back is not
older than what was there: it does not expire early once the clock is right again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from keyfold_engine.clock import Clock, SystemClock
from keyfold_engine.engine.storage import Session

FOLLOWED_SECONDS = 7 * 86_400.0
"""How far a commit follows a later one. A clock that was further ahead is no longer followed."""
LEAP_SECONDS = 300.0
"""The largest jump of a clock that is trusted at once."""
BELIEVED_AFTER = 3600.0
"""Seconds a jump must last to be trusted. Wrong clocks are usually corrected sooner."""


class Moments:
    """The times of the commits of one file."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: float | None = None

    def of(self, session: Session) -> float:
        """The time of a session's transaction."""
        if session.moment is None:
            if self._last is None:
                self._last = session.last_record_time()
            now = self._clock.now()
            follows = now < self._last <= now + FOLLOWED_SECONDS
            session.moment = self._last = self._last if follows else now
        return session.moment


def _since_start() -> float:
    """Seconds actually elapsed, including suspension."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Horizon:
    """Tells the time for deletions: a clock that jumps ahead is not trusted at once.

    Manual clocks of tests are.
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
