"""Parts of a call's cost: units on one table or index, and their purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from keyfold.design.follows import SUPPORT_TABLE

IN_TRANSACTION = 2
"""The cost factor of writes inside a transaction, except on global indexes."""

Why = Literal[
    "item",
    "index",
    "copy",
    "counter",
    "unique",
    "cascade",
    "check",
    "copied field",
    "processor",
    "outbox",
    "processed marker",
    "request id",
    "feed",
]


@dataclass(frozen=True)
class Store:
    """A table, or one of its indexes."""

    table: str
    index: str | None = None

    def __str__(self) -> str:
        return f"{self.table}.{self.index}" if self.index else self.table


SUPPORT = Store(SUPPORT_TABLE)
"""Where stream consumers keep their markers, events and dead letters."""


@dataclass(frozen=True)
class Part:
    """Units on one table or index, for one entity; an empty name stands for keyfold's own items."""

    path: Store
    entity: str
    units: float
    why: Why = "item"
    reading: bool = False
    """Read units: what a write must read first."""
    items: float = 0.0
    """The items of the entity that are written."""
    streamed: bool = False
    """Whether a stream consumer does it, after the write was answered."""


@dataclass(frozen=True)
class PricedWrite:
    """One call of a write."""

    name: str
    parts: tuple[Part, ...] = ()

    @property
    def units(self) -> float:
        """Write units."""
        return sum(part.units for part in self.parts if not part.reading)

    @property
    def read_units(self) -> float:
        return sum(part.units for part in self.parts if part.reading)


def times(parts: Iterable[Part], count: float) -> Iterator[Part]:
    """The same, this number of times."""
    return (
        replace(part, units=part.units * count, items=part.items * count) for part in parts if count
    )


def for_purpose(parts: Iterable[Part], why: Why) -> Iterator[Part]:
    """The same for another purpose; index entries keep theirs."""
    return (part if part.why == "index" else replace(part, why=why) for part in parts)
