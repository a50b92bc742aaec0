"""The partitions of vector indexes in memory."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import orjson

from keyfold_engine.engine.storage import Session
from keyfold_engine.features.vectors import storage
from keyfold_engine.features.vectors.index import VectorIndex
from keyfold_engine.features.vectors.partition import StoredVector, VectorPartition, matrix
from keyfold_engine.limits import MB

_MOST_BYTES = 512 * MB


class VectorPartitions:
    """Caches recently searched partitions, and synchronises them with a session.

    The file is authoritative: a partition's number of entries and newest change tell whether the
    cached one is current, also when other processes write.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int, bytes], VectorPartition] = OrderedDict()
        self._lock = Lock()

    def get(self, table: int, index: VectorIndex, part: bytes) -> VectorPartition:
        """The partition, possibly outdated; call `refresh` under its lock."""
        key = table, index.number, part
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                found = VectorPartition(index.function, matrix(index.dimensions))
            self._kept[key] = found
            total = sum(each.bytes for each in self._kept.values())
            while total > _MOST_BYTES and len(self._kept) > 1:
                total -= self._kept.popitem(last=False)[1].bytes
        return found

    def refresh(
        self, session: Session, table: int, index: VectorIndex, part: bytes, kept: VectorPartition
    ) -> None:
        """Update the cached partition to the session's state."""
        count, last = storage.vector_bounds(session, table, index.number, part)
        if (count, last) == (len(kept), kept.last):
            return
        if last > kept.last:
            for found in storage.vectors_after(session, table, index.number, part, kept.last):
                kept.put(_stored(found))
        if (count, last) == (len(kept), kept.last):
            return
        # Entries were deleted, or the session sees an earlier moment.
        seen = dict(storage.vector_changes(session, table, index.number, part))
        known = kept.changes()
        for row in known.keys() - seen.keys():
            kept.remove(row)
        for row, change in seen.items():
            if known.get(row) != change:
                now = storage.vector(session, table, index.number, row)
                if now is not None:
                    kept.put(_stored(now))
        kept.last = last


def _stored(row: tuple[int, int, int, bytes, bytes]) -> StoredVector:
    change, item, size, filters, vector = row
    return StoredVector(change, item, size, orjson.loads(filters), vector)
