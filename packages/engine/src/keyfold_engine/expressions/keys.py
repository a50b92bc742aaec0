"""Key conditions: the restricted conditions that select a part of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keyfold_engine.errors import RequestInvalid, ValidationError, empty_key, parameter_invalid
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    KeyTerm,
    Not,
    Operand,
    Or,
    Path,
    Placeholder,
    Value,
)
from keyfold_engine.values import AttributeValue

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INDEXABLE = frozenset((*_MIRRORED, "BETWEEN", "begins_with"))


@dataclass(frozen=True, slots=True)
class KeySelection:
    """The keys to read: partition equality, then equal sort attributes, then a range.

    `range` is at most one term, on the sort attribute after the last equal one.
    """

    partition: tuple[AttributeValue, ...]
    sort_equal: tuple[AttributeValue, ...]
    range: KeyTerm | None


# The condition on one attribute: an operator and its operands.
_Said = tuple[str, tuple[Value | Placeholder, ...]]


class KeyCondition:
    """A bound key condition, cached for use with other values of the same types."""

    __slots__ = ("_condition", "_said")

    def __init__(self, condition: Condition) -> None:
        self._condition = condition
        self._said: dict[str, _Said] | None = None

    def terms(self, values: Mapping[str, AttributeValue]) -> dict[str, KeyTerm]:
        """Its terms by attribute name; refuses what DynamoDB refuses."""
        if self._said is None:
            self._said = _by_name(self._condition)
        return {
            name: KeyTerm(
                name,
                operator,
                tuple([o.content if isinstance(o, Value) else values[o.text] for o in operands]),
            )
            for name, (operator, operands) in self._said.items()
        }


def _by_name(condition: Condition) -> dict[str, _Said]:
    found: dict[str, _Said] = {}
    for part in _parts(condition):
        name, said = _term(part)
        if name in found:
            reason = "KeyConditionExpressions must only contain one condition per key"
            raise RequestInvalid(reason, newer=f"Invalid KeyConditionExpression: {reason}")
        found[name] = said
    return found


def select(
    terms: Mapping[str, KeyTerm],
    partition: Sequence[str],
    sort: Sequence[str],
    types: Mapping[str, str],
) -> KeySelection:
    """Fit the terms to a key schema: `partition` and `sort` are its attributes in order."""
    _check_count(terms, len(partition) + len(sort))
    if len(partition) > 1:
        _check_partition_equal(terms, partition)
    for name in partition:
        if name not in terms:
            raise ValidationError(f"Query condition missed key schema element: {name}")
    _check_types(terms, types)
    if not _INDEXABLE.issuperset(term.operator for term in terms.values()):
        raise ValidationError("Attempted conditional constraint is not an indexable operation")
    if any(terms[name].operator != "=" for name in partition):
        raise ValidationError("Query key condition not supported")
    equal: list[AttributeValue] = []
    range_term: KeyTerm | None = None
    used = len(partition)
    for name in sort:
        if name not in terms:
            break
        used += 1
        if terms[name].operator != "=":
            range_term = terms[name]
            break
        equal.append(terms[name].values[0])
    if used < len(terms):
        if len(sort) > 1:
            _refuse_gap(terms, sort)
        unfit = next((name for name in sort if name not in terms), None)
        if unfit is None:
            raise ValidationError("Query key condition not supported")
        raise ValidationError(f"Query condition missed key schema element: {unfit}")
    return KeySelection(
        tuple(terms[name].values[0] for name in partition), tuple(equal), range_term
    )


def _check_count(terms: Mapping[str, KeyTerm], attributes: int) -> None:
    if len(terms) > attributes == 1:
        raise ValidationError("Query key condition not supported")
    if len(terms) > attributes:
        raise RequestInvalid(
            "Conditions can be of length 1 or 2 only",
            newer=f"The number of query conditions ({len(terms)}) exceeds the number of key "
            f"attributes defined in the schema ({attributes})",
        )


def _check_partition_equal(terms: Mapping[str, KeyTerm], partition: Sequence[str]) -> None:
    unequal = _unequal(terms, partition)
    if unequal:
        raise ValidationError(
            f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in "
            "the query"
        )


def _unequal(terms: Mapping[str, KeyTerm], names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in terms or terms[name].operator != "="]


def _refuse_gap(terms: Mapping[str, KeyTerm], sort: Sequence[str]) -> None:
    """Refuse a sort attribute without equality before the last one in use."""
    named = [at for at, name in enumerate(sort) if name in terms]
    if not named:
        return
    before = _unequal(terms, sort[: named[-1]])
    if before:
        raise ValidationError(
            f"RANGE key attributes {', '.join(before)} must have equality conditions specified in "
            f"the query because a condition is present on key attribute {sort[named[-1]]}"
        )


def _check_types(terms: Mapping[str, KeyTerm], types: Mapping[str, str]) -> None:
    for name, term in terms.items():
        if name not in types:
            continue
        for value in term.values:
            kind = next(iter(value))
            if kind != types[name]:
                raise parameter_invalid("Condition parameter type does not match schema type")
            if value[kind] == "" and term.operator == "=":
                raise empty_key(kind, name)


def _parts(node: Condition) -> list[Compare | Between | Function]:
    match node:
        case And(terms):
            return [part for term in terms for part in _parts(term)]
        case Compare(operator) if operator != "<>":
            return [node]
        case Function("begins_with"):
            return [node]
        case Between():
            return [node]
        case Or() | Not() | In():
            refused = type(node).__name__.upper()
        case Compare(operator):
            refused = operator
        case Function(function):
            refused = function
    raise RequestInvalid(f"Invalid operator used in KeyConditionExpression: {refused}")


def _term(part: Compare | Between | Function) -> tuple[str, _Said]:
    match part:
        case Compare(operator, left, right):
            operands: tuple[Operand, ...] = (left, right)
            if isinstance(right, Path) and not isinstance(left, Path):
                operator, operands = _MIRRORED[operator], (right, left)
        case Between(operand, low, high):
            operator, operands = "BETWEEN", (operand, low, high)
        case Function(operator, arguments):
            operands = arguments
    return _build(operator, operands)


def _build(operator: str, operands: tuple[Operand, ...]) -> tuple[str, _Said]:
    if any(isinstance(operand, Function) for operand in operands):
        raise RequestInvalid("KeyConditionExpressions cannot contain nested operations")
    paths = [operand for operand in operands if isinstance(operand, Path)]
    if len(paths) > 1:
        raise RequestInvalid(
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one "
            "condition"
        )
    key = operands[0]
    if not isinstance(key, Path):
        if not paths:
            raise RequestInvalid(
                "Invalid condition in KeyConditionExpression: No key attribute specified"
            )
        raise RequestInvalid(
            f"Invalid condition in KeyConditionExpression: {operator} operator must have the key "
            "attribute as its first operand"
        )
    if len(key.parts) > 1:
        reason = "KeyConditionExpressions cannot have conditions on nested attributes"
        raise RequestInvalid(reason, newer=f"Invalid KeyConditionExpression: {reason}")
    values = tuple(each for each in operands[1:] if isinstance(each, (Value, Placeholder)))
    return key.root, (operator, values)
