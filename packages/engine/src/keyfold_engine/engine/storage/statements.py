"""The SQL statements for items and index entries, built once per table."""

from __future__ import annotations

from functools import cache


class ItemStatements:
    def __init__(self, table: int) -> None:
        name = f"items_{table}"
        within = f"FROM {name} WHERE place >= ? AND place < ? ORDER BY place"
        self.find = f"SELECT row, size, body FROM {name} WHERE place = ?"
        self.insert = f"INSERT INTO {name} (place, size, expires, body) VALUES (?, ?, ?, ?)"
        self.put = (
            f"{self.insert} ON CONFLICT (place) DO UPDATE SET size = excluded.size, "
            "expires = excluded.expires, body = excluded.body"
        )
        self.replace = f"UPDATE {name} SET size = ?, expires = ?, body = ? WHERE row = ?"
        self.delete = f"DELETE FROM {name} WHERE row = ?"
        self.forward = f"SELECT place, size, body, size {within}"
        self.backward = f"{self.forward} DESC"
        self.bodies_forward = f"SELECT body, size {within} LIMIT ?"
        self.bodies_backward = f"SELECT body, size {within} DESC LIMIT ?"
        self.totals = f"SELECT count(*), total(size) FROM (SELECT size FROM {name} LIMIT ?)"
        self.expired = (
            f"SELECT place FROM {name} WHERE expires < ? AND expires > ? ORDER BY expires LIMIT ?"
        )
        rows = f"SELECT row, place, size, body FROM {name} WHERE row"
        self.after_row = f"{rows} > ? ORDER BY row LIMIT ?"
        self.in_rows = f"{rows} >= ? AND row < ?"
        self.row_bounds = f"SELECT (SELECT min(row) FROM {name}), (SELECT max(row) FROM {name})"


class EntryStatements:
    def __init__(self, table: int, index: int) -> None:
        name = f"index_{table}_{index}"
        rows = (
            f"FROM {name} e CROSS JOIN items_{table} i ON i.row = e.row "
            "WHERE e.place >= ? AND e.place < ? ORDER BY e.place"
        )
        # An entry of a whole item has no size of its own.
        size = "iif(e.size, e.size, i.size)"
        self.insert = f"INSERT OR REPLACE INTO {name} (place, size, row) VALUES (?, ?, ?)"
        self.delete = f"DELETE FROM {name} WHERE place = ?"
        self.forward = f"SELECT e.place, {size}, i.body, i.size {rows}"
        self.backward = f"{self.forward} DESC"
        self.bodies_forward = f"SELECT i.body, {size} {rows} LIMIT ?"
        self.bodies_backward = f"SELECT i.body, {size} {rows} DESC LIMIT ?"
        self.totals = (
            f"SELECT count(*), total({size}) FROM {name} e LEFT JOIN items_{table} i "
            "ON i.row = e.row"
        )


class CollectionStatements:
    def __init__(self, table: int) -> None:
        name = f"collections_{table}"
        self.grow = (
            f"INSERT INTO {name} (place, size) VALUES (?, ?) ON CONFLICT (place) "
            "DO UPDATE SET size = size + excluded.size RETURNING size"
        )
        self.delete = f"DELETE FROM {name} WHERE place = ?"
        self.find = f"SELECT size FROM {name} WHERE place = ?"


items = cache(ItemStatements)
entries = cache(EntryStatements)
collections = cache(CollectionStatements)


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
