"""The first pass of an approximate search, by faiss: searches a few cells of the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from keyfold_engine.engine.vectors.matrix import Matrix

# Below this number, an exact search is as fast.
FROM = 10_000
# The number of cells searched; there are as many as the square root of the number of vectors.
_LOOKED_AT = 16
# Candidates per result that are scored exactly.
_MORE = 4
# Cells trained on fewer vectors than this share are trained again.
_OUTGROWN = 4
_ROUNDS, _SAMPLES = 5, 64
# Missing from its type annotations.
_BY_PLACE = vars(faiss)["DirectMap"].Hashtable


class VectorCells(Matrix):
    """A matrix whose rows are also in cells, once there are many.

    Rows that changed since the last search are assigned to cells by the next. A filtered search
    scans all matches: cells would contain too few of them.
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._index: Any = None
        self._cut_for = self._held = 0
        self._changed: set[int] = set()

    def put(self, place: int, vector: bytes) -> None:
        super().put(place, vector)
        self._changed.add(place)

    def move(self, start: int, end: int) -> None:
        super().move(start, end)
        self._changed.add(end)

    def near(self, function: str, query: bytes, places: Sequence[int], most: int) -> Sequence[int]:
        count = len(places)
        is_whole = isinstance(places, range)
        if not is_whole or count < FROM or not np.isfinite(self._squares[:count]).all():
            return super().near(function, query, places, most)
        if self._index is None or count > _OUTGROWN * self._cut_for:
            self._cut(function, count)
        self._follow(function, count)
        wanted = self._scaled(function, np.frombuffer(query, "<f4").reshape(1, -1))
        _, found = self._index.search(wanted, _MORE * most)
        return [place for place in found[0].tolist() if place >= 0]

    def _cut(self, function: str, count: int) -> None:
        rows = self._scaled(function, self._rows[:count])
        kind = faiss.METRIC_L2 if function == "EUCLIDEAN" else faiss.METRIC_INNER_PRODUCT
        centres = (faiss.IndexFlatL2 if function == "EUCLIDEAN" else faiss.IndexFlatIP)(
            rows.shape[1]
        )
        index = faiss.IndexIVFFlat(centres, rows.shape[1], int(count**0.5), kind)
        index.cp.niter, index.cp.max_points_per_centroid = _ROUNDS, _SAMPLES
        index.nprobe = _LOOKED_AT
        index.train(rows)
        index.set_direct_map_type(_BY_PLACE)
        self._index, self._cut_for, self._held = index, count, 0
        self._changed = set(range(count))

    def _follow(self, function: str, count: int) -> None:
        """Update the cells with changed and deleted rows."""
        gone = range(count, self._held)
        known = [place for place in self._changed if place < self._held]
        if gone or known:
            self._index.remove_ids(np.array([*gone, *known], np.int64))
        places = np.array(sorted(place for place in self._changed if place < count), np.int64)
        if len(places):
            self._index.add_with_ids(self._scaled(function, self._rows[places]), places)
        self._changed.clear()
        self._held = count

    @staticmethod
    def _scaled(function: str, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The rows scaled for comparison by product."""
        scaled = np.array(rows, np.float32, order="C")
        if function == "COSINE":
            faiss.normalize_L2(scaled)
        return scaled
