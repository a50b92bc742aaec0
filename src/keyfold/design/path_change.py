"""A change at a place inside an item, as somebody writes it down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

E = TypeVar("E")
Verb = Literal["set", "add", "append", "remove", "set_if_absent", "copy"]


@dataclass(frozen=True)
class PathChange(Generic[E]):
    """One place of an item and what happens there: `at.set(lambda o: o.address.city, "Oslo")`."""

    path: Callable[[E], Any]
    verb: Verb
    value: Any = None
