"""Reads a table's changes from its stream through any client, shard by shard, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from keyfold.errors import MigrationError, TrimmedData
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.migration import Side
from keyfold.migrations.state_store import StateStore
from keyfold.runtime.flow import run_by
from keyfold.streams.shard import ShardRecords, shards_of

FINISHED: Final = "finished"
_LOOK_EVERY: Final = 50
"""After how many rounds new shards are looked for; children of a shard are found as it ends."""


@dataclass(frozen=True)
class ItemChange:
    """One change of one item."""

    table: str
    sequence: str
    key: Item
    old: Item | None
    new: Item | None
    created: float = 0.0
    """In whole seconds: everything later in its shard is at least as new."""

    @classmethod
    def read(cls, table: str, record: dict[str, Any]) -> ItemChange:
        change = record["dynamodb"]
        old, new = change.get("OldImage"), change.get("NewImage")
        if old is None and new is None:
            raise MigrationError(
                f"the stream of {table} does not contain items; it must be NEW_AND_OLD_IMAGES"
            )
        created = float(change.get("ApproximateCreationDateTime", 0))
        return cls(table, change["SequenceNumber"], change["Keys"], old, new, created)

    @property
    def order(self) -> str:
        """The sequence number in sortable text: they have up to 40 digits."""
        return self.sequence.zfill(40)


class ChangeReader:
    """Reads new changes of a table's stream since the stored positions."""

    def __init__(self, backend: Backend, store: StateStore, towards: Side, table: str) -> None:
        self.backend, self.store, self.towards, self.table = backend, store, towards, table
        self._shards: dict[str, str | None] = {}
        self._readers: dict[str, ShardRecords] = {}
        self._finished: set[str] = set()
        self._arn: str | None = None
        self._rounds = 0

    def batches(self) -> Iterator[tuple[str, list[ItemChange]]]:
        """One read of every shard, after its parent; the caller confirms with `done`.

        A shard whose parent ends in this round is read in it, too: what it has may be as old.
        """
        if self._rounds % _LOOK_EVERY == 0:
            self._look()
        self._rounds += 1
        read = set[str]()
        while ready := [shard for shard in self._ready() if shard not in read]:
            read.update(ready)
            for shard in ready:
                reader = self._reader(shard)
                if reader is None:
                    continue
                yield shard, self._read(reader)
                if reader.ended:
                    self._finished.add(shard)
                    self.store.set_position(self.towards, self.table, shard, FINISHED)
                    self._look()
                else:
                    self._readers[shard] = reader

    def done(self, shard: str, record: ItemChange) -> None:
        self.store.set_position(self.towards, self.table, shard, record.sequence)

    def _look(self) -> None:
        self._shards = run_by(self.backend.call, shards_of(self._stream()))

    def _ready(self) -> list[str]:
        """Open shards whose parent has been read."""
        return [
            shard
            for shard, parent in self._shards.items()
            if shard not in self._finished and (parent is None or parent in self._finished)
        ]

    def _reader(self, shard: str) -> ShardRecords | None:
        """What reads on; an unconfirmed batch is read again from the stored position."""
        found = self._readers.pop(shard, None)
        if found is not None:
            return found
        position = self.store.position(self.towards, self.table, shard)
        if position == FINISHED:
            self._finished.add(shard)
            return None
        return ShardRecords(self._stream(), shard, position)

    def _stream(self) -> str:
        if self._arn is None:
            description = self.backend.describe(self.table)
            arn = (description or {}).get("LatestStreamArn")
            if arn is None:
                raise MigrationError(f"the table {self.table} has no stream")
            self._arn = str(arn)
        return self._arn

    def _read(self, reader: ShardRecords) -> list[ItemChange]:
        try:
            records = run_by(self.backend.call, reader.next())
        except TrimmedData:
            raise MigrationError(
                f"copying was stopped for longer than the retention of {self.table}'s stream; "
                "roll the migration back and apply it again"
            ) from None
        return [ItemChange.read(self.table, record) for record in records]
