"""The top-level attributes that a condition speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.expressions.ast import (
    And,
    Between,
    Call,
    Compare,
    Condition,
    In,
    Not,
    Operand,
    Or,
    Path,
)


def roots(node: Condition | Operand) -> Iterator[str]:
    """The attribute names at the start of all paths in a bound tree, in order."""
    match node:
        case Path():
            yield node.root
        case And(terms) | Or(terms):
            for term in terms:
                yield from roots(term)
        case Not(term):
            yield from roots(term)
        case Compare(_, left, right):
            yield from roots(left)
            yield from roots(right)
        case Between(operand, low, high):
            for each in (operand, low, high):
                yield from roots(each)
        case In(operand, options):
            for each in (operand, *options):
                yield from roots(each)
        case Call(_, arguments):
            for each in arguments:
                yield from roots(each)
        case _:
            return
