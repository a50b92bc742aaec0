"""Threads for work that would block the loop."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")


class Threads:
    """A thread pool, imported and created on first use."""

    def __init__(self, count: int, name: str) -> None:
        self._count, self._name = count, name
        self._pool: ThreadPoolExecutor | None = None
        self._lock = Lock()

    def submit(self, work: Callable[[], T], /) -> Future[T]:
        """Run it when a thread is free; raises RuntimeError after `shutdown`."""
        return (self._pool or self.load()).submit(work)

    def load(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            self._pool = self._pool or ThreadPoolExecutor(self._count, self._name)
            return self._pool

    def shutdown(self) -> None:
        """Wait for work in progress, and accept no more."""
        self.load().shutdown()
