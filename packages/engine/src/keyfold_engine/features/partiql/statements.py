"""Parsed statements."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold_engine.expressions.ast import Condition, Path, UpdateActions
from keyfold_engine.values import Item


@dataclass(frozen=True, slots=True)
class Ordering:
    """One term of an ORDER BY clause."""

    name: str
    descending: bool


@dataclass(frozen=True, slots=True)
class Select:
    """`paths` is None for `*`; `refused` is the error for one that is not a path."""

    table: str
    index: str | None
    paths: tuple[Path, ...] | None
    where: Condition | None
    order: tuple[Ordering, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class ExistsStatement:
    """A condition of a transaction: a SELECT must find its item."""

    select: Select

    @property
    def table(self) -> str:
        return self.select.table


@dataclass(frozen=True, slots=True)
class Insert:
    table: str
    item: Item


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    """An UPDATE; `returning` is None or one of ALL_OLD, MODIFIED_OLD, ALL_NEW, MODIFIED_NEW."""

    table: str
    update: UpdateActions
    where: Condition | None
    returning: str | None


@dataclass(frozen=True, slots=True)
class Removal:
    """A DELETE; `returning` is None or ALL_OLD."""

    table: str
    where: Condition | None
    returning: str | None


Statement = Select | ExistsStatement | Insert | UpdateStatement | Removal
