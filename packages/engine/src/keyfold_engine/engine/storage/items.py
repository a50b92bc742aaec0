"""Items and index entries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from keyfold_engine.engine.storage import statements
from keyfold_engine.engine.storage.connection import Connected

if TYPE_CHECKING:
    from keyfold_engine.engine.storage.sorted_entries import EntryRow


_ITEMS_AT_ONCE = 20


class StoredItem(NamedTuple):
    """One item as stored in the file."""

    row: int
    size: int
    body: bytes


# Bypasses StoredItem(...)'s argument handling, which every read and write would pay for.
_stored = partial(tuple.__new__, StoredItem)


class Row(NamedTuple):
    """One row of a range read: its place, its size there, its body, the whole item's size."""

    place: bytes
    size: int
    body: bytes
    item_size: int


class Items(Connected):
    """Reads and writes items, their index entries and their expiry."""

    __slots__ = ()

    def find(self, table: int, place: bytes) -> StoredItem | None:
        row = self.row(statements.items(table).find, (place,))
        return None if row is None else _stored(row)

    def put(self, table: int, place: bytes, size: int, expires: int | None, body: bytes) -> None:
        """Insert or replace without reading the old item."""
        self.execute(statements.items(table).put, (place, size, expires, body))

    def insert(self, table: int, place: bytes, size: int, expires: int | None, body: bytes) -> int:
        self.execute(statements.items(table).insert, (place, size, expires, body))
        return self.connection.last_insert_rowid()

    def replace(self, table: int, row: int, size: int, expires: int | None, body: bytes) -> None:
        self.execute(statements.items(table).replace, (size, expires, body, row))

    def delete(self, table: int, row: int) -> None:
        self.execute(statements.items(table).delete, (row,))

    def rows(
        self, table: int, index: int | None, first: bytes, end: bytes, *, backward: bool = False
    ) -> Iterator[Row]:
        """Items, or entries of an index, from `first` to before `end`. Close the cursor when
        done.
        """
        sql = statements.items(table) if index is None else statements.entries(table, index)
        rows: Iterator[Row] = self.execute(sql.backward if backward else sql.forward, (first, end))
        return rows

    def bodies(
        self,
        table: int,
        index: int | None,
        first: bytes,
        end: bytes,
        limit: int,
        *,
        backward: bool,
    ) -> Iterator[tuple[bytes, int]]:
        """Body of the item and size of the same, at most `limit`."""
        sql = statements.items(table) if index is None else statements.entries(table, index)
        rows: Iterator[tuple[bytes, int]] = self.execute(
            sql.bodies_backward if backward else sql.bodies_forward, (first, end, limit)
        )
        return rows

    def items_after(self, table: int, row: int, limit: int) -> list[tuple[int, bytes, int, bytes]]:
        """Row, place, size and body of the next items in order of insertion."""
        return self.all(statements.items(table).after_row, (row, limit))

    def each_item(self, table: int) -> Iterator[tuple[int, bytes, int, bytes]]:
        """The same of all items, of which few are in memory."""
        row = 0
        while found := self.items_after(table, row, _ITEMS_AT_ONCE):
            yield from found
            row = found[-1][0]

    def item_of_row(self, table: int, row: int) -> bytes | None:
        found = self.one(f"SELECT body FROM items_{table} WHERE row = ?", (row,))
        return None if found is None else found[0]

    def items_from(self, table: int, place: bytes, limit: int) -> list[tuple[bytes, int, bytes]]:
        """Place, size and body of the next items in order of place."""
        return self.all(
            f"SELECT place, size, body FROM items_{table} WHERE place > ? ORDER BY place LIMIT ?",
            (place, limit),
        )

    def items_in_rows(
        self, table: int, first: int, end: int
    ) -> list[tuple[int, bytes, int, bytes]]:
        """Row, place, size and body of the items in a range of rows."""
        return self.all(statements.items(table).in_rows, (first, end))

    def row_bounds(self, table: int) -> tuple[int, int]:
        """The first and last row of a table that is not empty."""
        first, last = self.execute(statements.items(table).row_bounds).fetchone()
        return first, last

    def count_items(self, table: int, limit: int) -> tuple[int, int]:
        """The number of items and their bytes, counting at most `limit`."""
        count, size = self.execute(statements.items(table).totals, (limit,)).fetchone()
        return count, int(size)

    # Index entries

    def insert_entry(self, table: int, index: int, place: bytes, size: int, row: int) -> None:
        self.execute(statements.entries(table, index).insert, (place, size, row))

    def insert_entries(self, table: int, index: int, entries: list[EntryRow]) -> None:
        self.connection.executemany(statements.entries(table, index).insert, entries)

    def delete_entry(self, table: int, index: int, place: bytes) -> None:
        self.execute(statements.entries(table, index).delete, (place,))

    def entry_at(self, table: int, index: int, place: bytes) -> tuple[int, int] | None:
        """Size and row of one entry."""
        row = self.one(f"SELECT size, row FROM index_{table}_{index} WHERE place = ?", (place,))
        return None if row is None else (row[0], row[1])

    def count_entries(self, table: int, index: int) -> tuple[int, int]:
        count, size = self.execute(statements.entries(table, index).totals).fetchone()
        return count, int(size)

    # Item collections, for tables with local indexes

    def grow_collection(self, table: int, partition: bytes, growth: int) -> int:
        """Add to a collection's size; returns the new size."""
        sql = statements.collections(table)
        [(size,)] = self.all(sql.grow, (partition, growth))
        if not size:
            self.execute(sql.delete, (partition,))
        return int(size)

    def collection_size(self, table: int, partition: bytes) -> int:
        row = self.one(statements.collections(table).find, (partition,))
        return 0 if row is None else int(row[0])

    # Time to live

    def index_expiry(self, table: int) -> None:
        """Ensure the index, which old tables lack."""
        self.execute(statements.create_expiry(table))

    def expiries_after(
        self, table: int, row: int, limit: int
    ) -> list[tuple[int, int | None, bytes]]:
        """Row, stored expiry and body of the next items in order of insertion."""
        return self.all(
            f"SELECT row, expires, body FROM items_{table} WHERE row > ? ORDER BY row LIMIT ?",
            (row, limit),
        )

    def set_expiry(self, table: int, row: int, expires: int | None) -> None:
        self.execute(f"UPDATE items_{table} SET expires = ? WHERE row = ?", (expires, row))

    def expired(self, table: int, before: int, not_before: int, limit: int) -> list[bytes]:
        """Places of items that expired in the window, oldest first."""
        rows = self.all(statements.items(table).expired, (before, not_before, limit))
        return [place for (place,) in rows]
