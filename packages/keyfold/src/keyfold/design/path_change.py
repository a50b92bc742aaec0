"""A change of one path inside an item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from keyfold_engine.expressions.ast import Path

E = TypeVar("E")
Verb = Literal["set", "add", "append", "remove", "set_if_absent", "copy"]


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field, or a path inside it: a field of a nested model, a key of a map, an element."""

    names: tuple[str | int, ...]
    stored: tuple[str | int, ...] = field(default=(), compare=False)
    """The path inside the field, under its stored names."""

    @property
    def field(self) -> str:
        return str(self.names[0])

    @property
    def operand(self) -> Path:
        """The path in an expression over fields."""
        return Path((self.field, *self.stored))

    def __str__(self) -> str:
        inside = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in self.names[1:])
        return "".join([self.field, *inside])


@dataclass(frozen=True)
class PathChange(Generic[E]):
    """One path of an item and its change: `at.set(lambda o: o.address.city, "Oslo")`."""

    path: Callable[[E], Any]
    verb: Verb
    value: Any = None
