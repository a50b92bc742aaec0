"""The vectors of one HASH value in memory, and their search.

With numpy a first pass in 32 bits leaves the few candidates; without it all are scored. Either way
candidates are scored by one function, so the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from math import dist, sqrt
from operator import mul
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from keyfold_engine.features.vectors.index import FLOAT_BYTES
from keyfold_engine.features.vectors.numbers import F32_MAX, unpacked
from keyfold_engine.values import AttributeValue

if TYPE_CHECKING:
    from keyfold_engine.features.vectors.matrix import Matrix

# Memory of a vector besides its numbers.
_OVERHEAD = 400


class StoredVector(NamedTuple):
    """One entry as stored in the file."""

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
    """The first pass, if numpy is installed."""
    try:
        from keyfold_engine.features.vectors.matrix import Matrix
    except ImportError:
        return None
    return Matrix(dimensions)


class VectorPartition:
    """Vectors that are searched together, from one snapshot of the file."""

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
        """The change number of each row."""
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
        """The nearest neighbours that match the filters, best first, and the bytes examined.

        `hidden` rows are skipped; `others` are used in their place. Equal scores are ordered by
        time of writing.
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
        score = scoring(self._function, unpacked(query))
        sign = 1 if is_better_low(self._function) else -1
        found = [ScoredRow(e.row, score(unpacked(e.vector)), e.vector) for e in (*near, *more)]
        return nsmallest(most, found, key=lambda each: (sign * each.score, each.row)), examined


def _has(filters: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(filters.get(name) == value for name, value in wanted.items())


def size_of(dimensions: int, name: str, rest: int) -> int:
    """The bytes of an entry: the vector counts its name and four bytes per dimension."""
    return len(name.encode()) + FLOAT_BYTES * dimensions + rest


# The distance of two vectors, in DynamoDB's numbers: elements are 32-bit floats, sums use 64 bits,
# and the result is limited to the range of 32.

Floats = Sequence[float]
Score = Callable[[Floats], float]


def scoring(function: str, query: Floats) -> Score:
    """The score of a vector against the query."""
    return _KINDS[function](query)


def is_better_low(function: str) -> bool:
    """Whether a smaller score is nearer."""
    return function != "DOT_PRODUCT"


def _clamp(score: float) -> float:
    return min(max(score, -F32_MAX), F32_MAX)


def _euclidean(query: Floats) -> Score:
    return lambda vector: _clamp(dist(query, vector))


def _dot_product(query: Floats) -> Score:
    return lambda vector: _clamp(sum(map(mul, query, vector)))


def _cosine(query: Floats) -> Score:
    length = sqrt(sum(map(mul, query, query)))

    def score(vector: Floats) -> float:
        both = length * sqrt(sum(map(mul, vector, vector)))
        if not both:
            return 1.0
        if vector == query:
            return 0.0
        return min(max(1.0 - float(sum(map(mul, query, vector))) / both, 0.0), 2.0)

    return score


_KINDS: dict[str, Callable[[Floats], Score]] = {
    "COSINE": _cosine,
    "DOT_PRODUCT": _dot_product,
    "EUCLIDEAN": _euclidean,
}
