"""Which fields of a filter a key could serve."""

from __future__ import annotations

from keyfold.design.condition import fields_of
from keyfold_engine.expressions.ast import And, Between, Compare, Condition, Function, In, Or, Path


def equal_fields(condition: Condition | None) -> list[str]:
    """The fields that a condition compares for equality: a key could serve these."""
    match condition:
        case And(terms):
            return [field for term in terms for field in equal_fields(term)]
        case Compare("=", Path(), _) | In():
            return sorted(fields_of(condition))
    return []


def searched_fields(condition: Condition | None) -> list[str]:
    """The fields in which a condition looks for a text: no key serves these."""
    match condition:
        case And(terms) | Or(terms):
            return sorted({field for term in terms for field in searched_fields(term)})
        case Function("contains", _):
            return sorted(fields_of(condition))
    return []


def ranged_fields(condition: Condition | None) -> list[str]:
    """The fields that a condition compares with bounds: a sort key could serve these."""
    match condition:
        case And(terms) | Or(terms):
            return sorted({field for term in terms for field in ranged_fields(term)})
        case Between() | Compare("<" | "<=" | ">" | ">=", Path(), _):
            return sorted(fields_of(condition))
    return []
