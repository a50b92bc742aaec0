"""Streams of tables, their shards, and the records of a shard in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from keyfold.design.table import Table
from keyfold.errors import ExpiredIterator
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow

WireRecord = dict[str, Any]


@dataclass(frozen=True)
class Shard:
    """A shard of a table's stream."""

    table: Table
    stream: str
    id: str
    follows: tuple[str, ...] = ()
    """Shards with older records of the same items, which are read first."""

    @property
    def sort(self) -> str:
        return f"{self.stream}#{self.id}"


def shards(context: Context, tables: Sequence[Table]) -> Flow[list[Shard]]:
    """The shards of the tables' streams, including disabled streams."""
    found: list[Shard] = []
    for table in tables:
        older: tuple[str, ...] = ()
        for stream in (yield from streams_of(context.physical(table.schema))):
            made = []
            for shard, parent in (yield from shards_of(stream)).items():
                before = () if parent is None else (f"{stream}#{parent}",)
                made.append(Shard(table, stream, shard, (*older, *before)))
            older += tuple(shard.sort for shard in made)
            found += made
    return found


def streams_of(table: str) -> Flow[list[str]]:
    """The streams of a table by its physical name, oldest first.

    A dropped table of the same name leaves its streams for a day: they are not this table's.
    """
    described = (yield Call("DescribeTable", {"TableName": table}))["Table"]
    latest, made = described.get("LatestStreamArn"), moment(described["CreationDateTime"])
    # Some servers say only the second, and a dropped table may have had a stream in the same one.
    since = _label(made if made.microsecond else made + timedelta(seconds=1))
    # Then the label of the second itself is this table's only where labels have no more either.
    in_seconds = str(described.get("LatestStreamLabel", "")).endswith(".000")
    first = {latest, _label(made)} if in_seconds else {latest}
    request: dict[str, Any] = {"TableName": table}
    found: list[dict[str, Any]] = []
    while True:
        answer = yield Call("ListStreams", request)
        found += answer["Streams"]
        last = answer.get("LastEvaluatedStreamArn")
        if last is None:
            own = [
                s
                for s in found
                if s["StreamLabel"] >= since
                or not {s["StreamArn"], s["StreamLabel"]}.isdisjoint(first)
            ]
            return [s["StreamArn"] for s in sorted(own, key=lambda s: str(s["StreamLabel"]))]
        request["ExclusiveStartStreamArn"] = last


def moment(given: Any) -> datetime:
    """A time of an answer: boto3 has made a datetime of it, others a number of seconds."""
    if isinstance(given, datetime):
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    return datetime.fromtimestamp(float(given), UTC)


def created(record: WireRecord) -> float:
    """When a record was written, in seconds; whole ones from some servers."""
    return moment(record["dynamodb"].get("ApproximateCreationDateTime", 0)).timestamp()


def _label(at: datetime) -> str:
    """A moment as the labels of streams have it."""
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}"[:-3]


def shards_of(stream: str) -> Flow[dict[str, str | None]]:
    """The shards of a stream, each with its parent if that still exists."""
    request: dict[str, Any] = {"StreamArn": stream}
    found: dict[str, str | None] = {}
    while True:
        answer = yield Call("DescribeStream", request)
        description = answer["StreamDescription"]
        found |= {one["ShardId"]: one.get("ParentShardId") for one in description["Shards"]}
        last = description.get("LastEvaluatedShardId")
        if last is None:
            return {shard: parent if parent in found else None for shard, parent in found.items()}
        request["ExclusiveStartShardId"] = last


@dataclass
class ShardRecords:
    """The records of one shard after a sequence number, in batches."""

    stream: str
    shard: str
    after: str | None = None
    start: Literal["TRIM_HORIZON", "LATEST"] = "TRIM_HORIZON"
    """Where reading begins until the first record is read."""
    ended: bool = False
    _iterator: str | None = None

    def seek(self) -> Flow[None]:
        """Fix the reading position now, so that it does not move before the first read."""
        self._iterator = yield from self._iterator_request()

    def next(self, limit: int | None = None) -> Flow[list[WireRecord]]:
        """The next batch; raises TrimmedData if the position no longer exists."""
        iterator = self._iterator or (yield from self._iterator_request())
        try:
            answer = yield _read(iterator, limit)
        except ExpiredIterator:
            answer = yield _read((yield from self._iterator_request()), limit)
        records: list[WireRecord] = answer["Records"]
        self._iterator = answer.get("NextShardIterator")
        self.ended = self._iterator is None
        bodies = (record.get("dynamodb", {}) for record in records)
        numbers = [str(body["SequenceNumber"]) for body in bodies if "SequenceNumber" in body]
        self.after = max(numbers, key=int, default=self.after)
        return records

    def _iterator_request(self) -> Flow[str]:
        request = {"StreamArn": self.stream, "ShardId": self.shard}
        if self.after is None:
            request["ShardIteratorType"] = self.start
        else:
            request |= {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": self.after,
            }
        answer = yield Call("GetShardIterator", request)
        return str(answer["ShardIterator"])


def _read(iterator: str, limit: int | None) -> Call:
    request: dict[str, Any] = {"ShardIterator": iterator}
    return Call("GetRecords", request if limit is None else {**request, "Limit": limit})
