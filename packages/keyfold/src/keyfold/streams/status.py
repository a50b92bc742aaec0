"""The state of a design's consumers: shards, owners, lag, dead letters, waiting events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyfold.errors import TableNotFound, TrimmedData
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.streams import deadletter, outbox
from keyfold.streams.lease import Group, Lease, leases
from keyfold.streams.shard import ShardRecords, created

_CLOCKS_APART: Final = 5.0
"""Clocks of machines differ by less; a lease that lasts longer than it can names a wrong time."""


@dataclass(frozen=True)
class ShardStatus:
    """One shard as its consumers see it."""

    stream: str
    shard: str
    owner: str
    """The worker that holds it, or ""; also "" if nobody can say, see `unsure`."""
    sequence: str | None
    lag_seconds: float
    """The age of the oldest waiting record; zero if none waits."""
    behind: bool
    """Whether a record is waiting."""
    finished: bool
    lost: str
    records: int = 0
    """How many records were settled."""
    unsure: str = ""
    """The worker that holds it if it lives: its clock and this one differ, so nobody can say."""


@dataclass(frozen=True)
class StreamStatus:
    """All shards, and what needs attention."""

    shards: tuple[ShardStatus, ...]
    dead_letters: int
    waiting_events: int

    @property
    def records(self) -> int:
        """How many records were settled, in all shards."""
        return sum(shard.records for shard in self.shards)

    @property
    def lag_seconds(self) -> float:
        return max((shard.lag_seconds for shard in self.shards), default=0.0)


def status(context: Context, name: str = "default") -> Flow[StreamStatus]:
    """Read the consumers' state; reads each stream for its oldest waiting record."""
    group = Group(context.design.name, name)
    try:
        known = yield from leases(context, group)
        dead = yield from deadletter.count(context)
        events = yield from outbox.count(context)
    except TableNotFound:
        return StreamStatus((), 0, 0)
    found = []
    for lease in known.values():
        over = lease.finished or lease.lost
        lag = None if over else (yield from _lag(context, lease))
        left = lease.until - context.clock.now()
        apart = left > lease.seconds + _CLOCKS_APART
        owner = lease.owner if left >= 0 else ""
        found.append(
            ShardStatus(
                lease.stream,
                lease.shard,
                "" if apart else owner,
                lease.sequence,
                lag or 0.0,
                lag is not None,
                lease.finished,
                lease.lost,
                lease.records,
                unsure=owner if apart else "",
            )
        )
    return StreamStatus(tuple(found), dead, events)


def _lag(context: Context, lease: Lease) -> Flow[float | None]:
    """The age of the oldest record after the checkpoint; None if there is none."""
    try:
        records = yield from ShardRecords(lease.stream, lease.shard, lease.sequence).next(1)
    except TrimmedData:
        return max(0.0, context.clock.now() - max(lease.settled_at, lease.caught_up))
    except TableNotFound:
        return None
    if not records:
        return None
    return max(0.0, context.clock.now() - created(records[0]))
