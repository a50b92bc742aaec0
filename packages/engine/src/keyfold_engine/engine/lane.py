"""Where a call runs: on an event loop, where it may block only briefly, or in a thread, where it
runs while its caller waits.

A server sets the lane of its thread around a call. Long work checks at its steps whether it may
continue.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import Final, Protocol

from keyfold_engine.limits import KB

LOOP_SECONDS: Final = 0.004
LOOP_LOCK_SECONDS: Final = 0.002
"""How long a loop waits for a lock that threads hold briefly."""
LOOP_BYTES: Final = 64 * KB
"""Larger data is not parsed on a loop."""
SHORT_BYTES: Final = 16 * KB
"""Longer requests, and those about larger items, have no short way: it checks no time."""


class WouldStall(Exception):
    """The call is too long for an event loop, and nothing was done: run it in a thread."""


class CallerGone(Exception):
    """The caller disconnected."""


class Lane(Protocol):
    """The limits of a call."""

    waits: bool
    """Whether it may block."""

    def begin(self) -> None: ...

    def check(self, size: int = 0) -> None: ...


class LoopLane:
    """The lane of an event loop."""

    __slots__ = ("_seconds", "end", "waits")

    def __init__(self, seconds: float = LOOP_SECONDS) -> None:
        self.waits = False
        self._seconds = seconds
        self.end = 0.0
        """When the call has to be done."""

    def begin(self) -> None:
        """Reset the time limit for the next call."""
        self.end = perf_counter() + self._seconds

    def check(self, size: int = 0) -> None:
        if size > LOOP_BYTES or perf_counter() > self.end:
            raise WouldStall


class ThreadLane:
    """The lane of one call in a thread."""

    __slots__ = ("_is_gone", "waits")

    def __init__(self, is_gone: Callable[[], bool]) -> None:
        self.waits = True
        self._is_gone = is_gone

    def begin(self) -> None:
        """No time limit."""

    def check(self, size: int = 0) -> None:  # noqa: ARG002
        if self._is_gone():
            raise CallerGone


class _Here(threading.local):
    lane: Lane | None = None


here: Final = _Here()


class InLane:
    """Sets the lane of this thread's calls for a `with` block."""

    __slots__ = ("_lane",)

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    def __enter__(self) -> None:
        self._lane.begin()
        here.lane = self._lane

    def __exit__(self, *_error: object) -> None:
        here.lane = None


def check(size: int = 0) -> None:
    """Check between two steps, or before parsing something of this size."""
    if (lane := here.lane) is not None:
        lane.check(size)


def may_wait() -> bool:
    """Whether this thread may block."""
    return (lane := here.lane) is None or lane.waits
