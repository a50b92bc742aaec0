"""Conditions as tests make them: declared by the public functions, and held by Python's own
comparisons, an oracle.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import Any

from pydantic import BaseModel

from keyfold import conditions

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class FieldPath:
    names: tuple[str | int, ...]
    sized: bool = False


@dataclass(frozen=True)
class FieldComparison:
    path: FieldPath
    operator: str
    value: Any


@dataclass(frozen=True)
class FieldTest:
    """A function of a field: exists, missing, begins_with, contains, one_of, between."""

    function: str
    path: FieldPath
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Both:
    left: Any
    right: Any


@dataclass(frozen=True)
class Either:
    left: Any
    right: Any


@dataclass(frozen=True)
class Negated:
    inner: Any


def declared(condition: Any, item: Any) -> Any:
    """The condition as a declaration states it: `lambda item: declared(condition, item)`."""
    match condition:
        case Both(left, right):
            return declared(left, item) & declared(right, item)
        case Either(left, right):
            return declared(left, item) | declared(right, item)
        case Negated(inner):
            return conditions.not_(declared(inner, item))
        case FieldComparison(path, sign, value):
            return _COMPARISONS[sign](_named(path, item), _named(value, item))
        case FieldTest(function, path, arguments):
            given = [_named(each, item) for each in arguments]
            return getattr(conditions, function)(_named(path, item), *given)
    raise AssertionError(f"{condition!r} is not a condition")


def _named(value: Any, item: Any) -> Any:
    if not isinstance(value, FieldPath):
        return value
    found = reduce(lambda at, n: at[n] if isinstance(n, int) else getattr(at, n), value.names, item)
    return conditions.size(found) if value.sized else found


def holds(condition: Any, values: Mapping[str, Any]) -> bool:
    match condition:
        case Both(left, right):
            return holds(left, values) and holds(right, values)
        case Either(left, right):
            return holds(left, values) or holds(right, values)
        case Negated(inner):
            return not holds(inner, values)
        case FieldComparison():
            return _compares(condition, values)
        case FieldTest():
            return _tests(condition, values)
    raise AssertionError(f"{condition!r} is not a condition")


def _compares(compare: FieldComparison, values: Mapping[str, Any]) -> bool:
    found, wanted = _operand(compare.path, values), _operand(compare.value, values)
    if _is_nothing(compare.value):
        return (found is None) == (compare.operator == "=")
    if found is None or wanted is None:
        return compare.operator == "<>"
    try:
        return bool(_COMPARISONS[compare.operator](found, wanted))
    except TypeError:
        return False  # values of different types have no order


def _tests(test: FieldTest, values: Mapping[str, Any]) -> bool:
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
