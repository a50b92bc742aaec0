"""Which fields of a filter a key could serve."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Or,
    Path,
)


def equal_fields(condition: Condition | None) -> list[str]:
    """The fields that a condition compares for equality: a key could serve these."""
    match condition:
        case And(terms):
            return [field for term in terms for field in equal_fields(term)]
        case Compare("=", Path(), _) | In():
            return sorted(fields_of(condition))
    return []


def other_fields(condition: Condition | None) -> tuple[list[str], list[str]]:
    """The fields compared with bounds, which a sort key could serve; those searched for a text."""
    ranged, searched = set[str](), set[str]()
    for term in _terms(condition):
        match term:
            case Between() | Compare("<" | "<=" | ">" | ">=", Path(), _):
                ranged |= fields_of(term)
            case Function("contains", _):
                searched |= fields_of(term)
    return sorted(ranged), sorted(searched)


def _terms(condition: Condition | None) -> Iterator[Condition]:
    if isinstance(condition, And | Or):
        for term in condition.terms:
            yield from _terms(term)
    elif condition is not None:
        yield condition
