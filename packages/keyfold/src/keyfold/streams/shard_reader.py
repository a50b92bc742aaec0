"""Reads one leased shard from its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final

from keyfold.errors import RebuildNeeded, TrimmedData
from keyfold.runtime.flow import Flow
from keyfold.streams import lease as leasing
from keyfold.streams.effect import Effects, ReactionContext
from keyfold.streams.lease import Group, Lease
from keyfold.streams.policy import retry_transient
from keyfold.streams.record_batch import Outcome, process
from keyfold.streams.shard import Shard, ShardRecords, WireRecord, created
from keyfold_engine.limits import STREAM_RETENTION_SECONDS

_NOTED_EVERY: Final = 60.0
"""How often an idle shard's progress is saved, in seconds."""


@dataclass
class ShardReader:
    """Reads one leased shard."""

    run: ReactionContext
    effects: Effects
    group: Group
    shard: Shard
    lease: Lease
    limit: int
    seconds: float
    records: ShardRecords | None = None
    """None: read from the checkpoint."""
    skipping: bool = False
    """Save checkpoints, and process nothing."""

    def poll(self) -> Flow[Outcome]:
        """Read one batch, process it, save the checkpoint."""
        asked = self.run.context.clock.now()
        records, ended = yield from self._batch()
        wanted = [] if self.skipping else records
        outcome = yield from process(self.run, self.effects, self.shard.table, wanted)
        complete = not outcome.unresolved
        noted: dict[str, str | float | bool] = {}
        settled = _settled(records, outcome.unresolved)
        if settled:
            noted["sequence"] = str(settled[-1]["dynamodb"]["SequenceNumber"])
            made = created(settled[-1])
            noted["settled_at"] = made
            noted["records"] = self.lease.records + len(settled)
            outcome.lag_seconds = max(0.0, self.run.context.clock.now() - made)
        stale = asked - self.lease.caught_up >= _NOTED_EVERY
        if complete and not records and (stale or ended):
            noted["caught_up"] = asked
        if complete and ended:
            noted["finished"] = True
        if not complete:
            self.records = None
        if noted or asked > self.lease.until - self.seconds / 2:
            self.lease = yield from retry_transient(
                self.run.policy,
                lambda: leasing.save(
                    self.run.context, self.group, self.lease, self.seconds, **noted
                ),
            )
        return outcome

    def _batch(self) -> Flow[tuple[list[WireRecord], bool]]:
        if self.records is None:
            if self.lease.lost:
                raise RebuildNeeded(self.lease.lost)
            self.records = self._records_after(self.lease.sequence)
        try:
            found = yield from self.records.next(self.limit)
        except TrimmedData:
            yield from self._check_nothing_lost()
            self.records = self._records_after(None)
            found = yield from self.records.next(self.limit)
        return found, self.records.ended

    def _records_after(self, sequence: str | None) -> ShardRecords:
        return ShardRecords(self.shard.stream, self.shard.id, sequence)

    def _check_nothing_lost(self) -> Flow[None]:
        """Called when the checkpoint's record is gone: later records may be gone too."""
        context = self.run.context
        known = max(self.lease.caught_up, self.lease.settled_at)
        if context.clock.now() - known < STREAM_RETENTION_SECONDS:
            return
        reason = (
            f"records of {self.shard.table.name} were lost: the shard {self.shard.id} was last "
            f"read on {datetime.fromtimestamp(known, UTC):%Y-%m-%d %H:%M} UTC, and a stream keeps "
            f"{STREAM_RETENTION_SECONDS // 3600} hours. Run `keyfold rebuild`: it rebuilds the "
            "structures and lets the consumer continue"
        )
        yield from leasing.save(context, self.group, self.lease, self.seconds, lost=reason)
        raise RebuildNeeded(reason)


def _settled(records: list[WireRecord], unresolved: list[str]) -> list[WireRecord]:
    """The records, by sequence, up to the first that is not settled."""

    known = (one for one in records if "SequenceNumber" in one.get("dynamodb", {}))
    found = {str(one["dynamodb"]["SequenceNumber"]): one for one in known}
    left = set(unresolved)
    return [found[one] for one in takewhile(lambda one: one not in left, sorted(found, key=int))]
