"""Consumers: they follow the streams of a design's tables and apply the consequences."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from threading import Thread

from keyfold.errors import PlanError
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow
from keyfold.runtime.handle import checked_handle
from keyfold.streams.outbox import Round
from keyfold.streams.pace import AsyncAlarm, WakeUp
from keyfold.streams.policy import TRANSIENT
from keyfold.streams.record_batch import Outcome
from keyfold.streams.shard_reader import ShardReader
from keyfold.streams.sinks import Sink
from keyfold.streams.status import StreamStatus, status
from keyfold.streams.worker_shards import ConsumerOptions, StreamWorker

OnProgress = Callable[[Outcome], None]

logger = logging.getLogger("keyfold.streams")


class Following:
    """What sync and async consumers share."""

    _following: StreamWorker

    @property
    def worker(self) -> str:
        return self._following.worker

    @property
    def tables(self) -> list[str]:
        """The tables whose streams are read."""
        return [table.name for table in self._following.tables]


class Consumer(Following):
    """Follows the streams of an open design: `Consumer(db).run()`."""

    def __init__(
        self, db: Db, *, sinks: Sequence[Sink] = (), options: ConsumerOptions | None = None
    ) -> None:
        self.db = checked_handle(db, Db, "use AsyncConsumer")
        self._following = StreamWorker(db, options or ConsumerOptions(), sinks)
        self._alarm = WakeUp()

    def run_once(self) -> Outcome:
        """Read one batch of every shard that this worker holds."""
        return self.db.run(self._following.run_once(), "streams")

    def drain(self) -> Outcome:
        """Read until nothing is left, then release the shards; for tests and jobs."""
        return self._to_its_end(self._following.drain())

    def catch_up(self) -> Outcome:
        """Wait until everything written before this call has been processed, here or by other
        workers.

        `drain` needs a quiet moment to end; this ends under any traffic.
        """
        return self._to_its_end(self._following.catch_up())

    def skip(self) -> Outcome:
        """Before the first run on a table that is in use: pass over what its stream has now, which
        others have counted already. A repair sets right what they have not.
        """
        return self._to_its_end(self._following.skip())

    def _to_its_end(self, work: Flow[Outcome]) -> Outcome:
        try:
            return self.db.run(work, "streams")
        finally:
            self.close()

    def run(self, *, threads: int = 1, on_progress: OnProgress | None = None) -> None:
        """Read until `stop`; several processes can run at once and share the shards."""
        if threads < 1:
            raise PlanError(f"threads must be at least 1, not {threads}")
        self._following.halted = lambda: self._alarm.stopped
        pace, alarm = self._following.options.pace(), self._alarm
        with (
            ThreadPoolExecutor(threads, "keyfold-consumer") as pool,
            alarm.listening(self.db.client),
            self._courier(),
        ):
            try:
                while not alarm.stopped:
                    alarm.reset()
                    try:
                        outcome = self._read(pool.map if threads > 1 else map)
                    except TRANSIENT as problem:
                        logger.warning("the backend failed; the consumer continues: %s", problem)
                        outcome = Outcome()
                    if on_progress is not None:
                        on_progress(outcome)
                    alarm.wait(pace.rest(outcome))
            finally:
                self._following.halted = bool
                self.close()

    def _read(self, each: Callable[..., Iterator[Outcome]]) -> Outcome:
        """`each` calls a function for each of some values, one after another or in threads."""
        readers = self.db.run(self._following.assignment(), "streams")
        total = Outcome()
        for outcome in each(self._poll, readers):
            total += outcome
        return total

    def _poll(self, reader: ShardReader) -> Outcome:
        return self.db.run(self._following.poll(reader), "streams")

    @contextmanager
    def _courier(self) -> Iterator[None]:
        """Deliver events to their sinks in the background, so that a slow sink delays no record."""
        if not self._following.sinks:
            yield
            return
        alarm = WakeUp()
        courier = Thread(
            target=self._deliver_until_stopped, args=(alarm,), name="keyfold-courier", daemon=True
        )
        courier.start()
        try:
            yield
        finally:
            alarm.stop()
            courier.join()

    def _deliver_until_stopped(self, alarm: WakeUp) -> None:
        pace, made = self._following.options.pace(), Round()
        with alarm.listening(self.db.client):
            while not alarm.stopped:
                alarm.reset()
                made = self._deliver(lambda: alarm.stopped)
                alarm.wait(pace.rest(Outcome(records=made.sent)))
        if not made.refused:
            # Deliver what the last batch emitted.
            self._deliver()

    def _deliver(self, halted: Callable[[], bool] = bool) -> Round:
        try:
            return self.db.run(self._following.deliver(halted), "streams")
        except Exception:
            logger.exception("events could not be delivered; they will be retried")
            return Round(refused=True)

    def stop(self) -> None:
        """End `run` after the current record; safe in signal handlers and other threads."""
        self._alarm.stop()

    def status(self) -> StreamStatus:
        return self.db.run(status(self.db.context, self._following.options.name), "streams")

    def close(self) -> None:
        """Release the shards."""
        self.db.run(self._following.leave(), "streams")


class AsyncConsumer(Following):
    """A consumer for an event loop: `await AsyncConsumer(db).run()`."""

    def __init__(
        self, db: AsyncDb, *, sinks: Sequence[Sink] = (), options: ConsumerOptions | None = None
    ) -> None:
        self.db = checked_handle(db, AsyncDb, "use Consumer")
        self._following = StreamWorker(db, options or ConsumerOptions(), sinks)
        self._alarm = AsyncAlarm()

    async def run_once(self) -> Outcome:
        """Read one batch of every shard that this worker holds."""
        return await self.db.run(self._following.run_once(), "streams")

    async def drain(self) -> Outcome:
        """Read until nothing is left, then release the shards; for tests and jobs."""
        return await self._to_its_end(self._following.drain())

    async def catch_up(self) -> Outcome:
        """Wait until everything written before this call has been processed, here or by other
        workers.
        """
        return await self._to_its_end(self._following.catch_up())

    async def skip(self) -> Outcome:
        """Before the first run on a table that is in use: pass over what its stream has now, which
        others have counted already. A repair sets right what they have not.
        """
        return await self._to_its_end(self._following.skip())

    async def _to_its_end(self, work: Flow[Outcome]) -> Outcome:
        try:
            return await self.db.run(work, "streams")
        finally:
            await self.close()

    async def run(self, *, on_progress: OnProgress | None = None) -> None:
        """Read until `stop`."""
        pace, alarm = self._following.options.pace(), self._alarm
        self._following.halted = lambda: alarm.stopped
        try:
            with alarm.listening(self.db.client):
                async with self._courier():
                    while not alarm.stopped:
                        alarm.reset()
                        outcome = await self._read_patiently()
                        if on_progress is not None:
                            on_progress(outcome)
                        await alarm.wait(pace.rest(outcome))
        finally:
            self._following.halted = bool
            await self.close()

    async def _read_patiently(self) -> Outcome:
        try:
            return await self._read()
        except TRANSIENT as problem:
            logger.warning("the backend failed; the consumer continues: %s", problem)
            return Outcome()

    async def _read(self) -> Outcome:
        following, total = self._following, Outcome()
        readers = await self.db.run(following.assignment(), "streams")
        polls = (self.db.run(following.poll(reader), "streams") for reader in readers)
        for outcome in await asyncio.gather(*polls, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
            total += outcome
        return total

    @asynccontextmanager
    async def _courier(self) -> AsyncIterator[None]:
        """Deliver events to their sinks in the background, so that a slow sink delays no record."""
        if not self._following.sinks:
            yield
            return
        alarm = AsyncAlarm()
        courier = asyncio.create_task(self._deliver_until_stopped(alarm), name="keyfold-courier")
        try:
            yield
        finally:
            alarm.stop()
            await courier

    async def _deliver_until_stopped(self, alarm: AsyncAlarm) -> None:
        pace, made = self._following.options.pace(), Round()
        with alarm.listening(self.db.client):
            while not alarm.stopped:
                alarm.reset()
                made = await self._deliver(lambda: alarm.stopped)
                await alarm.wait(pace.rest(Outcome(records=made.sent)))
        if not made.refused:
            # Deliver what the last batch emitted.
            await self._deliver()

    async def _deliver(self, halted: Callable[[], bool] = bool) -> Round:
        try:
            return await self.db.run(self._following.deliver(halted), "streams")
        except Exception:
            logger.exception("events could not be delivered; they will be retried")
            return Round(refused=True)

    def stop(self) -> None:
        """End `run` after the current record."""
        self._alarm.stop()

    async def status(self) -> StreamStatus:
        return await self.db.run(status(self.db.context, self._following.options.name), "streams")

    async def close(self) -> None:
        """Release the shards."""
        await self.db.run(self._following.leave(), "streams")
