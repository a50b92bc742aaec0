"""Which shards a worker reads; shared by sync and async consumers."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from keyfold.design.table import Table
from keyfold.errors import (
    ExpiredIterator,
    LeaseLost,
    PlanError,
    RebuildNeeded,
    StreamError,
    TableNotFound,
)
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow, Pause
from keyfold.streams import lease as leasing
from keyfold.streams import outbox, support_table
from keyfold.streams.effect import Effects, ReactionContext
from keyfold.streams.lease import Group, Lease
from keyfold.streams.outbox import Round
from keyfold.streams.pace import Pace
from keyfold.streams.policy import TRANSIENT, Policy, retry_transient
from keyfold.streams.record_batch import Outcome
from keyfold.streams.shard import Shard, shards
from keyfold.streams.shard_reader import ShardReader
from keyfold.streams.sinks import Sink
from keyfold.streams.status import ShardStatus, status
from keyfold.streams.turn import Turns
from keyfold_engine.limits import STREAM_RECORDS_PER_READ

IMAGES: Final = "NEW_AND_OLD_IMAGES"

_WAITS: Final = 40
_WAIT_SECONDS: Final = 0.25
_STAMP_SECONDS: Final = 1.0
"""The resolution of a record's creation time."""


@dataclass(frozen=True)
class ConsumerOptions:
    """How a consumer reads."""

    name: str = "default"
    """Workers with the same name share the shards."""
    batch: int = 500
    lease_seconds: float = 30.0
    poll_seconds: float = 0.5
    """The longest wait between polls; shorter while records arrive."""
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= STREAM_RECORDS_PER_READ:
            raise PlanError(f"batch must be 1 to {STREAM_RECORDS_PER_READ}")

    def pace(self) -> Pace:
        return Pace(self.poll_seconds, self.batch)


