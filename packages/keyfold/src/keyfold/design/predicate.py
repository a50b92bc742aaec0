"""Conditions on fields, as declarations record them; `condition.tree` gives their expression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keyfold.design import codes
from keyfold.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field, or a path inside it: a field of a nested model, a key of a map, an element."""

    names: tuple[str | int, ...]
    stored: tuple[str | int, ...] = field(default=(), compare=False)
    """The path inside the field, under its stored names."""
    sized: bool = False
    """The path's size rather than its value."""

    @property
    def field(self) -> str:
        return str(self.names[0])

    def __str__(self) -> str:
        inside = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in self.names[1:])
        text = "".join([self.field, *inside])
        return f"size({text})" if self.sized else text


class Predicate(ABC):
    """A recorded condition."""

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
            "a condition was used as a bool.",
            suggestion="Combine conditions with &, | and not_(...), not with and, or, not.",
        )


@dataclass(frozen=True)
class FieldComparison(Predicate):
    path: FieldPath
    operator: str
    value: Any

    @property
    def fields(self) -> frozenset[str]:
        other = {self.value.field} if isinstance(self.value, FieldPath) else set()
        return frozenset({self.path.field, *other})

    @property
    def present(self) -> frozenset[str]:
        # A missing value differs from every value and equals none.
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
    """Something usable as a condition without being one: a boolean field."""

    @abstractmethod
    def as_predicate(self) -> Predicate: ...


def predicate_of(value: object) -> Predicate:
    if isinstance(value, Predicate):
        return value
    if isinstance(value, Recorded):
        return value.as_predicate()
    raise DeclarationError(
        codes.PATTERN_BRANCHES,
        f"a condition returned {value!r} instead of a comparison of fields.",
        suggestion="Return comparisons of the entity's fields, joined with & and |; exists(...) "
        "and missing(...) say whether a field has a value.",
    )


def look_up(values: Mapping[str, Any], path: FieldPath) -> Any:
    """The value at a path, or None."""
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
    return None if is_absent(found) else found


def is_absent(value: object) -> bool:
    """Whether a value is stored as a missing attribute: DynamoDB has no empty set."""
    return value is None or (isinstance(value, set | frozenset) and not value)
