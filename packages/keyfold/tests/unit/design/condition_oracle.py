"""Whether a recorded condition holds for an item, by Python's own comparisons: an oracle."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from pydantic import BaseModel

from keyfold.design.predicate import (
    Both,
    Either,
    FieldComparison,
    FieldPath,
    Negated,
    Predicate,
    Test,
)

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(predicate: Predicate, values: Mapping[str, Any]) -> bool:
    match predicate:
        case Both():
            return holds(predicate.left, values) and holds(predicate.right, values)
        case Either():
            return holds(predicate.left, values) or holds(predicate.right, values)
        case Negated():
            return not holds(predicate.inner, values)
        case FieldComparison():
            return _compares(predicate, values)
        case Test():
            return _tests(predicate, values)
    raise AssertionError(f"{predicate!r} is not a condition")


def _compares(compare: FieldComparison, values: Mapping[str, Any]) -> bool:
    found, wanted = _operand(compare.path, values), _operand(compare.value, values)
    if _is_nothing(compare.value):
        return (found is None) == (compare.operator == "=")
    if found is None or wanted is None:
        return compare.operator == "<>"
    try:
        return _COMPARISONS[compare.operator](found, wanted)
    except TypeError:
        return False  # values of different types have no order


def _tests(test: Test, values: Mapping[str, Any]) -> bool:
    found = _operand(test.path, values)
    if test.function in ("exists", "missing"):
        return (found is not None) == (test.function == "exists")
    given = [_operand(argument, values) for argument in test.arguments]
    if found is None or None in given:
        return False
    if test.function == "begins_with":
        return bool(found.startswith(given[0]))
    if test.function == "contains":
        return given[0] in found
    if test.function == "one_of":
        return found in given
    return bool(given[0] <= found <= given[1])


def _operand(value: Any, values: Mapping[str, Any]) -> Any:
    if not isinstance(value, FieldPath):
        return _bare(value)
    found: Any = values
    for name in value.names:
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(name, int):
            found = found[name] if isinstance(found, list | tuple) and name < len(found) else None
        else:
            found = getattr(found, name, None)
    if _is_nothing(found):
        return None
    return _size(found) if value.sized else _bare(found)


def _size(value: Any) -> int | None:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, BaseModel):
        return len(value.model_dump(exclude_none=True))
    return len(value) if hasattr(value, "__len__") else None


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, set | frozenset) and not value)


def _bare(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset | list | tuple):
        return type(value)(_bare(element) for element in value)
    return value
