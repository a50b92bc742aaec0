"""Conditions on fields, as data: rendered as expressions, or evaluated on field values."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pydantic import BaseModel

from keyfold.design import codes
from keyfold.errors import DeclarationError

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field, or something inside it: a field of a nested model, a key of a map, an element."""

    names: tuple[str | int, ...]
    stored: tuple[str | int, ...] = field(default=(), compare=False)
    """What is inside the field, under its names on disk."""
    sized: bool = False
    """How many it holds, instead of what."""

    @property
    def field(self) -> str:
        return str(self.names[0])

    def __str__(self) -> str:
        inside = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in self.names[1:])
        text = "".join([self.field, *inside])
        return f"size({text})" if self.sized else text


class Predicate(ABC):
    """A condition that can be rendered as an expression or evaluated on field values."""

    @abstractmethod
    def holds(self, values: Mapping[str, Any]) -> bool: ...

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]: ...

    @property
    def present(self) -> frozenset[str]:
        """The fields that have a value wherever this holds."""
        return frozenset()

    def __and__(self, other: object) -> Predicate:
        return Both(self, predicate_of(other))

    def __or__(self, other: object) -> Predicate:
        return Either(self, predicate_of(other))

    def __invert__(self) -> Predicate:
        return Negated(self)

    def __bool__(self) -> bool:
        raise DeclarationError(
            codes.PATTERN_BRANCHES,
            "a condition was used as a truth value.",
            suggestion="Combine conditions with &, | and not_(...), not with and, or, not.",
        )


@dataclass(frozen=True)
class FieldComparison(Predicate):
    path: FieldPath
    operator: str
    value: Any

    def holds(self, values: Mapping[str, Any]) -> bool:
        found, wanted = _operand(self.path, values), _operand(self.value, values)
        if is_absent(self.value):
            return (found is None) == (self.operator == "=")
        if found is None or wanted is None:
            return self.operator == "<>"
        try:
            return _COMPARISONS[self.operator](found, wanted)
        except TypeError:
            return False  # values of different types have no order

    @property
    def fields(self) -> frozenset[str]:
        other = {self.value.field} if isinstance(self.value, FieldPath) else set()
        return frozenset({self.path.field, *other})

    @property
    def present(self) -> frozenset[str]:
        # What is not there differs from every value, and is equal to none.
        needs = (self.operator == "<>") == is_absent(self.value)
        return self.fields if needs else frozenset()

    def __str__(self) -> str:
        value = str(self.value) if isinstance(self.value, FieldPath) else repr(self.value)
        return f"{self.path} {self.operator} {value}"


@dataclass(frozen=True)
class Test(Predicate):
    """A function of a field: exists, missing, begins_with, contains, one_of, between."""

    function: str
    path: FieldPath
    arguments: tuple[Any, ...] = ()

    def holds(self, values: Mapping[str, Any]) -> bool:
        found = _operand(self.path, values)
        if self.function == "exists":
            return found is not None
        if self.function == "missing":
            return found is None
        given = [_operand(argument, values) for argument in self.arguments]
        if found is None or None in given:
            return False
        if self.function == "begins_with":
            return bool(found.startswith(given[0]))
        if self.function == "contains":
            return given[0] in found
        if self.function == "one_of":
            return found in given
        return bool(given[0] <= found <= given[1])

    @property
    def fields(self) -> frozenset[str]:
        others = (a.field for a in self.arguments if isinstance(a, FieldPath))
        return frozenset({self.path.field, *others})

    @property
    def present(self) -> frozenset[str]:
        return frozenset() if self.function == "missing" else self.fields

    def __str__(self) -> str:
        given = [str(a) if isinstance(a, FieldPath) else repr(a) for a in self.arguments]
        return f"{self.function}({', '.join([str(self.path), *given])})"


@dataclass(frozen=True)
class Both(Predicate):
    left: Predicate
    right: Predicate

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self.left.holds(values) and self.right.holds(values)

    @property
    def fields(self) -> frozenset[str]:
        return self.left.fields | self.right.fields

    @property
    def present(self) -> frozenset[str]:
        return self.left.present | self.right.present

    def __str__(self) -> str:
        return f"({self.left} and {self.right})"


@dataclass(frozen=True)
class Either(Predicate):
    left: Predicate
    right: Predicate

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self.left.holds(values) or self.right.holds(values)

    @property
    def fields(self) -> frozenset[str]:
        return self.left.fields | self.right.fields

    @property
    def present(self) -> frozenset[str]:
        return self.left.present & self.right.present

    def __str__(self) -> str:
        return f"({self.left} or {self.right})"


@dataclass(frozen=True)
class Negated(Predicate):
    inner: Predicate

    def holds(self, values: Mapping[str, Any]) -> bool:
        return not self.inner.holds(values)

    @property
    def fields(self) -> frozenset[str]:
        return self.inner.fields

    @property
    def present(self) -> frozenset[str]:
        absent = isinstance(self.inner, Test) and self.inner.function == "missing"
        return self.inner.fields if absent else frozenset()

    def __str__(self) -> str:
        return f"not {self.inner}"


class Recorded(ABC):
    """Something that stands for a condition without being one: a field that is true or false."""

    @abstractmethod
    def as_predicate(self) -> Predicate: ...


def predicate_of(value: object) -> Predicate:
    if isinstance(value, Predicate):
        return value
    if isinstance(value, Recorded):
        return value.as_predicate()
    raise DeclarationError(
        codes.PATTERN_BRANCHES,
        f"a condition gave {value!r} instead of a comparison of fields.",
        suggestion="Return comparisons of the entity's fields, joined with & and |; exists(...) "
        "and missing(...) say whether a field has a value.",
    )


def look_up(values: Mapping[str, Any], path: FieldPath) -> Any:
    """What is at a path; None where there is nothing."""
    found: Any = values.get(path.field)
    for name in path.names[1:]:
        if found is None:
            return None
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(name, int):
            found = found[name] if isinstance(found, list | tuple) and name < len(found) else None
        else:
            found = getattr(found, name, None)
    if is_absent(found):
        return None
    return _size(found) if path.sized else found


def _size(value: Any) -> int | None:
    """As DynamoDB's size(): the length of text and bytes, the number of elements."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, BaseModel):
        return len(value.model_dump(exclude_none=True))
    return len(value) if hasattr(value, "__len__") else None


def is_absent(value: object) -> bool:
    """Whether a value is stored as nothing: DynamoDB has no empty set."""
    return value is None or (isinstance(value, set | frozenset) and not value)


def _operand(value: Any, values: Mapping[str, Any]) -> Any:
    return _bare(look_up(values, value) if isinstance(value, FieldPath) else value)


def _bare(value: Any) -> Any:
    """A member of an enum as it is stored, so that it equals what DynamoDB would compare."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset | list | tuple):
        return type(value)(_bare(element) for element in value)
    return value
