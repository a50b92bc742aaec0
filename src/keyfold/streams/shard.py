"""Shards: finding them, and reading one from its checkpoint on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from keyfold.design.table import Table
from keyfold.errors import ExpiredIterator, LeaseLost, RebuildNeeded, TrimmedData
from keyfold.limits import STREAM_RETENTION_SECONDS
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.streams import lease as leasing
from keyfold.streams.effect import Effects, ReactionContext
from keyfold.streams.lease import Group, Lease
from keyfold.streams.policy import patiently
from keyfold.streams.processing import Outcome, process

_NOTED_EVERY: Final = 60.0
"""How often an idle shard's progress is noted, in seconds."""


@dataclass(frozen=True)
class Shard:
    """A shard of a table's stream."""

    table: Table
    stream: str
    id: str
    follows: tuple[str, ...] = ()
    """Shards that hold older records of the same items, and are read first."""

    @property
    def sort(self) -> str:
        return f"{self.stream}#{self.id}"


def shards(context: Context, tables: Sequence[Table]) -> Flow[list[Shard]]:
    """The shards of the tables' streams, those of streams that were turned off included."""
    found: list[Shard] = []
    for table in tables:
        older: tuple[str, ...] = ()
        for stream in (yield from _streams(context.physical(table.schema))):
            described = yield from _described(stream)
            known = {one["ShardId"] for one in described}
            made = []
            for one in described:
                parent = one.get("ParentShardId")
                before = (f"{stream}#{parent}",) if parent in known else ()
                made.append(Shard(table, stream, one["ShardId"], (*older, *before)))
            older += tuple(shard.sort for shard in made)
            found += made
    return found


def _streams(table: str) -> Flow[list[str]]:
    """The table's streams, oldest first."""
    request: dict[str, Any] = {"TableName": table}
    streams: list[dict[str, Any]] = []
    while True:
        answer = yield Call("ListStreams", request)
        streams += answer["Streams"]
        last = answer.get("LastEvaluatedStreamArn")
        if last is None:
            return [s["StreamArn"] for s in sorted(streams, key=lambda s: str(s["StreamLabel"]))]
        request["ExclusiveStartStreamArn"] = last


def _described(stream: str) -> Flow[list[dict[str, Any]]]:
    request: dict[str, Any] = {"StreamArn": stream}
    found: list[dict[str, Any]] = []
    while True:
        answer = yield Call("DescribeStream", request)
        description = answer["StreamDescription"]
        found += description["Shards"]
        last = description.get("LastEvaluatedShardId")
        if last is None:
            return found
        request["ExclusiveStartShardId"] = last


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
    iterator: str | None = None

    def poll(self) -> Flow[Outcome]:
        """Read one batch, carry it out, note the checkpoint."""
        asked = self.run.context.clock.now()
        records, following = yield from self._records()
        outcome = yield from process(self.run, self.effects, self.shard.table, records)
        complete = not outcome.unresolved
        noted: dict[str, str | float | bool] = {}
        settled = _last_settled(records, outcome.unresolved)
        if settled is not None:
            noted["sequence"] = str(settled["SequenceNumber"])
            made = _seconds(settled.get("ApproximateCreationDateTime", 0))
            noted["settled_at"] = made
            outcome.lag_seconds = max(0.0, self.run.context.clock.now() - made)
        stale = asked - self.lease.caught_up >= _NOTED_EVERY
        if complete and not records and (stale or following is None):
            noted["caught_up"] = asked
        if complete and following is None:
            noted["finished"] = True
        self.iterator = following if complete else None
        if noted or asked > self.lease.until - self.seconds / 2:
            self.lease = yield from patiently(
                self.run.policy,
                lambda: leasing.save(
                    self.run.context, self.group, self.lease, self.seconds, **noted
                ),
            )
        return outcome

    def _records(self) -> Flow[tuple[list[dict[str, Any]], str | None]]:
        for _ in range(2):
            try:
                if self.iterator is None:
                    self.iterator = yield from self._start()
                answer = yield Call(
                    "GetRecords", {"ShardIterator": self.iterator, "Limit": self.limit}
                )
                return answer["Records"], answer.get("NextShardIterator")
            except ExpiredIterator:
                self.iterator = None
            except TrimmedData:
                yield from self._check_nothing_lost()
                self.iterator = yield from self._iterator("TRIM_HORIZON")
        raise LeaseLost(f"the iterator of {self.shard.id} expires at once; the clocks disagree")

    def _start(self) -> Flow[str]:
        if self.lease.lost:
            raise RebuildNeeded(self.lease.lost)
        if self.lease.sequence is None:
            return (yield from self._iterator("TRIM_HORIZON"))
        return (yield from self._iterator("AFTER_SEQUENCE_NUMBER", self.lease.sequence))

    def _iterator(self, kind: str, sequence: str | None = None) -> Flow[str]:
        request = {
            "StreamArn": self.shard.stream,
            "ShardId": self.shard.id,
            "ShardIteratorType": kind,
        }
        if sequence is not None:
            request["SequenceNumber"] = sequence
        answer = yield Call("GetShardIterator", request)
        return str(answer["ShardIterator"])

    def _check_nothing_lost(self) -> Flow[None]:
        """The checkpoint's own record is gone; records behind it may be gone too."""
        context = self.run.context
        known = max(self.lease.caught_up, self.lease.settled_at)
        if context.clock.now() - known < STREAM_RETENTION_SECONDS:
            return
        reason = (
            f"records of {self.shard.table.name} were lost: the shard {self.shard.id} was last "
            f"read on {datetime.fromtimestamp(known, UTC):%Y-%m-%d %H:%M} UTC, and a stream keeps "
            f"{STREAM_RETENTION_SECONDS // 3600} hours. Run `keyfold rebuild`, which makes the "
            "structures anew and lets the consumer go on"
        )
        yield from leasing.save(context, self.group, self.lease, self.seconds, lost=reason)
        raise RebuildNeeded(reason)


def _last_settled(records: list[dict[str, Any]], unresolved: list[str]) -> dict[str, Any] | None:
    """The last record before which nothing is left to do, by sequence and not by arrival."""
    left = set(unresolved)
    last: dict[str, Any] | None = None
    bodies = [record["dynamodb"] for record in records if _has_sequence(record)]
    for body in sorted(bodies, key=lambda body: int(body["SequenceNumber"])):
        if str(body["SequenceNumber"]) in left:
            return last
        last = body
    return last


def _has_sequence(record: dict[str, Any]) -> bool:
    return "SequenceNumber" in record.get("dynamodb", {})


def _seconds(moment: Any) -> float:
    return moment.timestamp() if isinstance(moment, datetime) else float(moment)
