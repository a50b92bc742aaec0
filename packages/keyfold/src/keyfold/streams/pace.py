"""How long a consumer waits between polls, and what ends the wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from keyfold.streams.record_batch import Outcome
from keyfold_engine.clients.protocol import AsyncClient, Client, Notifying

QUICK_SECONDS: Final = 0.05
"""The wait after records, if nothing announces new ones: at most 20 polls per second."""


class Pace:
    """Short waits while records arrive, increasing ones while none do."""

    def __init__(self, longest: float, batch: int) -> None:
        self._longest, self._batch = longest, batch
        self._shortest = self._next = min(QUICK_SECONDS, longest)

    def rest(self, outcome: Outcome) -> float:
        """Seconds until the next poll; zero after a full batch, which more may follow."""
        if outcome.records >= self._batch:
            return 0.0
        if outcome.records:
            self._next = self._shortest
        rest, self._next = self._next, min(self._longest, 2 * self._next)
        return rest


def spacing(rest: float) -> float:
    """The part of a wait that no commit ends: at most 200 polls per second, 20 if few bring
    records.
    """
    return min(rest / 10, QUICK_SECONDS)


class WakeUp:
    """Ends a thread's wait: at a commit of this process, or for good."""

    def __init__(self) -> None:
        self.stopped = False
        self._woken = threading.Event()

    def stop(self) -> None:
        self.stopped = True
        self._woken.set()

    def reset(self) -> None:
        """Call before a poll, which may miss what is committed from now on."""
        self._woken.clear()

    def wait(self, seconds: float) -> None:
        unwoken = spacing(seconds)
        time.sleep(unwoken)
        if not self.stopped:
            self._woken.wait(seconds - unwoken)

    @contextmanager
    def listening(self, client: Client) -> Iterator[None]:
        with _notified_by(client, self._woken.set):
            yield


class AsyncAlarm:
    """`WakeUp` for a task of an event loop."""

    def __init__(self) -> None:
        self.stopped = False
        self._woken = asyncio.Event()
        self._notified = False

    def stop(self) -> None:
        self.stopped = True
        self._woken.set()

    def reset(self) -> None:
        self._notified = False
        self._woken.clear()

    async def wait(self, seconds: float) -> None:
        unwoken = spacing(seconds)
        await asyncio.sleep(unwoken)
        if self.stopped:
            return
        try:
            async with asyncio.timeout(seconds - unwoken):
                await self._woken.wait()
        except TimeoutError:
            return

    @contextmanager
    def listening(self, client: AsyncClient) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def notify() -> None:
            # Commits come from any thread; waking the loop for each would slow them down.
            if not self._notified:
                self._notified = True
                loop.call_soon_threadsafe(self._woken.set)

        with _notified_by(client, notify):
            yield


@contextmanager
def _notified_by(client: Client | AsyncClient, notify: Callable[[], None]) -> Iterator[None]:
    unsubscribe = client.on_commit(notify) if isinstance(client, Notifying) else None
    try:
        yield
    finally:
        if unsubscribe is not None:
            unsubscribe()
