"""A rate limit per caller: a token bucket."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Final

from keyfold_engine.clock import Clock, SystemClock
from keyfold_web.problems import TooMany

KEPT_BUCKETS: Final = 100_000


class RateLimit:
    """`burst` requests at once, `per_second` in the long run, for each caller.

    It counts per process: with n workers a caller gets up to n times as much.
    """

    def __init__(self, per_second: float, burst: int, *, clock: Clock | None = None) -> None:
        if per_second <= 0 or burst < 1:
            raise ValueError("a rate limit needs per_second > 0 and burst >= 1")
        self.per_second, self.burst = per_second, burst
        self._clock = clock or SystemClock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Take one request, or raise TooMany with the seconds to wait."""
        now = self._clock.now()
        level, then = self._buckets.pop(caller, (float(self.burst), now))
        level = min(self.burst, level + max(0.0, now - then) * self.per_second)
        allowed = level >= 1
        self._buckets[caller] = (level - 1 if allowed else level, now)
        if len(self._buckets) > KEPT_BUCKETS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise TooMany(retry_after=max(1, math.ceil((1 - level) / self.per_second)))
