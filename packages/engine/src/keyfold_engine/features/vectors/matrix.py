"""The first pass of an exact search, in numpy: candidates for the nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FIRST_ROOM = 64
# The rounding error of 32 bits, relative to the largest number.
_ROUNDING = 1e-5


class Matrix:
    """Vectors as the rows of one array."""

    def __init__(self, dimensions: int) -> None:
        self._rows: NDArray[np.float32] = np.zeros((_FIRST_ROOM, dimensions), np.float32)
        self._squares: NDArray[np.float32] = np.zeros(_FIRST_ROOM, np.float32)

    def put(self, place: int, vector: bytes) -> None:
        if place >= len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
            self._squares = np.concatenate((self._squares, np.zeros_like(self._squares)))
        row = np.frombuffer(vector, "<f4")
        self._rows[place] = row
        with np.errstate(over="ignore"):
            self._squares[place] = row @ row

    def move(self, start: int, end: int) -> None:
        self._rows[end], self._squares[end] = self._rows[start], self._squares[start]

    def near(self, function: str, query: bytes, places: Sequence[int], most: int) -> Sequence[int]:
        wanted = 2 * most
        if len(places) <= wanted:
            return places
        # Without a filter all rows are used without copying.
        chosen = slice(len(places)) if isinstance(places, range) else np.array(places, np.intp)
        rows, squares = self._rows[chosen], self._squares[chosen]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            far = -(rows @ np.frombuffer(query, "<f4"))
            if function == "EUCLIDEAN":
                far = squares + 2 * far
            elif function == "COSINE":
                far = np.where(squares > 0, far / np.sqrt(squares), 0)
        # Rows that 32 bits cannot tell apart are all scored again.
        if not np.isfinite(far).all():
            return places
        last = np.partition(far, wanted - 1)[wanted - 1]
        scale = np.abs(far).max(initial=0.0)
        if function == "EUCLIDEAN":
            scale = max(scale, squares.max(initial=0.0))
        kept: list[int] = np.flatnonzero(far <= last + scale * _ROUNDING).tolist()
        return [places[at] for at in kept]
