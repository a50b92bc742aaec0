"""Where a call runs: on an event loop, where it may keep others waiting for a moment only, or in a
thread, where it goes on for as long as somebody waits for its answer.

A server sets the lane of its thread around a call. Work that can be long asks at its steps whether
it may go on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import Final, Protocol

from keyfold.limits import KB

LOOP_SECONDS: Final = 0.004
LOOP_LOCK_SECONDS: Final = 0.002
"""How long a loop waits for a lock that threads hold for a moment."""
LOOP_BYTES: Final = 64 * KB
"""What is larger is not taken apart on a loop."""


class WouldStall(Exception):
    """The call is too long for an event loop, and nothing was done: run it in a thread."""


class CallerGone(Exception):
    """Nobody waits for the answer."""


class Lane(Protocol):
    """What a call may take."""

    waits: bool
    """Whether it may wait for others."""

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
        """The next call has all the time again."""
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
        """It has no end."""

    def check(self, size: int = 0) -> None:  # noqa: ARG002
        if self._is_gone():
            raise CallerGone


class _Here(threading.local):
    lane: Lane | None = None


here: Final = _Here()


class Taken:
    """Calls of this thread run in a lane for the time of a `with` block."""

    __slots__ = ("_lane",)

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    def __enter__(self) -> None:
        self._lane.begin()
        here.lane = self._lane

    def __exit__(self, *_error: object) -> None:
        here.lane = None


def check(size: int = 0) -> None:
    """Between two steps, or before something of this size is taken apart."""
    if (lane := here.lane) is not None:
        lane.check(size)


def may_wait() -> bool:
    """Whether this thread may wait for others."""
    return (lane := here.lane) is None or lane.waits
