"""Conditions on fields, recorded from typed lambdas: `lambda h: (h.going > 3) & h.open`.

The lambda is called once with a recorder, so the editor and the type checker see the entity and
everything else sees data. Use `&`, `|` and `not_`; `and`, `or` and `not` cannot be recorded.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from keyfold.design import codes
from keyfold.errors import DeclarationError

E = TypeVar("E")

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Path:
    """A field, or a field inside a nested model."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)


class Predicate(ABC):
    """A condition that can be rendered as an expression or evaluated on field values."""

    @abstractmethod
    def holds(self, values: Mapping[str, Any]) -> bool: ...

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]: ...

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
class Compare(Predicate):
    path: Path
    operator: str
    value: Any

    def holds(self, values: Mapping[str, Any]) -> bool:
        found = _look_up(values, self.path)
        if found is None:
            return self.operator == "<>"
        return _COMPARISONS[self.operator](found, self.value)

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.path.names[0]})

    def __str__(self) -> str:
        return f"{self.path} {self.operator} {self.value!r}"


@dataclass(frozen=True)
class Test(Predicate):
    """A function of a field: exists, missing, begins_with, contains, one_of, between."""

    function: str
    path: Path
    arguments: tuple[Any, ...] = ()

    def holds(self, values: Mapping[str, Any]) -> bool:
        found = _look_up(values, self.path)
        if self.function == "exists":
            return found is not None
        if self.function == "missing":
            return found is None
        if found is None:
            return False
        if self.function == "begins_with":
            return bool(found.startswith(self.arguments[0]))
        if self.function == "contains":
            return self.arguments[0] in found
        if self.function == "one_of":
            return found in self.arguments
        return bool(self.arguments[0] <= found <= self.arguments[1])

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.path.names[0]})

    def __str__(self) -> str:
        return f"{self.function}({', '.join([str(self.path), *map(repr, self.arguments)])})"


@dataclass(frozen=True)
class Both(Predicate):
    left: Predicate
    right: Predicate

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self.left.holds(values) and self.right.holds(values)

    @property
    def fields(self) -> frozenset[str]:
        return self.left.fields | self.right.fields

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

    def __str__(self) -> str:
        return f"not {self.inner}"


class _Recorder:
    """Stands in for an entity while its lambda is recorded."""

    __slots__ = ("_known", "_path")

    def __init__(self, path: tuple[str, ...], known: frozenset[str] | None) -> None:
        self._path, self._known = path, known

    def __getattr__(self, name: str) -> _Recorder:
        if self._known is not None and name not in self._known:
            raise DeclarationError(
                codes.UNKNOWN_REFERENCE,
                f"a condition names the field {name!r}, which is not declared.",
                suggestion=f"Declared are: {', '.join(sorted(self._known))}.",
            )
        return _Recorder((*self._path, name), None)

    def __eq__(self, other: object) -> Predicate:  # type: ignore[override]
        return Compare(Path(self._path), "=", other)

    def __ne__(self, other: object) -> Predicate:  # type: ignore[override]
        return Compare(Path(self._path), "<>", other)

    def __lt__(self, other: object) -> Predicate:
        return Compare(Path(self._path), "<", other)

    def __le__(self, other: object) -> Predicate:
        return Compare(Path(self._path), "<=", other)

    def __gt__(self, other: object) -> Predicate:
        return Compare(Path(self._path), ">", other)

    def __ge__(self, other: object) -> Predicate:
        return Compare(Path(self._path), ">=", other)

    def __and__(self, other: object) -> Predicate:
        return predicate_of(self) & other

    def __or__(self, other: object) -> Predicate:
        return predicate_of(self) | other

    def __bool__(self) -> bool:
        return bool(predicate_of(self))

    __hash__ = None  # type: ignore[assignment]


def record(condition: Callable[[E], object], fields: frozenset[str]) -> Predicate:
    """The predicate that a lambda over an entity stands for."""
    return predicate_of(condition(cast("E", _Recorder((), fields))))


def predicate_of(value: object) -> Predicate:
    if isinstance(value, Predicate):
        return value
    if isinstance(value, _Recorder):
        return Compare(Path(value._path), "=", True)
    raise DeclarationError(
        codes.PATTERN_BRANCHES,
        f"a condition gave {value!r} instead of a comparison of fields.",
        suggestion="Return comparisons of the entity's fields, joined with & and |.",
    )


def _path(field: object) -> Path:
    if isinstance(field, _Recorder):
        return Path(field._path)
    raise DeclarationError(
        codes.PATTERN_BRANCHES, f"{field!r} is not a field of the entity.", suggestion=""
    )


def exists(field: object) -> bool:
    """The field has a value."""
    return cast("bool", Test("exists", _path(field)))


def missing(field: object) -> bool:
    """The field has no value."""
    return cast("bool", Test("missing", _path(field)))


def begins_with(field: str, prefix: str) -> bool:
    return cast("bool", Test("begins_with", _path(field), (prefix,)))


def contains(field: object, element: object) -> bool:
    """The set, list or text holds the element."""
    return cast("bool", Test("contains", _path(field), (element,)))


def one_of(field: object, *values: object) -> bool:
    return cast("bool", Test("one_of", _path(field), values))


def between(field: object, low: object, high: object) -> bool:
    """Both ends included."""
    return cast("bool", Test("between", _path(field), (low, high)))


def not_(condition: object) -> bool:
    return cast("bool", Negated(predicate_of(condition)))


def _look_up(values: Mapping[str, Any], path: Path) -> Any:
    found: Any = values.get(path.names[0])
    for name in path.names[1:]:
        if found is None:
            return None
        found = found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)
    return found
