"""A plan's Python source: calls, tables and indexes, with its imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from keyfold.design.schema import Index, TableSchema, VectorSchema
from keyfold.literals import python as quote

_WIDTH: Final = 100


class PlanSource:
    """What a plan's steps need besides themselves."""

    def __init__(self) -> None:
        self.imports: set[str] = {"Migration"}
        self.tables: dict[str, str] = {}
        self.functions: list[str] = []

    def call(self, name: str, *arguments: str) -> str:
        self.imports.add(name)
        return wrap(f"{name}(", list(arguments), ")", 8)

    def table(self, table: TableSchema) -> str:
        """The variable name of a table."""
        if table.name not in self.tables:
            self.imports.add("TableSchema")
            parts = [quote(table.name)]
            skipped = ("name", "indexes", "vectors", "place", "silences", "intents", "ttl")
            parts += _write_record(table, skipped)
            if table.indexes:
                indexes = [self.index(index, 8) for index in table.indexes]
                parts.append(f"indexes={wrap('(', indexes, ')', 4, trailing=True)}")
            if table.vectors:
                vectors = [self.vector(vector) for vector in table.vectors]
                parts.append(f"vectors={wrap('(', vectors, ')', 4, trailing=True)}")
            self.tables[table.name] = wrap("TableSchema(", parts, ")", 0)
        return variable(table.name)

    def index(self, index: Index, indent: int = 8) -> str:
        self.imports.add("Index")
        parts = _write_record(
            index, ("name", "place", "silences", "intents", "purpose", "holds", "sparse")
        )
        return wrap("Index(", [quote(index.name), *parts], ")", indent)

    def vector(self, vector: VectorSchema) -> str:
        self.imports.add("VectorSchema")
        parts = _write_record(vector, ("name", "place", "silences", "intents"))
        return wrap("VectorSchema(", [quote(vector.name), *parts], ")", 8)


def wrap(start: str, parts: list[str], end: str, indent: int, *, trailing: bool = False) -> str:
    """On one line if it fits, otherwise one part per line."""
    comma = "," if trailing and len(parts) == 1 else ""
    line = f"{start}{', '.join(parts)}{comma}{end}"
    if len(line) + indent + 20 <= _WIDTH and "\n" not in line:
        return line
    inner = " " * (indent + 4)
    return "\n".join([start, *(f"{inner}{part}," for part in parts), f"{' ' * indent}{end}"])


def names_text(names: list[str]) -> str:
    line = ", ".join(names)
    return line if len(line) < _WIDTH - 40 else wrap("(", names, ")", 0)


def variable(table: str) -> str:
    return re.sub(r"\W", "_", snake(table))


def _write_record(record: Any, skip: tuple[str, ...]) -> Iterator[str]:
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name not in (*skip, "description", "needs", "prefixes") and value != one.default:
            yield f"{one.name}={quote(value)}"


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
