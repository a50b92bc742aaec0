"""What people look for: criteria under names of their own, and what each matters.

A criterion is a span, `{"min": 3}`; a number; a word or several, any of which will do; or yes or
no, for what a home must or must not have. Whatever else is stored is shown and not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema

from keyfold_web import Payload

MOST_CRITERIA = 40
MOST_WORDS = 40
LONGEST_WORD = 60
LARGEST = 1e9
MOST_BYTES = 12_000
"""So that what thirty members state is one page of a query, and combines into one item."""

Bound = Annotated[int | float | None, Field(exclude_if=lambda bound: bound is None)]


class Span(Payload):
    """At least, at most, or both."""

    min: Bound = None
    max: Bound = None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "yesOrNo"
    if isinstance(value, str):
        return "word"
    if isinstance(value, Span) or (isinstance(value, dict) and value.keys() <= {"min", "max"}):
        return "span"
    if isinstance(value, list | set | tuple) and all(isinstance(one, str) for one in value):
        return "words"
    try:
        float(value)
    except (TypeError, ValueError):
        return "other"
    return "number"


Wish: TypeAlias = Annotated[
    Annotated[bool, Tag("yesOrNo")]
    | Annotated[int | float, Tag("number")]
    | Annotated[str, Tag("word")]
    | Annotated[list[str], Tag("words")]
    | Annotated[Span, Tag("span")]
    | Annotated[Any, Tag("other")],
    Discriminator(_kind),
    # One of several, and what others stored may be anything.
    WithJsonSchema({"description": "A span {min, max}, a number, words, or yes or no."}),
]
Wishes: TypeAlias = dict[str, Wish]
Weights: TypeAlias = dict[str, float]


def _stated(given: Wishes) -> Wishes:
    criteria = {name.strip(): _stripped(wish) for name, wish in given.items()}
    for name, wish in criteria.items():
        if not name or len(name) > LONGEST_WORD or "#" in name:
            raise ValueError(f"a criterion has a name of 1 to {LONGEST_WORD} characters without #")
        problem = _problem(wish)
        if problem:
            raise ValueError(f"{name}: {problem}")
    if sum(map(_size, criteria, criteria.values())) > MOST_BYTES:
        raise ValueError(f"this is too much; state less than {MOST_BYTES:,} bytes")
    return criteria


def _stripped(wish: Wish) -> Wish:
    """What a user types, without the blanks around it; blanks alone are refused."""
    if isinstance(wish, str):
        return wish.strip()
    if isinstance(wish, list) and all(isinstance(one, str) for one in wish):
        return [one.strip() for one in wish]
    return wish


def _size(name: str, wish: Wish) -> int:
    """About how many bytes a criterion takes with its weight, which repeats the name."""
    words = [wish] if isinstance(wish, str) else wish if isinstance(wish, list) else []
    return 2 * len(name.encode()) + sum(len(word.encode()) + 3 for word in words) + 50


def _problem(wish: Any) -> str:
    """Why this cannot be stated; empty where it can."""
    if isinstance(wish, bool):
        return ""
    if isinstance(wish, Span):
        low, high = wish.min, wish.max
        bounds = [bound for bound in (low, high) if bound is not None]
        if not bounds:
            return "say a min, a max or both"
        if low is not None and high is not None and low > high:
            return f"the minimum {low:g} is above the maximum {high:g}"
        return next((said for said in map(_problem, bounds) if said), "")
    if isinstance(wish, int | float):
        return "" if 0 <= wish <= LARGEST else f"say a number from 0 to {LARGEST:,.0f}"
    if isinstance(wish, str):
        wish = [wish]
    if not isinstance(wish, list) or not all(isinstance(one, str) for one in wish):
        return "say a number, {min, max}, a word, several words, or yes or no"
    if not 1 <= len(wish) <= MOST_WORDS or not all(1 <= len(x) <= LONGEST_WORD for x in wish):
        return f"say 1 to {MOST_WORDS} words of 1 to {LONGEST_WORD} characters"
    return ""


Stated: TypeAlias = Annotated[Wishes, Field(max_length=MOST_CRITERIA), AfterValidator(_stated)]
"""Criteria as a caller may state them."""


@dataclass(frozen=True)
class Voice:
    """One member's wishes and how much each criterion matters to them (1 where not said)."""

    user_id: str
    wishes: Mapping[str, Any]
    weights: Mapping[str, float] = field(default_factory=dict)

    def weight(self, name: str) -> float:
        return self.weights.get(name, 1.0)

    def meant(self, name: str) -> Span | frozenset[str] | bool | None:
        """What they state, as it compares: one number is a span, one word a set."""
        wish = self.wishes.get(name)
        if isinstance(wish, bool):
            return wish
        if isinstance(wish, Span):
            return None if wish == Span() else wish
        if isinstance(wish, int | float):
            return Span(min=wish, max=wish)
        if isinstance(wish, str):
            return frozenset([wish])
        if isinstance(wish, list) and wish and all(isinstance(one, str) for one in wish):
            return frozenset(wish)
        return None
