"""What people look for, how the wishes of several become one, and how well they fit.

A wish that is not stated accepts everything. Three modes combine them:

- `strict`: what everybody accepts: ranges and places intersect, features add up;
- `all`: what somebody accepts: ranges and places unite, only features that all ask for stay;
- `mixed`: the middle: bounds are averaged by weight, places and features stay where at least half
  of the weight asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field, model_validator

from keyfold.api import Payload

Mode = Literal["all", "mixed", "strict"]
Criterion = Literal["price", "rooms", "surface", "locations", "features"]
Level = Literal["low", "medium", "high", "excellent"]
Amount = Annotated[float, Field(ge=0, le=1e9)]
Words = Annotated[set[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=40)]

RANGES: tuple[Criterion, ...] = ("price", "rooms", "surface")
SETS: tuple[Criterion, ...] = ("locations", "features")
CRITERIA: tuple[Criterion, ...] = (*RANGES, *SETS)
LEVELS: tuple[tuple[int, Level], ...] = (
    (85, "excellent"),
    (65, "high"),
    (40, "medium"),
    (0, "low"),
)


class Wishes(Payload):
    """What one person, or a room, looks for."""

    price_min: Amount | None = None
    price_max: Amount | None = None
    rooms_min: Amount | None = None
    rooms_max: Amount | None = None
    surface_min: Amount | None = None
    surface_max: Amount | None = None
    locations: Words = set()
    features: Words = set()

    @model_validator(mode="after")
    def _ordered(self) -> Wishes:
        for name in RANGES:
            low, high = self.range(name)
            if low is not None and high is not None and low > high:
                raise ValueError(f"{name}: the minimum {low:g} is above the maximum {high:g}")
        return self

    def range(self, name: str) -> tuple[float | None, float | None]:
        return getattr(self, f"{name}_min"), getattr(self, f"{name}_max")


@dataclass(frozen=True)
class Voice:
    """One member's wishes and how much each criterion matters to them (1 where not said)."""

    user_id: str
    wishes: Wishes
    weights: Mapping[Criterion, float]

    def weight(self, name: Criterion) -> float:
        return self.weights.get(name, 1.0)


@dataclass(frozen=True)
class Combination:
    wishes: Wishes
    weights: dict[Criterion, float]
    conflicts: tuple[str, ...]
    """Criteria on which nothing suits everybody (strict) and which were therefore left open."""


@dataclass(frozen=True)
class Fit:
    """How well wishes fit: 0 to 100."""

    percent: int
    level: Level
    comment: str


def combine(voices: Sequence[Voice], mode: Mode) -> Combination:
    """The wishes of several people as one."""
    found: dict[str, object] = {}
    conflicts = []
    for name in RANGES:
        low, high = _combined_range(voices, name, mode)
        if low is not None and high is not None and low > high:
            conflicts.append(name)
            continue
        found[f"{name}_min"], found[f"{name}_max"] = low, high
    places = _places(voices, mode)
    if mode == "strict" and not places and any(v.wishes.locations for v in voices):
        conflicts.append("locations")
    found["locations"], found["features"] = places, _demands(voices, mode)
    weights = {
        name: round(sum(v.weight(name) for v in voices) / len(voices), 3) for name in CRITERIA
    }
    return Combination(Wishes.model_validate(found), weights, tuple(conflicts))


def fit(voices: Sequence[Voice]) -> Fit:
    """How well the wishes of a room's members fit, averaged over all pairs."""
    if len(voices) < 2:
        return Fit(100, "excellent", "One person agrees with themselves.")
    scores = {name: _agreement(voices, name) for name in CRITERIA}
    weights = {name: sum(v.weight(name) for v in voices) for name in CRITERIA}
    total = sum(weights.values())
    mean = sum(scores[n] * weights[n] for n in CRITERIA) / total if total else 1.0
    percent = round(100 * mean)
    level = next(name for least, name in LEVELS if percent >= least)
    best = max(CRITERIA, key=lambda name: scores[name])
    worst = min(CRITERIA, key=lambda name: scores[name])
    comment = f"You agree most on {best} ({scores[best]:.0%})"
    if scores[worst] < 1:
        comment += f" and least on {worst} ({scores[worst]:.0%})"
    return Fit(percent, level, f"{comment}.")


