"""A change of one path inside an item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

E = TypeVar("E")
Verb = Literal["set", "add", "append", "remove", "set_if_absent", "copy"]


@dataclass(frozen=True)
class PathChange(Generic[E]):
    """One path of an item and its change: `at.set(lambda o: o.address.city, "Oslo")`."""

    path: Callable[[E], Any]
    verb: Verb
    value: Any = None
