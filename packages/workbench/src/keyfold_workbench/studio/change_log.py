"""What was just written: the newest records of the streams, while somebody looks."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold.design.schema import TableSchema
from keyfold.errors import KeyfoldError, TableNotFound
from keyfold.runtime.flow import run_by
from keyfold.streams.shard import ShardRecords, WireRecord, shards_of, streams_of
from keyfold_workbench.studio.items import Change, ItemReader, KnownItem, differences

SHOWN: Final = 30
EVERY_SECONDS: Final = 1.5


@dataclass(frozen=True)
class StreamedChange:
    """A record of a stream."""

    at: float
    kind: str
    old: KnownItem | None
    new: KnownItem | None

    @property
    def item(self) -> KnownItem:
        found = self.new or self.old
        assert found is not None, "a record has at least one side"
        return found

    @property
    def differences(self) -> list[Change]:
        before, after = (one.wire if one else {} for one in (self.old, self.new))
        return differences(before, after, without=self.item.key)


@dataclass
class ChangeLog:
    """The newest changes, read from where the streams were when somebody first looked."""

    call: Callable[[str, Mapping[str, Any]], dict[str, Any]]
    tables: Mapping[str, TableSchema]
    """By physical name."""
    reader: ItemReader
    _kept: deque[StreamedChange] = field(default_factory=lambda: deque(maxlen=SHOWN))
    _shards: dict[tuple[str, str], tuple[TableSchema, ShardRecords]] = field(default_factory=dict)
    _read: float = float("-inf")
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> list[StreamedChange]:
        """The newest first; reading goes on with the next look."""
        with self._lock:
            now = time.monotonic()
            if now - self._read >= EVERY_SECONDS:
                begins = self._read == float("-inf")
                self._read = now
                try:
                    self._follow(new=not begins)
                except KeyfoldError:
                    # What is gone, or does not answer, is begun anew with the next look.
                    self._shards.clear()
                    self._read = float("-inf")
            return sorted(self._kept, key=lambda one: -one.at)

    def _follow(self, *, new: bool) -> None:
        if not self._shards or any(one.ended for _, one in self._shards.values()):
            self._find_shards(new=new)
        for table, shard in self._shards.values():
            if not shard.ended:
                records = run_by(self.call, shard.next(SHOWN))
                self._kept.extend(self._changes(table, records))

    def _find_shards(self, *, new: bool) -> None:
        """The shards there are; those that came meanwhile are read from their beginning."""
        for name, table in self.tables.items():
            try:
                streams = run_by(self.call, streams_of(name))
            except TableNotFound:
                continue
            for stream in streams[-1:]:
                for shard in run_by(self.call, shards_of(stream)):
                    if (stream, shard) in self._shards:
                        continue
                    records = ShardRecords(stream, shard, start="TRIM_HORIZON" if new else "LATEST")
                    run_by(self.call, records.seek())
                    self._shards[stream, shard] = table, records

    def _changes(self, table: TableSchema, records: list[WireRecord]) -> Iterator[StreamedChange]:
        for record in records:
            body = record["dynamodb"]
            sides = [body.get(name) for name in ("OldImage", "NewImage")]
            if not any(sides):
                sides[1] = body.get("Keys")
            old, new = (None if one is None else self.reader.read(table, one) for one in sides)
            at = body.get("ApproximateCreationDateTime", 0)
            seconds = at.timestamp() if hasattr(at, "timestamp") else float(at)
            yield StreamedChange(seconds, record["eventName"], old, new)