def _combined_range(
    voices: Sequence[Voice], name: Criterion, mode: Mode
) -> tuple[float | None, float | None]:
    lows = [(v.wishes.range(name)[0], v.weight(name)) for v in voices]
    highs = [(v.wishes.range(name)[1], v.weight(name)) for v in voices]
    if mode == "strict":
        return _extreme(lows, max), _extreme(highs, min)
    if mode == "all":
        # An open bound accepts everything on its side.
        low = None if any(b is None for b, _ in lows) else _extreme(lows, min)
        return low, None if any(b is None for b, _ in highs) else _extreme(highs, max)
    return _mean(lows), _mean(highs)


def _extreme(
    bounds: Iterable[tuple[float | None, float]], choose: Callable[[list[float]], float]
) -> float | None:
    given = [bound for bound, _ in bounds if bound is not None]
    return choose(given) if given else None


def _mean(bounds: Iterable[tuple[float | None, float]]) -> float | None:
    given = [(bound, weight) for bound, weight in bounds if bound is not None]
    total = sum(weight for _, weight in given)
    return round(sum(b * w for b, w in given) / total, 2) if total else None


def _places(voices: Sequence[Voice], mode: Mode) -> set[str]:
    """The places to look in; nobody's list is open to all places, and so is somebody's absence."""
    stated = [v for v in voices if v.wishes.locations]
    if not stated or (mode == "all" and len(stated) < len(voices)):
        return set()
    if mode == "mixed":
        return _majority(stated, "locations")
    sets = [v.wishes.locations for v in stated]
    return set.intersection(*sets) if mode == "strict" else set.union(*sets)


def _demands(voices: Sequence[Voice], mode: Mode) -> set[str]:
    """The features to ask for; who states none asks for none."""
    if mode == "mixed":
        return _majority(voices, "features")
    sets = [v.wishes.features for v in voices]
    return set.union(*sets) if mode == "strict" else set.intersection(*sets)


def _majority(voices: Sequence[Voice], name: Criterion) -> set[str]:
    """The words that at least half of the weight asks for."""
    support: dict[str, float] = {}
    for voice in voices:
        for word in getattr(voice.wishes, name):
            support[word] = support.get(word, 0.0) + voice.weight(name)
    total = sum(voice.weight(name) for voice in voices)
    return {word for word, weight in support.items() if 2 * weight >= total}


def _agreement(voices: Sequence[Voice], name: Criterion) -> float:
    pairs = list(combinations(voices, 2))
    compare = _overlap_of_sets if name in SETS else _overlap_of_ranges
    return sum(compare(a.wishes, b.wishes, name) for a, b in pairs) / len(pairs)


def _overlap_of_sets(one: Wishes, other: Wishes, name: str) -> float:
    left, right = getattr(one, name), getattr(other, name)
    if not left or not right:
        return 1.0
    return len(left & right) / len(left | right)


def _overlap_of_ranges(one: Wishes, other: Wishes, name: str) -> float:
    """The shared part of two ranges as a share of both; an open end takes the other's bound."""
    (a, b), (c, d) = one.range(name), other.range(name)
    low = [x for x in (a, c) if x is not None]
    high = [x for x in (b, d) if x is not None]
    floor, ceiling = min(low, default=0.0), max(high, default=max(low, default=0.0))
    left = (a if a is not None else floor, b if b is not None else ceiling)
    right = (c if c is not None else floor, d if d is not None else ceiling)
    shared = min(left[1], right[1]) - max(left[0], right[0])
    whole = max(left[1], right[1]) - min(left[0], right[0])
    if whole <= 0:
        return 1.0
    return max(0.0, shared) / whole
