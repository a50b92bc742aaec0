"""The SQL statements for items and index entries, built once per table."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class ItemStatements(NamedTuple):
    find: str
    put: str
    insert: str
    replace: str
    delete: str
    forward: str
    backward: str
    bodies_forward: str
    bodies_backward: str
    totals: str
    expired: str
    after_row: str
    in_rows: str
    row_bounds: str


class Entries(NamedTuple):
    insert: str
    delete: str
    forward: str
    backward: str
    bodies_forward: str
    bodies_backward: str
    totals: str


class Collections(NamedTuple):
    grow: str
    delete: str
    find: str


@cache
def items(table: int) -> ItemStatements:
    name = f"items_{table}"
    page = f"SELECT place, size, body, size FROM {name} WHERE place >= ? AND place < ? ORDER BY "
    bodies = f"SELECT body, size FROM {name} WHERE place >= ? AND place < ? ORDER BY "
    return ItemStatements(
        find=f"SELECT row, size, body FROM {name} WHERE place = ?",
        put=(
            f"INSERT INTO {name} (place, size, expires, body) VALUES (?, ?, ?, ?) ON CONFLICT "
            "(place) DO UPDATE SET size = excluded.size, expires = excluded.expires, "
            "body = excluded.body"
        ),
        insert=f"INSERT INTO {name} (place, size, expires, body) VALUES (?, ?, ?, ?)",
        replace=f"UPDATE {name} SET size = ?, expires = ?, body = ? WHERE row = ?",
        delete=f"DELETE FROM {name} WHERE row = ?",
        forward=page + "place",
        backward=page + "place DESC",
        bodies_forward=bodies + "place LIMIT ?",
        bodies_backward=bodies + "place DESC LIMIT ?",
        totals=f"SELECT count(*), total(size) FROM (SELECT size FROM {name} LIMIT ?)",
        expired=(
            f"SELECT place FROM {name} WHERE expires < ? AND expires > ? ORDER BY expires LIMIT ?"
        ),
        after_row=f"SELECT row, place, size, body FROM {name} WHERE row > ? ORDER BY row LIMIT ?",
        in_rows=f"SELECT row, place, size, body FROM {name} WHERE row >= ? AND row < ?",
        row_bounds=f"SELECT (SELECT min(row) FROM {name}), (SELECT max(row) FROM {name})",
    )


@cache
def entries(table: int, index: int) -> Entries:
    name = f"index_{table}_{index}"
    rows = (
        f"FROM {name} e CROSS JOIN items_{table} i ON i.row = e.row "
        "WHERE e.place >= ? AND e.place < ? ORDER BY e.place"
    )
    # An entry of a whole item has no size of its own.
    size = "iif(e.size, e.size, i.size)"
    page = f"SELECT e.place, {size}, i.body, i.size {rows}"
    bodies = f"SELECT i.body, {size} {rows}"
    return Entries(
        insert=f"INSERT OR REPLACE INTO {name} (place, size, row) VALUES (?, ?, ?)",
        delete=f"DELETE FROM {name} WHERE place = ?",
        forward=page,
        backward=page + " DESC",
        bodies_forward=bodies + " LIMIT ?",
        bodies_backward=bodies + " DESC LIMIT ?",
        totals=(
            f"SELECT count(*), total({size}) FROM {name} e LEFT JOIN items_{table} i "
            "ON i.row = e.row"
        ),
    )


@cache
def collections(table: int) -> Collections:
    name = f"collections_{table}"
    return Collections(
        grow=(
            f"INSERT INTO {name} (place, size) VALUES (?, ?) ON CONFLICT (place) "
            "DO UPDATE SET size = size + excluded.size RETURNING size"
        ),
        delete=f"DELETE FROM {name} WHERE place = ?",
        find=f"SELECT size FROM {name} WHERE place = ?",
    )


def create_collections(table: int) -> str:
    return (
        f"CREATE TABLE collections_{table} (place BLOB PRIMARY KEY, size INTEGER NOT NULL) "
        "WITHOUT ROWID"
    )


def create_expiry(table: int) -> str:
    return (
        f"CREATE INDEX IF NOT EXISTS expiry_{table} ON items_{table} (expires) "
        "WHERE expires IS NOT NULL"
    )
