"""How well the wishes of a room's members fit.

Two people are compared in what both of them state: who says nothing about a criterion neither
agrees nor disagrees. Where no two state the same there is no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Any, Literal

from keyfold_systems.search_room.wishes import Span, Voice

Level = Literal["low", "medium", "high", "excellent"]

LEVELS: tuple[tuple[int, Level], ...] = (
    (85, "excellent"),
    (65, "high"),
    (40, "medium"),
    (0, "low"),
)


@dataclass(frozen=True)
class Fit:
    """A score between 0 and 100, what it is called, and why."""

    percent: int
    level: Level
    comment: str


@dataclass(frozen=True)
class Agreement:
    """How far two people agree in one criterion, and how much it matters to them."""

    name: str
    share: float
    weight: float


def fit(voices: Sequence[Voice]) -> Fit | None:
    """The score over all pairs; None where there is nothing to compare."""
    found = [one for pair in combinations(voices, 2) for one in _agreements(*pair)]
    if not found:
        return None
    total = sum(one.weight for one in found)
    if total:
        mean = sum(one.share * one.weight for one in found) / total
    else:
        mean = sum(one.share for one in found) / len(found)
    percent = round(100 * mean)
    level = next(name for least, name in LEVELS if percent >= least)
    return Fit(percent, level, _comment(voices, found))


def _agreements(one: Voice, other: Voice) -> list[Agreement]:
    found = []
    for name in sorted(set(one.wishes) & set(other.wishes)):
        left, right = one.meant(name), other.meant(name)
        if left is not None and right is not None:
            weight = one.weight(name) + other.weight(name)
            found.append(Agreement(name, _share(left, right), weight))
    return found


def _comment(voices: Sequence[Voice], found: Sequence[Agreement]) -> str:
    by_name: dict[str, list[float]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one.share)
    means = {name: sum(shares) / len(shares) for name, shares in by_name.items()}
    best, worst = max(means, key=lambda x: means[x]), min(means, key=lambda x: means[x])
    said = f"You agree most on {best} ({means[best]:.0%})"
    if means[worst] < 1:
        said += f" and least on {worst} ({means[worst]:.0%})"
    alone = sorted({name for voice in voices for name in voice.wishes} - means.keys())
    return f"{said}. Stated by one of you alone: {', '.join(alone)}." if alone else f"{said}."


def _share(left: Any, right: Any) -> float:
    """What two accept in common, as a share of what either accepts."""
    if type(left) is not type(right):
        return 0.0
    if isinstance(left, Span):
        return _shared_span(left, right)
    if isinstance(left, frozenset):
        return len(left & right) / len(left | right)
    return 1.0 if left is right else 0.0


def _shared_span(one: Span, other: Span) -> float:
    """Open below is from 0, open above up to the other's bound; else the lower ends compare.

    One number has no width: it suits the other, or it does not.
    """
    for number, span in ((one, other), (other, one)):
        if number.min is not None and number.min == number.max:
            return 1.0 if (span.min or 0) <= number.min <= _end(span) else 0.0
    lows = one.min or 0.0, other.min or 0.0
    highs = [bound for bound in (one.max, other.max) if bound is not None]
    if not highs:
        return min(lows) / max(lows) if max(lows) else 1.0
    ends = tuple(max(highs) if bound is None else bound for bound in (one.max, other.max))
    shared, whole = min(ends) - max(lows), max(ends) - min(lows)
    if whole <= 0:
        return 1.0
    return max(0.0, shared) / whole


def _end(span: Span) -> float:
    return inf if span.max is None else span.max
