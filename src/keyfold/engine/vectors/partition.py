"""The vectors of one HASH value in memory, and the search among them.

With numpy a first pass in 32 bits leaves the few that can be among the nearest; without it all are
looked at. Either way those that are left are scored by `scores`, so the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from keyfold.engine.vectors import scores
from keyfold.engine.vectors.index import FLOAT_BYTES
from keyfold.engine.vectors.numbers import unpacked
from keyfold.values import AttributeValue

if TYPE_CHECKING:
    from keyfold.engine.vectors.matrix import Matrix

# What a vector takes beside its numbers.
_OVERHEAD = 400


class StoredVector(NamedTuple):
    """One entry as it lies in the file."""

    change: int
    row: int
    size: int
    filters: Mapping[str, AttributeValue]
    vector: bytes


class ScoredRow(NamedTuple):
    row: int
    score: float
    vector: bytes


def matrix(dimensions: int) -> Matrix | None:
    """What makes the first pass, where numpy is installed."""
    try:
        from keyfold.engine.vectors.matrix import Matrix
    except ImportError:
        return None
    return Matrix(dimensions)


class VectorPartition:
    """Vectors that are searched together, as one snapshot of the file has them."""

    def __init__(self, function: str, matrix: Matrix | None) -> None:
        self._function, self._matrix = function, matrix
        self._entries: list[StoredVector] = []
        self._places: dict[int, int] = {}
        self._size = 0
        self.lock = Lock()
        self.last = 0
        """The newest change among them."""
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def changes(self) -> dict[int, int]:
        """The change that each row came with."""
        return {each.row: each.change for each in self._entries}

    def put(self, entry: StoredVector) -> None:
        place = self._places.setdefault(entry.row, len(self._entries))
        if place == len(self._entries):
            self._entries.append(entry)
            self._size += entry.size
            self.bytes += 2 * len(entry.vector) + _OVERHEAD
        else:
            self._size += entry.size - self._entries[place].size
            self._entries[place] = entry
        if self._matrix is not None:
            self._matrix.put(place, entry.vector)
        self.last = max(self.last, entry.change)

    def remove(self, row: int) -> None:
        place = self._places.pop(row)
        self._size -= self._entries[place].size
        last = self._entries.pop()
        self.bytes -= 2 * len(last.vector) + _OVERHEAD
        if last.row != row:
            self._entries[place], self._places[last.row] = last, place
            if self._matrix is not None:
                self._matrix.move(len(self._entries), place)

    def search(
        self,
        query: bytes,
        most: int,
        wanted: Mapping[str, AttributeValue],
        hidden: frozenset[int] = frozenset(),
        others: Iterable[StoredVector] = (),
    ) -> tuple[list[ScoredRow], int]:
        """The nearest that have the wanted filters, best first, and the bytes of all looked at.

        Rows that are `hidden` are passed over; `others` are looked at in their place. Of equal
        scores the one that was written first comes first.
        """
        entries = self._entries
        places: Sequence[int] = range(len(entries))
        examined = self._size
        if wanted or hidden:
            places = [
                place
                for place, entry in enumerate(entries)
                if entry.row not in hidden and _has(entry.filters, wanted)
            ]
            examined = sum(entries[place].size for place in places)
        more = [entry for entry in others if _has(entry.filters, wanted)]
        examined += sum(entry.size for entry in more)
        if self._matrix is not None:
            places = self._matrix.near(self._function, query, places, most)
        near = [entries[place] for place in places]
        score = scores.scoring(self._function, unpacked(query))
        sign = 1 if scores.is_better_low(self._function) else -1
        found = [ScoredRow(e.row, score(unpacked(e.vector)), e.vector) for e in (*near, *more)]
        return nsmallest(most, found, key=lambda each: (sign * each.score, each.row)), examined


def _has(filters: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(filters.get(name) == value for name, value in wanted.items())


def size_of(dimensions: int, name: str, rest: int) -> int:
    """Bytes of an entry: the vector counts for its name and four bytes a dimension."""
    return len(name.encode()) + FLOAT_BYTES * dimensions + rest
