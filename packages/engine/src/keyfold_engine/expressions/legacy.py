"""Legacy parameters, read into the same trees.

Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter with ConditionalOperator, and
AttributesToGet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyfold_engine.errors import INVALID_PARAMETER as _INVALID
from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    And,
    Between,
    Compare,
    Condition,
    DeleteAction,
    Function,
    In,
    KeyTerm,
    Not,
    Or,
    Path,
    Projection,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
)
from keyfold_engine.limits import INDEX_KEY_ATTRIBUTES
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.key_order import sort_key
from keyfold_engine.values.wire import check_name, check_value

_SCALARS = ("S", "N", "B")
_SETS = ("SS", "NS", "BS")

_COMPARATORS = {"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
_ONE_VALUE = frozenset((*_COMPARATORS, "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH"))
_NO_VALUE = frozenset(("NULL", "NOT_NULL"))

# The types of value each operator takes; EQ and NE take all.
_TYPES: dict[str, Sequence[str]] = {
    **dict.fromkeys(("LE", "LT", "GE", "GT", "BETWEEN", "IN"), _SCALARS),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), _SCALARS),
    "BEGINS_WITH": ("S", "B"),
}


def expected_condition(request: Mapping[str, Any]) -> Condition | None:
    """The condition that Expected states."""
    given: Mapping[str, Any] | None = request.get("Expected")
    _check_operator(request, given)
    if not given:
        return None
    terms = [_expectation(name, entry) for name, entry in given.items()]
    return _join(request, terms)


def filter(request: Mapping[str, Any]) -> Condition | None:
    """The condition that QueryFilter or ScanFilter states."""
    given = request.get("QueryFilter") or request.get("ScanFilter")
    if not given:
        return None
    terms = [
        _condition(name, entry["ComparisonOperator"], _checked_list(entry))
        for name, entry in given.items()
    ]
    return _join(request, terms)


def key_conditions(request: Mapping[str, Any]) -> dict[str, KeyTerm] | None:
    """The terms that KeyConditions states, by attribute name."""
    given = request.get("KeyConditions")
    if given is None:
        return None
    terms = {}
    for name, entry in given.items():
        operator, values = entry["ComparisonOperator"], _checked_list(entry)
        _check_condition(operator, values)
        terms[name] = KeyTerm(name, _key_operator(operator), tuple(values))
    if not 1 <= len(terms) <= 2 * INDEX_KEY_ATTRIBUTES:
        raise RequestInvalid("Conditions can be of length 1 or 2 only")
    return terms


def attribute_updates(request: Mapping[str, Any]) -> UpdateActions | None:
    """The update that AttributeUpdates states."""
    given = request.get("AttributeUpdates")
    if given is None:
        return None
    for name in given:
        check_name(name)
    actions = tuple(_action(name, entry) for name, entry in given.items())
    return UpdateActions(actions, "Type mismatch for attribute to update")


def attributes_to_get(request: Mapping[str, Any]) -> Projection | None:
    """The projection that AttributesToGet states."""
    names = request.get("AttributesToGet")
    if names is None:
        return None
    seen = set()
    for name in names:
        check_name(name)
        if name in seen:
            raise RequestInvalid(f"{_INVALID}Duplicate value in attribute name: {name}")
        seen.add(name)
    return tuple(Path((name,)) for name in names)


def _check_operator(request: Mapping[str, Any], expected: Mapping[str, Any] | None) -> None:
    if request.get("ConditionalOperator") is None:
        return
    conditions = expected or request.get("QueryFilter") or request.get("ScanFilter")
    if not conditions:
        raise RequestInvalid("ConditionalOperator cannot be used without Filter or Expected")
    if len(conditions) < 2:
        raise RequestInvalid(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        )


def _join(request: Mapping[str, Any], terms: list[Condition]) -> Condition:
    if len(terms) == 1:
        return terms[0]
    return Or(tuple(terms)) if request.get("ConditionalOperator") == "OR" else And(tuple(terms))


def _checked_list(entry: Mapping[str, Any]) -> list[AttributeValue]:
    return [check_value(value) for value in entry.get("AttributeValueList") or ()]


def _expectation(name: str, entry: Mapping[str, Any]) -> Condition:
    value, values = entry.get("Value"), entry.get("AttributeValueList")
    operator, exists = entry.get("ComparisonOperator"), entry.get("Exists")
    if value is not None and values is not None:
        raise RequestInvalid(
            f"{_INVALID}Value and AttributeValueList cannot be used together for Attribute: {name}"
        )
    if operator is None:
        if values is not None:
            raise RequestInvalid(
                f"{_INVALID}AttributeValueList can only be used with a ComparisonOperator for "
                f"Attribute: {name}"
            )
        return _existence(name, exists, value)
    if exists is not None:
        raise RequestInvalid(
            f"{_INVALID}Exists and ComparisonOperator cannot be used together for Attribute: {name}"
        )
    if operator not in _NO_VALUE and value is None and values is None:
        raise RequestInvalid(
            f"{_INVALID}Value or AttributeValueList must be used with ComparisonOperator: "
            f"{operator} for Attribute: {name}"
        )
    given = [value] if value is not None else values or []
    return _condition(name, operator, [check_value(each) for each in given])


def _existence(name: str, exists: bool | None, value: AttributeValue | None) -> Condition:
    if exists is False:
        if value is not None:
            raise RequestInvalid(
                f"{_INVALID}Value cannot be used when Exists is false for Attribute: {name}"
            )
        return Function("attribute_not_exists", (Path((name,)),))
    if value is None:
        shown = "null" if exists is None else "true"
        raise RequestInvalid(
            f"{_INVALID}Value must be provided when Exists is {shown} for Attribute: {name}"
        )
    return Compare("=", Path((name,)), Value(check_value(value)))


def _condition(name: str, operator: str, values: list[AttributeValue]) -> Condition:
    _check_condition(operator, values)
    path = Path((name,))
    operands = tuple(map(Value, values))
    match operator:
        case "NULL":
            return Function("attribute_not_exists", (path,))
        case "NOT_NULL":
            return Function("attribute_exists", (path,))
        case "CONTAINS":
            return Function("contains", (path, operands[0]))
        case "NOT_CONTAINS":
            # False for an item without the attribute, where NE is true.
            absent = Function("attribute_not_exists", (path,))
            return Not(Or((absent, Function("contains", (path, operands[0])))))
        case "BEGINS_WITH":
            return Function("begins_with", (path, operands[0]))
        case "IN":
            return In(path, operands)
        case "BETWEEN":
            return Between(path, operands[0], operands[1])
        case _:
            return Compare(_COMPARATORS[operator], path, operands[0])


def _check_condition(operator: str, values: list[AttributeValue]) -> None:
    if not _right_count(operator, len(values)):
        raise RequestInvalid(
            f"{_INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator"
        )
    kinds = [next(iter(value)) for value in values]
    if len(set(kinds)) > 1:
        raise RequestInvalid(
            f"{_INVALID}AttributeValues inside AttributeValueList must be of same type"
        )
    for kind in kinds:
        if operator in _TYPES and kind not in _TYPES[operator]:
            raise RequestInvalid(
                f"{_INVALID}ComparisonOperator {operator} is not valid for {kind} AttributeValue "
                "type"
            )
    if operator == "BETWEEN" and sort_key(values[0]) > sort_key(values[1]):
        raise RequestInvalid(
            "The BETWEEN condition was provided a range where the lower bound is greater than the "
            "upper bound"
        )


def _right_count(operator: str, count: int) -> bool:
    if operator in _NO_VALUE:
        return count == 0
    if operator in _ONE_VALUE:
        return count == 1
    return count == 2 if operator == "BETWEEN" else count > 0


def _key_operator(operator: str) -> str:
    if operator == "BETWEEN":
        return operator
    if operator == "BEGINS_WITH":
        return "begins_with"
    return _COMPARATORS.get(operator, operator)


def _action(name: str, entry: Mapping[str, Any]) -> Action:
    action, value = entry.get("Action") or "PUT", entry.get("Value")
    path = Path((name,))
    if value is None:
        if action != "DELETE":
            raise RequestInvalid(
                f"{_INVALID}Only DELETE action is allowed when no attribute value is specified"
            )
        return RemoveAction(path)
    checked = Value(check_value(value))
    if action == "DELETE":
        if checked.kind not in _SETS:
            raise RequestInvalid(
                f"{_INVALID}DELETE action with value is not supported for the type {checked.kind}"
            )
        return DeleteAction(path, checked)
    if action == "ADD":
        if checked.kind not in ("N", "L", *_SETS):
            raise RequestInvalid(
                f"{_INVALID}ADD action is not supported for the type {checked.kind}"
            )
        return AddAction(path, checked)
    return SetAction(path, checked)