class StreamWorker:
    """One worker's share of a design's streams, as flows."""

    def __init__(self, db: Db | AsyncDb, options: ConsumerOptions, sinks: Sequence[Sink]) -> None:
        self.context = db.context
        self.options = options
        self.sinks = list(sinks)
        self.effects = Effects(db.context.design)
        self.halted: Callable[[], bool] = bool
        """Whether to stop in the middle of a batch."""
        self.run = ReactionContext(db.context, db, options.policy, lambda: self.halted())
        self.group = Group(db.context.design.name, options.name)
        self.worker = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        self.tables = _followed_tables(self.effects)
        self.readers: dict[str, ShardReader] = {}
        self.streams: set[str] = set()
        """Those of the tables, as last seen; a group remembers others, of dropped tables."""
        self._prepared = False
        self._looked = float("-inf")
        self._renewals = leasing.Renewals(db.context.clock)
        self.turning = False
        """A shard came to its end or another worker is waited for: look for shards again."""
        self._held = False
        """Another worker is delivering events."""
        self.greedy = False
        """Take every free shard, whatever other workers there may be."""
        self.skipping = False
        self._waited: tuple[dict[str, str | None], int] = {}, 0
        """The positions of the shards that are waited for, and how often they were seen there."""

    def assignment(self) -> Flow[list[ShardReader]]:
        """The shards to read now, after leases were acquired, renewed and balanced."""
        return (yield from retry_transient(self.options.policy, self._assignment))

    def _assignment(self) -> Flow[list[ShardReader]]:
        if not self.tables:
            return []
        if not self._prepared:
            yield from support_table.ensure(self.context)
            self._prepared = True
        now = self.context.clock.monotonic()
        stale = now - self._looked >= self.options.lease_seconds / 3
        if stale or self.turning or not self.readers:
            yield from self._look()
            self._looked, self.turning = now, False
        return list(self.readers.values())

    def _look(self) -> Flow[None]:
        seconds = self.options.lease_seconds
        known = yield from shards(self.context, self.tables)
        self.streams = {shard.stream for shard in known}
        leases = yield from leasing.leases(self.context, self.group)
        workers = yield from leasing.beat(
            self.context, self.group, self.worker, seconds, self._renewals
        )
        ready = [shard for shard in known if _is_ready(shard, leases)]
        share = len(ready) if self.greedy else -(-len(ready) // workers)
        mine = {shard.sort: shard for shard in ready if shard.sort in self.readers}
        for sort in list(self.readers):
            if sort not in mine:
                del self.readers[sort]
        for sort in list(mine)[share:]:
            yield from leasing.release(self.context, self.group, self.readers.pop(sort).lease)
        for shard in ready:
            if len(self.readers) >= share and shard.sort not in self.readers:
                continue
            held = leases.get(shard.sort)
            ended = None if held is None or not self._has_ended(held) else held.until
            lease = yield from leasing.take(
                self.context, self.group, shard.stream, shard.id, self.worker, seconds, ended
            )
            if lease is None:
                self.readers.pop(shard.sort, None)
            elif shard.sort in self.readers:
                self.readers[shard.sort].lease = lease
            else:
                self.readers[shard.sort] = ShardReader(
                    self.run, self.effects, self.group, shard, lease, self.options.batch, seconds
                )
                self.readers[shard.sort].skipping = self.skipping

    def _has_ended(self, held: Lease) -> bool:
        seconds = max(held.seconds, self.options.lease_seconds)
        return self._renewals.ended(f"shard {held.sort}", repr(held.until), seconds)

    def poll(self, reader: ShardReader) -> Flow[Outcome]:
        """One batch of one shard; a lost lease or a failing backend postpones it."""
        try:
            outcome = yield from reader.poll()
        except (LeaseLost, TableNotFound, ExpiredIterator):
            # Another worker has the shard, its stream was dropped a day after it was disabled, or
            # this worker's clock is wrong.
            self.readers.pop(reader.shard.sort, None)
            return Outcome()
        except TRANSIENT:
            reader.records = None
            return Outcome(unresolved=[reader.shard.sort])
        if reader.lease.finished:
            self.readers.pop(reader.shard.sort, None)
            self.turning = True
        return outcome

    def read(self) -> Flow[Outcome]:
        """One batch of every shard that this worker holds."""
        total = Outcome()
        for reader in (yield from self.assignment()):
            total += yield from self.poll(reader)
        return total

    def run_once(self) -> Flow[Outcome]:
        """One batch of every shard, and the events that wait for their sinks."""
        total = yield from self.read()
        yield from self.deliver()
        return total

    def drain(self) -> Flow[Outcome]:
        """Read until nothing is left."""
        total, self.greedy = Outcome(), True
        while True:
            outcome = yield from self.run_once()
            left, outcome.unresolved = outcome.unresolved, []
            total += outcome
            if outcome.records or left or self.turning:
                continue
            if not (yield from self.others_behind()):
                return total

    def catch_up(self) -> Flow[Outcome]:
        """Wait until everything written before this call has been processed, here or by others."""
        started = self.context.clock.now()
        total, left, self.greedy = Outcome(), True, True
        while left:
            outcome = yield from self.read()
            outcome.unresolved = []
            total += outcome
            left = yield from self.left_from(started)
        return total

    def skip(self) -> Flow[Outcome]:
        """Move past what is written now, without effects; refused where a checkpoint is."""
        try:
            known = yield from leasing.leases(self.context, self.group)
        except TableNotFound:
            known = {}
        if any(one.sequence for one in known.values()):
            raise StreamError(
                f"the consumer {self.options.name} of {self.context.design.name} has read records "
                "already. It continues after them; start it without skipping"
            )
        self.skipping = True
        try:
            return (yield from self.catch_up())
        finally:
            self.skipping = False

    def deliver(self, halted: Callable[[], bool] = bool) -> Flow[Round]:
        """Deliver waiting events to the sinks."""
        if not self.sinks or not self._prepared:
            return Round()
        turns = Turns(self.context, self.worker, self.options.lease_seconds, self._renewals)
        try:
            made = yield from outbox.deliver(turns, self.sinks, self.options.policy, halted)
        except TRANSIENT:
            made = Round()
        self._held = made.held
        return made

    def others_behind(self) -> Flow[bool]:
        """Wait briefly for shards that other workers hold and have not finished."""
        behind = yield from self._behind()
        if not behind and not self._held:
            self._waited = {}, 0
            return False
        yield from self._wait_for(behind)
        return True

    def left_from(self, started: float) -> Flow[bool]:
        """Whether a record from before this moment is waiting; waits for those of other workers."""
        behind = yield from self._behind()
        made_before = self.context.clock.now() - started - _STAMP_SECONDS
        left = [one for one in behind if one.lag_seconds >= made_before]
        others = [one for one in left if one.owner != self.worker]
        if others and len(others) == len(left):
            yield from self._wait_for(others)
        else:
            self._waited = {}, 0
        return bool(left)

    def _behind(self) -> Flow[list[ShardStatus]]:
        """The shards of these tables that have waiting records; refused where some are lost."""
        now = yield from retry_transient(
            self.options.policy, lambda: status(self.context, self.options.name)
        )
        for shard in now.shards:
            if shard.lost:
                raise RebuildNeeded(shard.lost)
        return [one for one in now.shards if one.behind and one.stream in self.streams]

    def _wait_for(self, others: Sequence[ShardStatus]) -> Flow[None]:
        """Wait briefly for other workers, as long as they make progress; the shards of one that
        died are free when its lease has expired.
        """
        positions = {one.shard: one.sequence for one in others}
        before, times = self._waited
        self._waited = positions, times + 1 if positions == before else 0
        pause = min(self.options.poll_seconds, _WAIT_SECONDS)
        if times >= _WAITS and times * (pause or _WAIT_SECONDS) > 2 * self.options.lease_seconds:
            self._waited = {}, 0
            raise _stall_error(others, self.options.lease_seconds)
        self.turning = True
        yield Pause(pause)

    def leave(self) -> Flow[None]:
        """Release the leases, so that others need not wait for them to end."""
        self.greedy = False
        if not self._prepared:
            return
        yield from retry_transient(self.options.policy, self._leave)

    def _leave(self) -> Flow[None]:
        for reader in self.readers.values():
            yield from leasing.release(self.context, self.group, reader.lease)
        self.readers.clear()
        yield from leasing.leave(self.context, self.group, self.worker)


def _stall_error(others: Sequence[ShardStatus], lease_seconds: float) -> StreamError:
    seconds = f"for {2 * lease_seconds:g} seconds"
    if not others:
        return StreamError(
            f"another worker that delivers events has not finished {seconds}; stop its process"
        )
    first = others[0]
    return StreamError(
        f"the shard {first.shard} is held by the worker {first.owner}, which has read nothing "
        f"{seconds}; stop its process"
    )


def _followed_tables(effects: Effects) -> list[Table]:
    """The tables whose streams are read; required streams must contain both images."""
    for entity in effects.needed:
        declared = entity.__table__.schema
        if declared.stream != IMAGES:
            raise PlanError(
                f"{entity.__name__} needs a stream, but the table {declared.name} is "
                f"declared with stream={declared.stream!r}; declare it with stream={IMAGES!r}"
            )
    tables = dict.fromkeys(entity.__table__ for entity in effects.entities)
    return [table for table in tables if table.schema.stream == IMAGES]


def _is_ready(shard: Shard, leases: Mapping[str, Lease]) -> bool:
    """Whether a shard can be read: it is unfinished and its parents are finished."""

    def is_finished(sort: str) -> bool:
        lease = leases.get(sort)
        return lease is not None and lease.finished

    return not is_finished(shard.sort) and all(is_finished(sort) for sort in shard.follows)
