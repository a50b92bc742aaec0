"""A table's changes, read from its stream through any client, shard by shard, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from keyfold.errors import ExpiredIterator, MigrationError, TrimmedData
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.migration import Side
from keyfold.migrations.state import StateStore

FINISHED: Final = "finished"


@dataclass(frozen=True)
class ItemChange:
    """One change of one item."""

    table: str
    sequence: str
    key: Item
    old: Item | None
    new: Item | None
    created: float = 0.0
    """When, in whole seconds: nothing before this moment comes after it in its shard."""

    @classmethod
    def read(cls, table: str, record: dict[str, Any]) -> ItemChange:
        change = record["dynamodb"]
        old, new = change.get("OldImage"), change.get("NewImage")
        if old is None and new is None:
            raise MigrationError(
                f"the stream of {table} does not carry items; it must be NEW_AND_OLD_IMAGES"
            )
        created = float(change.get("ApproximateCreationDateTime", 0))
        return cls(table, change["SequenceNumber"], change["Keys"], old, new, created)

    @property
    def order(self) -> str:
        """The sequence number so that later ones are greater as text: they have up to 40 digits."""
        return self.sequence.zfill(40)


class ChangeReader:
    """Reads what is new in a table's stream since the stored positions."""

    def __init__(self, backend: Backend, store: StateStore, towards: Side, table: str) -> None:
        self.backend, self.store, self.towards, self.table = backend, store, towards, table
        self._iterators: dict[str, str] = {}
        self._finished: set[str] = set()
        self._arn: str | None = None

    def batches(self) -> Iterator[tuple[str, list[ItemChange]]]:
        """One read of every shard that may be read; the caller confirms with `done`."""
        for shard in self._ready():
            answer = self._read(shard)
            records = [ItemChange.read(self.table, record) for record in answer["Records"]]
            yield shard, records
            following = answer.get("NextShardIterator")
            if following is None:
                self._finished.add(shard)
                self.store.set_position(self.towards, self.table, shard, FINISHED)
            else:
                self._iterators[shard] = following

    def done(self, shard: str, record: ItemChange) -> None:
        self.store.set_position(self.towards, self.table, shard, record.sequence)

    def _ready(self) -> list[str]:
        """Open shards whose parent has been read."""
        shards = self._shards()
        known = {shard["ShardId"] for shard in shards}
        for shard in known - self._finished - self._iterators.keys():
            if self.store.position(self.towards, self.table, shard) == FINISHED:
                self._finished.add(shard)
        return [
            shard["ShardId"]
            for shard in shards
            if shard["ShardId"] not in self._finished
            and (
                shard.get("ParentShardId") in self._finished
                or shard.get("ParentShardId") not in known
            )
        ]

    def _shards(self) -> list[dict[str, Any]]:
        if self._arn is None:
            description = self.backend.describe(self.table)
            arn = (description or {}).get("LatestStreamArn")
            if arn is None:
                raise MigrationError(f"the table {self.table} has no stream to follow")
            self._arn = arn
        shards: list[dict[str, Any]] = []
        request: dict[str, Any] = {"StreamArn": self._arn}
        while True:
            found = self.backend.call("DescribeStream", request)["StreamDescription"]
            shards += found["Shards"]
            if "LastEvaluatedShardId" not in found:
                return shards
            request["ExclusiveStartShardId"] = found["LastEvaluatedShardId"]

    def _read(self, shard: str) -> dict[str, Any]:
        iterator = self._iterators.get(shard) or self._iterator(shard)
        try:
            return self.backend.call("GetRecords", {"ShardIterator": iterator})
        except ExpiredIterator:
            return self.backend.call("GetRecords", {"ShardIterator": self._iterator(shard)})

    def _iterator(self, shard: str) -> str:
        position = self.store.position(self.towards, self.table, shard)
        request: dict[str, Any] = {"StreamArn": self._arn, "ShardId": shard}
        if position is None:
            request["ShardIteratorType"] = "TRIM_HORIZON"
        else:
            request["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
            request["SequenceNumber"] = position
        try:
            answer = self.backend.call("GetShardIterator", request)
        except TrimmedData:
            raise MigrationError(
                f"copying was away for longer than the stream of {self.table} keeps its records; "
                "roll the migration back and apply it again"
            ) from None
        iterator: str = answer["ShardIterator"]
        return iterator
