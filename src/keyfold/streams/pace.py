"""How long a consumer rests between two polls, and what ends its rest."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from keyfold.clients.protocol import AsyncClient, Client, Notifying
from keyfold.streams.record_batch import Outcome

QUICK_SECONDS: Final = 0.05
"""The rest after records, where nobody tells of new ones: at most 20 polls a second."""


class Pace:
    """Short rests while records come, longer and longer ones while none do."""

    def __init__(self, longest: float, batch: int) -> None:
        self._longest, self._batch = longest, batch
        self._shortest = self._next = min(QUICK_SECONDS, longest)

    def rest(self, outcome: Outcome) -> float:
        """Seconds until the next poll; none after a full batch, behind which more may wait."""
        if outcome.records >= self._batch:
            return 0.0
        if outcome.records:
            self._next = self._shortest
        rest, self._next = self._next, min(self._longest, 2 * self._next)
        return rest


def spacing(rest: float) -> float:
    """The part of a rest that no commit ends: 200 polls a second, 20 where few bring a record."""
    return min(rest / 10, QUICK_SECONDS)


class WakeUp:
    """Ends a thread's rest: at a commit of this process, or for good."""

    def __init__(self) -> None:
        self.stopped = False
        self._woken = threading.Event()

    def stop(self) -> None:
        self.stopped = True
        self._woken.set()

    def wind(self) -> None:
        """Before a poll, which may miss what is committed from now on."""
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
    """The same for a task of an event loop."""

    def __init__(self) -> None:
        self.stopped = False
        self._woken = asyncio.Event()
        self._notified = False

    def stop(self) -> None:
        self.stopped = True
        self._woken.set()

    def wind(self) -> None:
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
            # Commits come from any thread, and waking the loop for each would cost them time.
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
