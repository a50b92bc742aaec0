"""Which conditions exclude each other, as far as that can be proven.

Only how values compare with the constants of both conditions matters. So each constant is tried,
and what lies beside it; what else a condition asks may hold or not.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, Any, Final

from keyfold.design.schema import AttributeSchema, EntitySchema
from keyfold_engine.expressions.ast import (
    And,
    Compare,
    Condition,
    Function,
    Node,
    Not,
    Or,
    Path,
    Value,
    mapped,
    parts,
    paths,
    walk,
)
from keyfold_engine.expressions.evaluate import matches
from keyfold_engine.expressions.text import operand
from keyfold_engine.limits import NUMBER_DIGITS

if TYPE_CHECKING:
    from keyfold.design.entity_spec import EntitySpec

MOST_TRIED: Final = 4096
_NUMBERS = Context(prec=NUMBER_DIGITS, Emin=-130 + NUMBER_DIGITS - 1)
_IT = Path(("it",))
_OF_NO_TYPE: Final = {"M": {"": {"NULL": True}}}
"""Compares with no constant."""
Tried = Mapping[str, Any]
"""A value for each path; None if it is missing."""


def excludes(one: Condition, other: Condition, spec: EntitySpec | EntitySchema) -> bool:
    """Whether no item can satisfy both; False where that cannot be proven."""
    both = And((one, other))
    shared = sorted(set(map(operand, paths(one))) & set(map(operand, paths(other))))
    values = [_values(both, name, spec) for name in shared]
    if prod(map(len, values)) > MOST_TRIED:
        return False
    tried = (dict(zip(shared, some, strict=True)) for some in product(*values))
    return all(_holds(both, some) is False for some in tried)


def _holds(condition: Condition, tried: Tried) -> bool | None:
    """Whether it holds; None if the tried values do not decide it."""
    match condition:
        case Not(term):
            found = _holds(term, tried)
            return None if found is None else not found
        case And(terms) | Or(terms):
            each, decisive = [_holds(term, tried) for term in terms], isinstance(condition, Or)
            unknown = None if None in each else not decisive
            return decisive if decisive in each else unknown
    subject, *given = parts(condition)
    if not isinstance(subject, Path) or operand(subject) not in tried:
        return None
    value = tried[operand(subject)]
    differs = isinstance(condition, Compare) and condition.operator == "<>"
    if any(not isinstance(one, Value) for one in given) or (
        isinstance(condition, Function) and given
    ):
        return False if value is None and not differs else None
    test = mapped(condition, lambda part: _IT if part == subject else part)
    return matches(test, {} if value is None else {"it": value})


def _values(condition: Condition, name: str, spec: EntitySpec | EntitySchema) -> list[Any]:
    """What is tried for a path: the values it is declared to have, or those near constants."""
    field = (spec.by_field if isinstance(spec, EntitySchema) else spec.fields).get(name)
    constants = [*_constants(condition, name)]
    near = [*constants, *chain.from_iterable(map(_beside, constants)), _OF_NO_TYPE]
    if field is None:
        return [None, *near]
    kind = field.type if isinstance(field, AttributeSchema) else field.kind
    wire = "N" if kind in ("number", "integer", "float", "decimal") else "S"
    declared: list[Any] = [{wire: one} for one in field.values]
    if kind == "boolean":
        declared = [{"BOOL": True}, {"BOOL": False}]
    may_miss = field.optional or kind.endswith("_set")
    return [*([None] if may_miss else []), *(declared or near)]


def _constants(node: Node, name: str) -> Iterator[Any]:
    for test in walk(node):
        inner = parts(test)
        if inner and isinstance(inner[0], Path) and operand(inner[0]) == name:
            yield from (one.content for one in inner if isinstance(one, Value))


def _beside(value: Any) -> Iterator[Any]:
    """The values next to a constant, and the least of its type."""
    [(kind, content)] = value.items()
    if kind == "N":
        number = Decimal(content)
        yield {"N": str(_NUMBERS.next_minus(number))}
        yield {"N": str(_NUMBERS.next_plus(number))}
    elif kind == "S":
        yield from ({"S": ""}, {"S": f"{content}\0"})
    elif kind == "B":
        yield from ({"B": ""}, {"B": b64encode(b64decode(content) + b"\0").decode()})
