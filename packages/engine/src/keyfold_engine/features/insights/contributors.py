"""Contributor insights: counts by key.

Counts are kept per process, for a bounded number of keys. Beyond that, a new key replaces the one
with the smallest count and inherits it, so frequent keys are never lost.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Literal

import orjson

from keyfold_engine.engine.places import HASH_BYTES
from keyfold_engine.engine.tables import TableDefinition, after
from keyfold_engine.values import Item

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

_KEYS_PER_RULE = 500
_ACCESSED = "ACCESSED_AND_THROTTLED_KEYS"

Rule = Literal["PKC", "SKC", "PKT", "SKT"]


class KeyCounts:
    """How often each key was used, by table, index and rule."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, str, Rule], dict[bytes, int]] = {}
        self._lock = Lock()

    def top(self, table: int, index: str, rule: Rule, most: int) -> list[tuple[bytes, int]]:
        """The most used keys, as prefixes of places."""
        with self._lock:
            counts = self._counts.get((table, index, rule), {})
            return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:most]

    def forget(self, table: int, index: str) -> None:
        with self._lock:
            for key in [key for key in self._counts if key[:2] == (table, index)]:
                del self._counts[key]

    def add(self, table: int, index: str, rule: Rule, place: bytes) -> None:
        with self._lock:
            counts = self._counts.setdefault((table, index, rule), {})
            if place not in counts and len(counts) >= _KEYS_PER_RULE:
                least = min(counts, key=counts.__getitem__)
                counts[place] = counts.pop(least)
            counts[place] = counts.get(place, 0) + 1


class KeyCounter:
    """Counts the keys of a table, by the insights modes of it ("") and of its indexes."""

    __slots__ = ("_modes",)

    def __init__(self, modes: dict[str, str]) -> None:
        self._modes = modes

    def used(self, database: Database, table: TableDefinition, place: bytes) -> None:
        """Count a read or write of an item."""
        if self._modes.get("") == _ACCESSED:
            counts = database.part(KeyCounts)
            counts.add(table.id, "", "PKC", _partition(place))
            if table.schema.sort:
                counts.add(table.id, "", "SKC", place)

    def queried(self, database: Database, table: TableDefinition, index: str, place: bytes) -> None:
        """Count a read of a partition of the table or an index."""
        if self._modes.get(index) == _ACCESSED:
            database.part(KeyCounts).add(table.id, index, "PKC", _partition(place))

    def throttled(self, database: Database, table: TableDefinition, place: bytes) -> None:
        """Count a refused write of an item."""
        if "" in self._modes:
            counts = database.part(KeyCounts)
            counts.add(table.id, "", "PKT", _partition(place))
            if table.schema.sort:
                counts.add(table.id, "", "SKT", place)


def _partition(place: bytes) -> bytes:
    return place[: place.index(b"\0\0", HASH_BYTES) + 2]


def top(database: Database, name: str, rule: Rule, index: str, most: int) -> list[tuple[Item, int]]:
    """The most used keys, without those of deleted items."""
    with database.read() as session:
        table = database.catalog.named(session, name)
        schema = table.indexes_by_name[index].schema if index else table.schema
        shown = schema.partition if rule.startswith("PK") else schema.attributes
        found = []
        for place, times in database.part(KeyCounts).top(table.id, index, rule, most):
            if index:
                number = table.indexes_by_name[index].number
                rows = session.entries(table.id, number, place, after(place))
            else:
                rows = session.items(table.id, place, after(place))
            row = next(rows, None)
            if row is not None:
                item = orjson.loads(row[2])
                found.append(({each: item[each] for each in shown}, times))
        return found
