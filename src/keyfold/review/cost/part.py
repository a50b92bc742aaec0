"""Parts of what a call costs: units on one table or index, and what they are for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from keyfold.design.follows import SUPPORT_TABLE
from keyfold.design.schema import Effect

IN_TRANSACTION = 2
"""A write inside a transaction costs this multiple of its units, except on global indexes."""

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
    """Units on one table or index, for one entity; nothing's name is for what keyfold keeps."""

    path: Store
    entity: str
    units: float
    why: Why = "item"
    reading: bool = False
    """Read units: what a write has to look at first."""
    effect: Effect | None = None
    """What was done to the item: the stream tells of it."""
    items: float = 0.0
    streamed: bool = False
    """Whether a consumer of the stream does it, after the write was answered."""


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


def called(parts: Iterable[Part], why: Why) -> Iterator[Part]:
    """The same for another purpose; index entries stay what they are."""
    return (part if part.why == "index" else replace(part, why=why) for part in parts)


def in_transaction(parts: Iterable[Part]) -> Iterator[Part]:
    """What these cost inside one transaction, which writes to tables twice, to indexes once."""
    for part in parts:
        doubled = not part.reading and part.path.index is None
        yield replace(part, units=part.units * IN_TRANSACTION) if doubled else part
