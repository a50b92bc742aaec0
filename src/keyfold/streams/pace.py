"""How long a consumer rests between two polls, and what ends its rest."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from keyfold.clients.protocol import AsyncClient, Client, Telling
from keyfold.streams.processing import Outcome

QUICK_SECONDS: Final = 0.05
"""The rest after records, where nobody tells of new ones: at most 20 polls a second."""
SPACING_SECONDS: Final = 0.005
"""The part of a rest that no commit ends: at most 200 polls a second."""


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


class WakeUp:
    """Ends a thread's rest: at a commit of this process, or for good."""

    def __init__(self) -> None:
        self.stopped = False
        self._rung = threading.Event()

    def stop(self) -> None:
        self.stopped = True
        self._rung.set()

    def wind(self) -> None:
        """Before a poll, which may miss what is committed from now on."""
        self._rung.clear()

    def wait(self, seconds: float) -> None:
        spacing = min(seconds, SPACING_SECONDS)
        time.sleep(spacing)
        if not self.stopped:
            self._rung.wait(seconds - spacing)

    @contextmanager
    def listening(self, client: Client) -> Iterator[None]:
        with _told_by(client, self._rung.set):
            yield


class AsyncAlarm:
    """The same for a task of an event loop."""

    def __init__(self) -> None:
        self.stopped = False
        self._rung = asyncio.Event()
        self._told = False

    def stop(self) -> None:
        self.stopped = True
        self._rung.set()

    def wind(self) -> None:
        self._told = False
        self._rung.clear()

    async def wait(self, seconds: float) -> None:
        spacing = min(seconds, SPACING_SECONDS)
        await asyncio.sleep(spacing)
        if self.stopped:
            return
        try:
            async with asyncio.timeout(seconds - spacing):
                await self._rung.wait()
        except TimeoutError:
            return

    @contextmanager
    def listening(self, client: AsyncClient) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def tell() -> None:
            # Commits come from any thread, and waking the loop for each would cost them time.
            if not self._told:
                self._told = True
                loop.call_soon_threadsafe(self._rung.set)

        with _told_by(client, tell):
            yield


@contextmanager
def _told_by(client: Client | AsyncClient, tell: Callable[[], None]) -> Iterator[None]:
    forget = client.on_commit(tell) if isinstance(client, Telling) else None
    try:
        yield
    finally:
        if forget is not None:
            forget()
