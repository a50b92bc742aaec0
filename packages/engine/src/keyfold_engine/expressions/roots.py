"""The paths and top-level attributes that a condition refers to."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
)


def roots(node: Condition | Operand) -> Iterator[str]:
    """The top-level attributes of all paths in a bound tree, in order."""
    return (path.root for path in paths(node))


def paths(node: Condition | Operand) -> Iterator[Path]:
    """All paths in a tree, in order."""
    match node:
        case Path():
            yield node
        case And(terms) | Or(terms):
            for term in terms:
                yield from paths(term)
        case Not(term):
            yield from paths(term)
        case Compare(_, left, right):
            yield from paths(left)
            yield from paths(right)
        case Between(operand, low, high):
            for each in (operand, low, high):
                yield from paths(each)
        case In(operand, options):
            for each in (operand, *options):
                yield from paths(each)
        case Function(_, arguments):
            for each in arguments:
                yield from paths(each)
        case _:
            return
