"""What a source gives: tables, entities, items; and what is wrong with one that gives nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from keyfold.adopt.spelling import Item
from keyfold.design.schema import EntitySchema, PatternSchema, TableSchema
from keyfold.design.source import Place
from keyfold.errors import KeyfoldError


class SourceError(KeyfoldError):
    """A source that cannot be read: where, and what was expected."""

    def __init__(self, place: Place, message: str) -> None:
        self.place, self.message = place, message
        super().__init__(f"{place}: {message}")


@dataclass
class Imported:
    """What one source says about a design."""

    kind: str
    source: str
    name: str = ""
    tables: list[TableSchema] = field(default_factory=list)
    entities: list[EntitySchema] = field(default_factory=list)
    patterns: list[PatternSchema] = field(default_factory=list)
    items: dict[str, list[Item]] = field(default_factory=dict)
    """Sample items of each table."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """What the source calls the entity of each sample item."""
    notes: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


class PlacedMapping(dict[str, Any]):
    """A mapping of a file that knows its place."""

    place: Place


def refuse(where: Any, place: Place, message: str) -> NoReturn:
    """Say what is wrong, at the nearest place that is known."""
    raise SourceError(where.place if isinstance(where, PlacedMapping) else place, message)


def expect_mapping(value: Any, what: str, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(value, place, f"expected {what}, found {shown(value)}")
    return value


def expect_list(value: Any, what: str, place: Place) -> list[Any]:
    if not isinstance(value, list):
        refuse(value, place, f"expected {what}, found {shown(value)}")
    return value


def expect_text(value: Any, what: str, place: Place) -> str:
    if not isinstance(value, str):
        refuse(value, place, f"expected {what}, found {shown(value)}")
    return value


def shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else f"{value!r:.60}"
