"""The contents of a data file, tree by tree, and what is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from keyfold_engine.doctor.pages import SCHEMA_ROOT, PageDamaged, Pages, Values
from keyfold_engine.engine.places import HASH_BYTES
from keyfold_engine.engine.tables import TableDefinition

DEFINITIONS = ("sqlite_schema", "tables", "streams")
_DERIVED = re.compile(r"(index|collections|vectors)_\d+")
_ITEMS = re.compile(r"items_(\d+)")
_NAMED = re.compile(r"(items|index|collections|vectors|history)_(\d+)(?:_(\d+))?$")


@dataclass
class Survey:
    """The trees of a file with their pages, and the damaged pages."""

    pages: Pages
    sql: dict[str, str] = field(default_factory=dict)
    """The SQL that created each table and index."""
    trees: dict[str, list[int]] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)
    """Damaged pages, and the tree of each."""
    tables: dict[int, TableDefinition] = field(default_factory=dict)

    def rows(self, tree: str) -> Iterator[tuple[int, Values]]:
        """The intact rows of a tree.

        Nothing can be rescued without the definitions, so every readable row of their pages is
        used.
        """
        for number in self.trees.get(tree, ()):
            if number in self.damaged and tree not in DEFINITIONS:
                continue
            for row in self.pages.rows(number, trusting=tree in DEFINITIONS):
                if not isinstance(row, PageDamaged):
                    yield row

    def lost(self, table: int) -> list[bytes]:
        """The places of items that the index of places lists but that are not intact."""
        whole = {row for row, _ in self.rows(f"items_{table}")}
        named = self.rows(f"sqlite_autoindex_items_{table}_1")
        return sorted(place for _, (place, row) in named if row not in whole)

    def undefined(self) -> list[int]:
        """The numbers of tables with items but without a definition."""
        held = [int(found[1]) for found in map(_ITEMS.fullmatch, self.sql) if found]
        return [number for number in held if number not in self.tables]

    def describe(self, tree: str) -> str:
        """A tree's name for users."""
        found = _NAMED.match(tree.removeprefix("sqlite_autoindex_").removesuffix("_1"))
        if found is None:
            return tree
        kind, table, index = found[1], self.tables.get(int(found[2])), found[3]
        name = table.name if table else f"number {found[2]}"
        if kind == "index" and table is not None and index is not None:
            names = {each.number: each.name for each in table.indexes}
            return f"table {name}, index {names.get(int(index), index)}"
        return f"table {name}" if kind == "items" else f"table {name}, {kind}"


def is_derived(tree: str) -> bool:
    """Whether a tree can be rebuilt from items."""
    return _DERIVED.match(tree) is not None


def survey(path: Path) -> Survey:
    """Read every page of a file."""
    pages = Pages(path)
    made = Survey(pages)
    bad = set(pages.damaged())
    roots = {SCHEMA_ROOT: "the list of tables"}
    made.damaged = dict.fromkeys(bad, "")
    by_root: dict[int, list[int]] = {}
    of: dict[int, int | None] = {}
    for number in range(1, pages.count + 1):
        of[number] = root = pages.root(number)
        if root is not None and not pages.is_overflow(number):
            by_root.setdefault(root, []).append(number)
    # Where the pointer map is damaged, the trees themselves are walked.
    mapped = not any(pages.is_map(number) for number in bad if number != SCHEMA_ROOT)
    made.trees["sqlite_schema"] = by_root.get(SCHEMA_ROOT, []) if mapped else pages.below(1)
    for _, values in made.rows("sqlite_schema"):
        if len(values) != 5:
            continue
        _, name, _, root, sql = values
        roots[root] = name
        made.sql[name] = sql or ""
        made.trees[name] = by_root.get(root, []) if mapped else pages.below(root)
    for row, values in made.rows("tables"):
        try:
            definition = TableDefinition.load(row, values[2])
        except (LookupError, TypeError, ValueError):
            continue
        if definition.name == values[1]:
            made.tables[definition.id] = definition
    for number in bad:
        root = of[number]
        made.damaged[number] = "" if root is None else roots.get(root, "")
    return made


def key_text(table: TableDefinition, place: bytes) -> str:
    """The key of a place, as JSON."""
    rest, key = place[HASH_BYTES:], dict[str, Any]()
    for name, kind, _ in table.schema.roles:
        end = rest.index(b"\0\0") if b"\0\0" in rest else len(rest)
        while rest[end : end + 2] == b"\0\0" and rest[end + 2 : end + 3] == b"\xff":
            end = rest.index(b"\0\0", end + 1)
        raw, rest = rest[:end].replace(b"\0\xff", b"\0"), rest[end + 2 :]
        key[name] = {kind: raw.decode("utf-8", "replace") if kind == "S" else raw.hex()}
    return orjson.dumps(key).decode()
