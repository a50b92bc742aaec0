"""Reduces a failing seed to as few faults as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keyfold.testing.deterministic.backend import Fate

Met = tuple[str, int, Fate]
Calm = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Shrunk:
    """The faults that are still needed, and how many runs that took."""

    needed: tuple[Met, ...]
    calm: Calm
    runs: int


def shrink(fails: Callable[[Calm], Sequence[Met] | None], most: int = 200) -> Shrunk | None:
    """Remove faults while it still fails; None if it does not fail at all.

    `fails` runs the seed without faults for some requests, and returns the faults that occurred, or
    None on success.
    """
    met = fails(frozenset())
    runs = 1
    if met is None:
        return None
    calm: Calm = frozenset()
    size = max(1, len(met) // 2)
    while runs < most:
        progress = False
        for start in range(0, len(met), size):
            chosen = frozenset((name, number) for name, number, _ in met[start : start + size])
            runs += 1
            fewer = fails(calm | chosen)
            if fewer is not None:
                calm, met, progress = calm | chosen, fewer, True
                break
            if runs >= most:
                break
        if not progress:
            if size == 1:
                break
            size = max(1, size // 2)
        else:
            size = min(size, max(1, len(met) // 2))
    return Shrunk(tuple(met), calm, runs)
