"""What a document describes: tables, their indexes, and the items that they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from keyfold_workbench.adopt.document.key_side import Side
from keyfold_workbench.adopt.document.key_text import WrittenKey
from keyfold_workbench.adopt.document.statements import AttributeStatement

Keys = dict[Side, tuple[str, str]]
"""Attribute and type of each side of a key."""


@dataclass
class DocumentIndex:
    name: str
    keys: Keys = field(default_factory=dict)
    projection: str = ""
    purpose: str = ""
    line: int = 0


@dataclass
class DocumentTable:
    title: str
    name: str = ""
    keys: Keys = field(default_factory=dict)
    ttl: str = ""
    stream: str = ""
    assumed: bool = False
    """The names of its key attributes were looked for in its items' keys."""
    indexes: dict[str, DocumentIndex] = field(default_factory=dict)
    """By number (GSI1), or by name."""

    def index(self, number: str) -> DocumentIndex | None:
        if number in self.indexes:
            return self.indexes[number]
        known = [
            index
            for index in self.indexes.values()
            if index.name == number
            or any(
                re.fullmatch(rf"(?i){re.escape(number)}_?[ps]k", name)
                for name, _ in index.keys.values()
            )
        ]
        return known[0] if known else None


@dataclass
class DocumentEntity:
    name: str
    title: str
    table: DocumentTable
    keys: dict[tuple[str, Side], tuple[WrittenKey, int]] = field(default_factory=dict)
    """Template and line by index (empty: the table) and side."""
    attributes: dict[str, AttributeStatement] = field(default_factory=dict)
    days: str = ""
