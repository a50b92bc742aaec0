"""Progress of a long job: rate, remaining time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from keyfold_engine.limits import TRANSACTION_ITEMS

_SLOWER: Final = 3
_SLOW_SECONDS: Final = 0.01
_LEAST: Final = 8


@dataclass
class Progress:
    """A job of about `expected` items."""

    job: str
    expected: int = 0
    done: int = 0
    lag: float | None = None
    """The copier's lag in seconds, while it runs."""
    started: float = field(default_factory=time.monotonic)
    last: float = 0.0
    """When it last progressed."""

    def advance(self, items: int) -> None:
        self.done += items
        self.last = time.monotonic()

    @property
    def seconds(self) -> float:
        return max(self.last - self.started, 0.0)

    @property
    def rate(self) -> float:
        return self.done / max(time.monotonic() - self.started, 1e-6)

    @property
    def remaining_seconds(self) -> float | None:
        if not self.done or not self.expected:
            return None
        return max(self.expected - self.done, 0) / self.rate

    def words(self) -> str:
        share = min(self.done / self.expected, 1.0) if self.expected else 0.0
        bar = "█" * round(share * 20) + "·" * (20 - round(share * 20))
        left = self.remaining_seconds
        remaining = f", {left:.0f} s left" if left is not None else ""
        known = f"{bar} {share:4.0%} " if self.expected else ""
        behind = f", copying {self.lag:.1f} s behind" if self.lag is not None else ""
        return f"{self.job}: {known}{self.done:,} items, {self.rate:,.0f}/s{remaining}{behind}"

    def as_data(self) -> dict[str, object]:
        """The same as data."""
        left = self.remaining_seconds
        return {
            "job": self.job,
            "done": self.done,
            "expected": self.expected,
            "rate": round(self.rate, 1),
            "seconds_left": None if left is None else round(left, 1),
            "lag": None if self.lag is None else round(self.lag, 3),
        }


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 120:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


Report = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report nothing."""


class BatchSize:
    """How much one transaction of a copy writes: less while other writes wait for it too long."""

    def __init__(self) -> None:
        self.actions = TRANSACTION_ITEMS
        self._usual = float("inf")

    def notice(self, seconds: float) -> None:
        """A small write beside the copy took this long."""
        self._usual = min(self._usual, seconds)
        if seconds > max(_SLOWER * self._usual, _SLOW_SECONDS):
            self.actions = max(self.actions // 2, _LEAST)
        else:
            self.actions = min(self.actions + _LEAST, TRANSACTION_ITEMS)


class Throttle:
    """Limits items per second over all threads; 0 is no limit."""

    def __init__(self, per_second: float = 0) -> None:
        self._per_second = per_second
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self, items: int) -> None:
        if not self._per_second or not items:
            return
        with self._lock:
            start = max(self._next, time.monotonic())
            self._next = start + items / self._per_second
        time.sleep(max(0.0, start - time.monotonic()))
