"""What sync and async handles share, and how a handle is recognised."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ClassVar, TypeVar

from keyfold.errors import PlanError
from keyfold.runtime.budget import OnLoop, Work, current_work
from keyfold.runtime.context import Context
from keyfold.runtime.meter import Meter

H = TypeVar("H", bound="Handle")


class Handle:
    """An open design: its context and its meters."""

    opened_by: ClassVar[str]

    def __init__(self, context: Context, on_loop: OnLoop) -> None:
        self.context = context
        self.meter = Meter()
        self._on_loop: OnLoop = on_loop
        self.pool: ThreadPoolExecutor | None = None
        """Threads for calls at once; an event loop needs none."""

    @contextmanager
    def work(self, name: str, *, requests: int | None = None) -> Iterator[Work]:
        """Count requests and units by pattern; a loop of single reads is reported as N+1."""
        work = Work(name, self._on_loop, requests)
        token = current_work.set(work)
        try:
            yield work
        finally:
            current_work.reset(token)


def checked_handle(given: H, kind: type[H], instead: str) -> H:
    """The argument, checked to be a handle; `instead` names the call for the other kind."""
    if isinstance(given, kind):
        return given
    way = f"; use {instead}" if isinstance(given, Handle) else ""
    raise PlanError(f"{given!r} is not a result of {kind.opened_by}{way}")
