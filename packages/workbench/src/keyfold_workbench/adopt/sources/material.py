"""What a source provides: tables, entities, items; and the error for one that provides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from keyfold.design.schema import EntitySchema, KeyType, PatternSchema, TableSchema
from keyfold.design.source import Place
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.value_format import Item

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


class SourceError(KeyfoldError):
    """A source that cannot be read: where, and what was expected."""

    def __init__(self, place: Place, message: str) -> None:
        self.place, self.message = place, message
        super().__init__(f"{place}: {message}")


@dataclass
class Imported:
    """The content of one source."""

    kind: str
    source: str
    name: str = ""
    tables: list[TableSchema] = field(default_factory=list)
    entities: list[EntitySchema] = field(default_factory=list)
    patterns: list[PatternSchema] = field(default_factory=list)
    items: dict[str, list[Item]] = field(default_factory=dict)
    """Sample items of each table."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """The source's entity name for each sample item."""
    notes: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


class PlacedMapping(dict[str, Any]):
    """A mapping of a file with its position, and typed access to its content."""

    place: Place = Place("", 0)

    def refuse(self, message: str) -> NoReturn:
        raise SourceError(self.place, message)

    def text(self, name: str, default: str | None = None) -> str:
        """A text, also from a number; the default if missing."""
        found = self.get(name)
        if found is None and default is not None:
            return default
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        if not isinstance(found, str) or not (found or default is not None):
            self.refuse(f"expected {name} as text, found {describe_value(found)}")
        return found

    def texts(self, name: str) -> list[str]:
        found = self.get(name)
        found = [found] if isinstance(found, str) else found
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            self.refuse(f"expected {name} as a list of texts, found {describe_value(found)}")
        return found

    def mapping(self, name: str) -> PlacedMapping:
        """The inner mapping; empty if missing."""
        found = self.get(name)
        if found is None:
            empty = PlacedMapping()
            empty.place = self.place
            return empty
        if not isinstance(found, PlacedMapping):
            self.refuse(f"expected {name} as a mapping, found {describe_value(found)}")
        return found

    def mappings(self, name: str) -> list[PlacedMapping]:
        found = self.get(name)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(e, PlacedMapping) for e in found):
            self.refuse(f"expected {name} as a list of mappings, found {describe_value(found)}")
        return found

    def each(self, name: str) -> Iterator[tuple[str, PlacedMapping]]:
        """The inner mappings by name."""
        inner = self.mapping(name)
        for title in inner:
            yield title, inner.mapping(title)


def with_place(value: Any, place: Place) -> Any:
    """Plain data with one position for all of it."""
    if isinstance(value, dict):
        found = PlacedMapping(
            {str(name): with_place(inner, place) for name, inner in value.items()}
        )
        found.place = value.place if isinstance(value, PlacedMapping) else place
        return found
    return [with_place(inner, place) for inner in value] if isinstance(value, list) else value


def identifier(name: str) -> str:
    """A name as a field of a design file; templates allow identifiers only."""
    if name.isidentifier():
        return name
    made = re.sub(r"\W+", "_", name)
    return made if made[:1].isalpha() or made[:1] == "_" else f"n_{made}"


def projection(index: PlacedMapping) -> dict[str, Any]:
    """An index's projection, in DynamoDB's terms."""
    stated = index.mapping("Projection")
    kind = stated.text("ProjectionType", "ALL")
    if kind not in ("ALL", "KEYS_ONLY", "INCLUDE"):
        stated.refuse(f"ProjectionType cannot be {kind!r}; it is ALL, KEYS_ONLY or INCLUDE")
    return {"ProjectionType": kind, "NonKeyAttributes": stated.texts("NonKeyAttributes")}


def wire_item(item: PlacedMapping, keys: Sequence[str]) -> PlacedMapping:
    """An item in DynamoDB's JSON, with its key."""
    for name, value in item.items():
        if not _is_wire(value):
            item.refuse(f"{name} is {describe_value(value)}, and not a value in DynamoDB's JSON")
    missing = [name for name in keys if name not in item]
    if missing:
        item.refuse(f"the item has no {missing[0]}, which is part of its table's key")
    return item


def _is_wire(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    kind, content = next(iter(value.items()))
    if kind == "M":
        return isinstance(content, dict) and all(map(_is_wire, content.values()))
    if kind == "L":
        return isinstance(content, list) and all(map(_is_wire, content))
    if kind in ("SS", "NS", "BS"):
        return isinstance(content, list) and all(isinstance(each, str) for each in content)
    if kind == "N":
        return isinstance(content, str) and _NUMBER.fullmatch(content) is not None
    kinds = {"S": str, "B": str, "BOOL": bool, "NULL": bool}
    return kind in kinds and isinstance(content, kinds[kind])


def known_type(kind: str, where: PlacedMapping) -> KeyType:
    if kind not in ("S", "N", "B"):
        where.refuse(f"a key attribute is of type S, N or B, not {kind!r}")
    return cast("KeyType", kind)


def describe_value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else f"{value!r:.60}"
