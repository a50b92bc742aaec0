"""Entries of an index, sorted aside in a temporary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apsw

EntryRow = tuple[bytes, int, int]
"""The place of an entry, its size, and the row of its item."""


class SortedEntries:
    """Takes entries in any order and gives them in the order of their places.

    SQLite removes the file, and sorts with little memory.
    """

    def __init__(self) -> None:
        self._connection = apsw.Connection("")
        self._connection.execute("CREATE TABLE entries (place BLOB, size INTEGER, row INTEGER)")

    def add(self, entries: Iterable[EntryRow]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", entries)

    def in_order(self) -> Iterator[EntryRow]:
        rows: Iterator[EntryRow] = self._connection.execute(
            "SELECT place, size, row FROM entries ORDER BY place"
        )
        return rows

    def close(self) -> None:
        self._connection.close(force=True)
