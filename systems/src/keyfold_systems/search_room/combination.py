"""How the wishes of several become one.

Who does not state a criterion accepts everything in it. Three modes combine:

- `strict`: what everybody accepts: spans and words intersect, what anybody must have is had;
- `all`: what somebody accepts: spans and words unite; only what all state narrows the search;
- `mixed`: the middle: bounds are averaged by weight, words and musts stay where at least half of
  the weight asks for them. Where nobody gives a criterion any weight, all count the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from keyfold_systems.search_room.wishes import Span, Voice, Weights, Wishes

Mode = Literal["all", "mixed", "strict"]
Said = Sequence[tuple[float, Any]]
"""What those who state a criterion say, each with its weight."""


class Opposed(Exception):
    """Nothing suits everybody."""


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
        said = [(v.weight(name), meant) for v in voices if (meant := v.meant(name)) is not None]
        if not said:
            continue
        weights[name] = round(sum(weight for weight, _ in said) / len(said), 3)
        if not weights[name]:
            said = [(1.0, meant) for _, meant in said]
        try:
            found = _combined(said, len(voices) - len(said), mode)
        except Opposed:
            conflicts.append(name)
            continue
        if found is not None:
            wishes[name] = found
    return Combination(wishes, weights, tuple(conflicts))


def _combined(said: Said, silent: int, mode: Mode) -> Any:
    """What is said of one criterion as one, None where it stays open; others say nothing of it."""
    kinds = {type(meant) for _, meant in said}
    if len(kinds) > 1:
        raise Opposed
    if mode == "all" and silent:
        return None
    return _KINDS[kinds.pop()](said, silent, mode)


def _spans(said: Said, _: int, mode: Mode) -> Span | None:
    lows = [(weight, span.min) for weight, span in said]
    highs = [(weight, span.max) for weight, span in said]
    if mode == "all":
        # An open bound accepts everything on its side.
        low = None if any(b is None for _, b in lows) else _extreme(lows, min)
        return _span(low, None if any(b is None for _, b in highs) else _extreme(highs, max))
    if mode == "strict":
        return _span(_extreme(lows, max), _extreme(highs, min))
    return _span(_mean(lows), _mean(highs))


def _words(said: Said, _: int, mode: Mode) -> list[str] | None:
    sets = [words for _, words in said]
    if mode == "all":
        return sorted(frozenset.union(*sets))
    if mode == "strict":
        found = frozenset.intersection(*sets)
        if not found:
            raise Opposed
        return sorted(found)
    half = sum(weight for weight, _ in said) / 2
    named = frozenset.union(*sets)
    return (
        sorted(
            word for word in named if sum(weight for weight, words in said if word in words) >= half
        )
        or None
    )


def _musts(said: Said, silent: int, mode: Mode) -> bool | None:
    answers = {must for _, must in said}
    if mode == "strict" and len(answers) > 1:
        raise Opposed
    if mode != "mixed":
        return answers.pop() if len(answers) == 1 else None
    yes, no = (sum(weight for weight, must in said if must is one) for one in (True, False))
    if yes == no:
        raise Opposed
    # Each of those who say nothing weighs 1.
    return yes > no if 2 * max(yes, no) >= yes + no + silent else None


_KINDS: dict[type, Callable[[Said, int, Mode], Any]] = {
    Span: _spans,
    frozenset: _words,
    bool: _musts,
}


def _span(low: float | None, high: float | None) -> Span | None:
    if low is not None and high is not None and low > high:
        raise Opposed
    return None if low is None and high is None else Span(min=_plain(low), max=_plain(high))


def _plain(bound: float | None) -> float | None:
    return int(bound) if bound is not None and bound == int(bound) else bound


def _extreme(
    bounds: Iterable[tuple[float, float | None]], choose: Callable[[list[float]], float]
) -> float | None:
    given = [bound for _, bound in bounds if bound is not None]
    return choose(given) if given else None


def _mean(bounds: Iterable[tuple[float, float | None]]) -> float | None:
    given = [(weight, bound) for weight, bound in bounds if bound is not None]
    total = sum(weight for weight, _ in given)
    return round(sum(weight * bound for weight, bound in given) / total, 2) if total else None
