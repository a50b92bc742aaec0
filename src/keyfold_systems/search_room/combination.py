"""How the wishes of several become one.

Who does not state a criterion accepts everything in it. Three modes combine:

- `strict`: what everybody accepts: spans and words intersect, what anybody must have is had;
- `all`: what somebody accepts: spans and words unite; only what all state narrows the search;
- `mixed`: the middle: bounds are averaged by weight, words and musts stay where at least half of
  the weight asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from keyfold_systems.search_room.wishes import Span, Voice, Weights, Wishes

Mode = Literal["all", "mixed", "strict"]
Said = Sequence[tuple[Voice, Any]]


@dataclass(frozen=True)
class Combination:
    """Several wishes as one, and the criteria on which nothing suits everybody."""

    wishes: Wishes
    weights: Weights
    conflicts: tuple[str, ...] = ()


def combine(voices: Sequence[Voice], mode: Mode) -> Combination:
    """One set of wishes for all; a criterion that suits nobody is left open and named."""
    wishes: Wishes = {}
    weights: Weights = {}
    conflicts: list[str] = []
    for name in sorted({name for voice in voices for name in voice.wishes}):
        said = [(v, meant) for v in voices if (meant := v.meant(name)) is not None]
        if not said:
            continue
        weights[name] = round(sum(v.weight(name) for v, _ in said) / len(said), 3)
        if len({type(meant) for _, meant in said}) > 1:
            conflicts.append(name)
            continue
        if mode == "all" and len(said) < len(voices):
            continue
        found = _COMBINED[type(said[0][1])](voices, said, name, mode)
        if found is not None:
            wishes[name] = found
        elif mode == "strict":
            conflicts.append(name)
    return Combination(wishes, weights, tuple(conflicts))


def _spans(_: Sequence[Voice], said: Said, name: str, mode: Mode) -> Span | None:
    lows = [(span.min, voice.weight(name)) for voice, span in said]
    highs = [(span.max, voice.weight(name)) for voice, span in said]
    if mode == "strict":
        low, high = _extreme(lows, max), _extreme(highs, min)
        return None if low is not None and high is not None and low > high else _span(low, high)
    if mode == "all":
        # An open bound accepts everything on its side.
        low = None if any(b is None for b, _ in lows) else _extreme(lows, min)
        return _span(low, None if any(b is None for b, _ in highs) else _extreme(highs, max))
    return _span(_mean(lows), _mean(highs))


def _words(_: Sequence[Voice], said: Said, name: str, mode: Mode) -> list[str] | None:
    sets = [words for _, words in said]
    if mode == "strict":
        found = frozenset.intersection(*sets)
    elif mode == "all":
        found = frozenset.union(*sets)
    else:
        total = sum(voice.weight(name) for voice, _ in said)
        found = frozenset(
            word
            for word in frozenset.union(*sets)
            if 2 * sum(voice.weight(name) for voice, words in said if word in words) >= total
        )
    return sorted(found) or None


def _musts(voices: Sequence[Voice], said: Said, name: str, mode: Mode) -> bool | None:
    if mode != "mixed":
        answers = {must for _, must in said}
        return answers.pop() if len(answers) == 1 else None
    total = sum(voice.weight(name) for voice in voices)
    for must in (True, False):
        if 2 * sum(voice.weight(name) for voice, one in said if one is must) >= total:
            return must
    return None


_COMBINED: dict[type, Callable[[Sequence[Voice], Said, str, Mode], Any]] = {
    Span: _spans,
    frozenset: _words,
    bool: _musts,
}


def _span(low: float | None, high: float | None) -> Span | None:
    return None if low is None and high is None else Span(min=_plain(low), max=_plain(high))


def _plain(bound: float | None) -> float | None:
    return int(bound) if bound is not None and bound == int(bound) else bound


def _extreme(
    bounds: Iterable[tuple[float | None, float]], choose: Callable[[list[float]], float]
) -> float | None:
    given = [bound for bound, _ in bounds if bound is not None]
    return choose(given) if given else None


def _mean(bounds: Iterable[tuple[float | None, float]]) -> float | None:
    given = [(bound, weight) for bound, weight in bounds if bound is not None]
    total = sum(weight for _, weight in given)
    return round(sum(b * w for b, w in given) / total, 2) if total else None
