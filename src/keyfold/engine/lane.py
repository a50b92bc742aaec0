"""Where a call runs: on an event loop, where it may keep others waiting for a moment only, or in a
thread, where it goes on for as long as somebody waits for its answer.

A server sets the lane of its thread around a call. Work that can be long says beforehand what it is
going to cost, in steps of about a microsecond.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Protocol

LOOP_STEPS: Final = 5_000
LOOP_LOCK_SECONDS: Final = 0.002
"""How long a loop waits for a lock that threads hold for a moment."""


class WouldStall(Exception):
    """The call is too long for an event loop, and nothing was done: run it in a thread."""


class CallerGone(Exception):
    """Nobody waits for the answer."""


class Lane(Protocol):
    """What a call may spend."""

    waits: bool
    """Whether it may wait for others."""

    def spend(self, steps: int) -> None: ...

    def renew(self) -> None: ...


class LoopLane:
    """The lane of an event loop."""

    __slots__ = ("_left", "waits")

    def __init__(self) -> None:
        self.waits = False
        self._left = LOOP_STEPS

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise WouldStall

    def renew(self) -> None:
        """Begin with the next call."""
        self._left = LOOP_STEPS


class ThreadLane:
    """The lane of one call in a thread."""

    __slots__ = ("_is_gone", "waits")

    def __init__(self, is_gone: Callable[[], bool]) -> None:
        self.waits = True
        self._is_gone = is_gone

    def spend(self, steps: int) -> None:  # noqa: ARG002
        if self._is_gone():
            raise CallerGone

    def renew(self) -> None:
        """There is no end to it."""


class _Here(threading.local):
    lane: Lane | None = None


here: Final = _Here()


class Taken:
    """Calls of this thread run in a lane for the time of a `with` block."""

    __slots__ = ("_lane",)

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    def __enter__(self) -> None:
        self._lane.renew()
        here.lane = self._lane

    def __exit__(self, *_error: object) -> None:
        here.lane = None


def spend(steps: int) -> None:
    """Before work of so many steps."""
    if (lane := here.lane) is not None:
        lane.spend(steps)


def may_wait() -> bool:
    """Whether this thread may wait for others."""
    return (lane := here.lane) is None or lane.waits
