"""The distribution of item sizes: bytes at some quantiles.

A write of 1.1 KB costs two units and one of 0.9 KB costs one, so a mean alone is not enough.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Final

SLICES: Final = 200
"""Items are divided into this many parts of one size each, from small to large."""


@dataclass(frozen=True)
class SizeSpread:
    """Sizes by quantile; between two of them sizes grow geometrically."""

    quantiles: tuple[tuple[float, int], ...]
    """Shares of all items, and the bytes they do not exceed, ascending."""

    @cached_property
    def slices(self) -> tuple[int, ...]:
        return tuple(self._at((part + 0.5) / SLICES) for part in range(SLICES))

    @property
    def mean(self) -> int:
        return round(sum(self.slices) / SLICES)

    def _at(self, share: float) -> int:
        place = bisect_left(self.quantiles, (share, 0))
        if place == 0:
            return self.quantiles[0][1]
        if place == len(self.quantiles):
            return self.quantiles[-1][1]
        (low, small), (high, large) = self.quantiles[place - 1 : place + 1]
        part = (share - low) / (high - low)
        return round(exp(log(small) + part * (log(large) - log(small))))
