"""Consumers: they follow the streams of a design's tables and keep what follows from them right."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.streams.following import Following, Options
from keyfold.streams.pace import Alarm, AsyncAlarm
from keyfold.streams.policy import TRANSIENT
from keyfold.streams.processing import Outcome
from keyfold.streams.shard import Reader
from keyfold.streams.sinks import Sink
from keyfold.streams.status import Status, status

OnProgress = Callable[[Outcome], None]

logger = logging.getLogger("keyfold.streams")


class Consumer:
    """Follows the streams of an open design: `Consumer(db).run()`."""

    def __init__(
        self, db: Db, *, sinks: Sequence[Sink] = (), options: Options | None = None
    ) -> None:
        self.db = db
        self._following = Following(db, options or Options(), sinks)
        self._alarm = Alarm()

    @property
    def worker(self) -> str:
        return self._following.worker

    def run_once(self, threads: ThreadPoolExecutor | None = None) -> Outcome:
        """Read one batch of every shard that this worker holds."""
        following, total = self._following, Outcome()
        readers = self.db.run(following.assignment(), "streams")
        polled = (threads.map if threads is not None else map)(self._poll, readers)
        for outcome in polled:
            total += outcome
        self.db.run(following.deliver(), "streams")
        return total

    def _poll(self, reader: Reader) -> Outcome:
        return self.db.run(self._following.poll(reader), "streams")

    def drain(self) -> Outcome:
        """Read until nothing is left, then give the shards back; for tests and jobs."""
        total, waits = Outcome(), 0
        self._following.greedy = True
        try:
            while True:
                outcome = self.run_once()
                left, outcome.unresolved = outcome.unresolved, []
                total += outcome
                if outcome.records or left or self._following.turning:
                    continue
                if not self.db.run(self._following.others_behind(waits), "streams"):
                    return total
                waits += 1
        finally:
            self._following.greedy = False
            self.close()

    def run(self, *, threads: int = 1, on_progress: OnProgress | None = None) -> None:
        """Read until `stop`; several processes may do so at once and share the shards."""
        pace, alarm = self._following.options.pace(), self._alarm
        with (
            ThreadPoolExecutor(threads, "keyfold-consumer") as pool,
            alarm.listening(self.db.client),
        ):
            try:
                while not alarm.stopped:
                    alarm.wind()
                    try:
                        outcome = self.run_once(pool if threads > 1 else None)
                    except TRANSIENT as problem:
                        logger.warning("the backend is in trouble, reading goes on: %s", problem)
                        outcome = Outcome()
                    if on_progress is not None:
                        on_progress(outcome)
                    alarm.wait(pace.rest(outcome))
            finally:
                self.close()

    def stop(self) -> None:
        """End `run` after the batch at hand; safe in a signal handler and in other threads."""
        self._alarm.stop()

    def status(self) -> Status:
        return self.db.run(status(self.db.context, self._following.options.name), "streams")

    def close(self) -> None:
        """Give the shards back."""
        self.db.run(self._following.leave(), "streams")


class AsyncConsumer:
    """The same for an event loop: `await AsyncConsumer(db).run()`."""

    def __init__(
        self, db: AsyncDb, *, sinks: Sequence[Sink] = (), options: Options | None = None
    ) -> None:
        self.db = db
        self._following = Following(db, options or Options(), sinks)
        self._alarm = AsyncAlarm()

    @property
    def worker(self) -> str:
        return self._following.worker

    async def run_once(self) -> Outcome:
        """Read one batch of every shard that this worker holds."""
        following, total = self._following, Outcome()
        readers = await self.db.run(following.assignment(), "streams")
        polls = (self.db.run(following.poll(reader), "streams") for reader in readers)
        for outcome in await asyncio.gather(*polls, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
            total += outcome
        await self.db.run(following.deliver(), "streams")
        return total

    async def drain(self) -> Outcome:
        """Read until nothing is left, then give the shards back; for tests and jobs."""
        total, waits = Outcome(), 0
        self._following.greedy = True
        try:
            while True:
                outcome = await self.run_once()
                left, outcome.unresolved = outcome.unresolved, []
                total += outcome
                if outcome.records or left or self._following.turning:
                    continue
                if not await self.db.run(self._following.others_behind(waits), "streams"):
                    return total
                waits += 1
        finally:
            self._following.greedy = False
            await self.close()

    async def run(self, *, on_progress: OnProgress | None = None) -> None:
        """Read until `stop`."""
        pace, alarm = self._following.options.pace(), self._alarm
        with alarm.listening(self.db.client):
            try:
                while not alarm.stopped:
                    alarm.wind()
                    try:
                        outcome = await self.run_once()
                    except TRANSIENT as problem:
                        logger.warning("the backend is in trouble, reading goes on: %s", problem)
                        outcome = Outcome()
                    if on_progress is not None:
                        on_progress(outcome)
                    await alarm.wait(pace.rest(outcome))
            finally:
                await self.close()

    def stop(self) -> None:
        """End `run` after the batch at hand."""
        self._alarm.stop()

    async def status(self) -> Status:
        return await self.db.run(status(self.db.context, self._following.options.name), "streams")

    async def close(self) -> None:
        """Give the shards back."""
        await self.db.run(self._following.leave(), "streams")
