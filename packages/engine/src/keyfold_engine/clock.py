"""Time, injected everywhere so that tests can move it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Anything that tells the time in seconds since the epoch."""

    def now(self) -> float: ...

    def monotonic(self) -> float:
        """Seconds since some moment; setting the clock does not change them."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class ManualClock:
    """A clock that moves only when told to."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._start = self._now = start

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now - self._start

    def advance(self, seconds: float) -> None:
        """Move forward; a clock never runs backwards."""
        if seconds < 0:
            raise ValueError(f"a clock cannot go back {-seconds} seconds")
        self._now += seconds
