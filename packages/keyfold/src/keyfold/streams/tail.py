"""The newest changes as they happen, for live subscribers.

A consumer shares shards, keeps checkpoints and misses nothing. A tail does neither: it begins at
the end of the streams, stores nothing, and ends with its process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from keyfold.design.entity import Entity
from keyfold.errors import KeyfoldError, Undecodable
from keyfold.runtime.async_db import AsyncDb
from keyfold.streams.pace import AsyncAlarm, Pace
from keyfold.streams.policy import TRANSIENT
from keyfold.streams.record import Change, changes, parse
from keyfold.streams.record_batch import Outcome
from keyfold.streams.shard import Shard, ShardRecords, shards

BATCH: Final = 500
POLL_SECONDS: Final = 0.5
LOOK_SECONDS: Final = 10.0
"""How often new shards are looked for."""
logger = logging.getLogger("keyfold.streams")
Tell = Callable[[Change[Any]], None]


class Tail:
    """Reports each change of some entities, from `start` until `stop`."""

    def __init__(self, db: AsyncDb, entities: Iterable[type[Entity]], tell: Tell) -> None:
        self._db, self._tell = db, tell
        self._entities = tuple(entities)
        self._tables = list(dict.fromkeys(one.__table__ for one in self._entities))
        self._pace = Pace(POLL_SECONDS, BATCH)
        self._alarm = AsyncAlarm()
        self._reading: dict[str, tuple[Shard, ShardRecords]] = {}
        self._known: set[str] = set()
        self._looked = 0.0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Seek to the end of the streams; later writes are reported."""
        await self._look(first=True)
        self._task = asyncio.create_task(self._run(), name="keyfold-tail")

    async def stop(self) -> None:
        self._alarm.stop()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        with self._alarm.listening(self._db.client):
            while not self._alarm.stopped:
                self._alarm.reset()
                records = await self._read()
                await self._alarm.wait(self._pace.rest(Outcome(records=records)))

    async def _read(self) -> int:
        try:
            loop = asyncio.get_running_loop()
            if loop.time() - self._looked >= LOOK_SECONDS:
                await self._look()
            polls = (self._poll(sort) for sort in list(self._reading))
            return sum(await asyncio.gather(*polls))
        except TRANSIENT as problem:
            logger.warning("the backend failed; the watcher continues: %s", problem)
            return 0

    async def _look(self, *, first: bool = False) -> None:
        """Find the shards: the initial ones are read from their end, later ones from the
        beginning.
        """
        for shard in await self._db.run(shards(self._db.context, self._tables), "streams"):
            if shard.sort not in self._known:
                begin = ShardRecords(shard.stream, shard.id)
                if first:
                    begin.start = "LATEST"
                    await self._db.run(begin.seek(), "streams")
                self._reading[shard.sort] = shard, begin
                self._known.add(shard.sort)
        self._looked = asyncio.get_running_loop().time()

    async def _poll(self, sort: str) -> int:
        shard, records = self._reading[sort]
        try:
            found = await self._db.run(records.next(BATCH), "streams")
        except TRANSIENT:
            raise
        except KeyfoldError as problem:
            # The stream was dropped or its records expired; a new shard follows.
            logger.warning("the shard %s can no longer be read: %s", shard.id, problem)
            del self._reading[sort]
            return 0
        if records.ended:
            del self._reading[sort]
            self._looked = 0.0
        for wire in found:
            try:
                for change in changes(parse(shard.table, wire), self._entities):
                    self._tell(change)
            except Undecodable as problem:
                logger.warning("a change cannot be delivered: %s", problem)
        return len(found)
