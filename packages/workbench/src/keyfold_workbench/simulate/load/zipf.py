"""Popularity by Zipf's law: the k-th of n keys gets a share proportional to k^-s."""

from __future__ import annotations

import math
from functools import cache

_EXACT = 2_000
"""This many terms are summed exactly, the rest by an integral (Euler and Maclaurin)."""


@cache
def harmonic(n: float, s: float) -> float:
    """The sum of k^-s for k from 1 to n; n may be billions."""
    if n <= _EXACT:
        return math.fsum(float(k**-s) for k in range(1, max(1, round(n)) + 1))
    head = math.fsum(k**-s for k in range(1, _EXACT))
    a, b = float(_EXACT), float(n)
    tail = math.log(b / a) if abs(s - 1) < 1e-9 else (b ** (1 - s) - a ** (1 - s)) / (1 - s)
    ends = (a**-s + b**-s) / 2 + s * (a ** (-s - 1) - b ** (-s - 1)) / 12
    return float(head + tail + ends)


@cache
def exponent(n: float, hottest: float) -> float:
    """The s for which the first of n keys gets this share."""
    if n <= 1 or hottest >= 1:
        return 0.0
    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        if 1 / harmonic(n, middle) < hottest:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def shares(n: float, s: float, most: int, least: float = 0.0) -> tuple[float, ...]:
    """The shares of the first keys that reach `least`."""
    total = harmonic(n, s)
    found = []
    for rank in range(1, min(most, max(1, round(n))) + 1):
        share = rank**-s / total
        if share < least:
            break
        found.append(share)
    return tuple(found)
