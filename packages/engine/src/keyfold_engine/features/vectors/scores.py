"""The distance of two vectors, in DynamoDB's numbers.

Elements are 32-bit floats; sums use 64 bits, and the result is limited to the range of 32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import dist, sqrt
from operator import mul

from keyfold_engine.features.vectors.numbers import F32_MAX

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
