"""Backups, histories and documents."""

from __future__ import annotations

from keyfold_engine.engine.storage.items import StoredItem
from keyfold_engine.engine.storage.trees import Trees

LAST_SEQUENCE = 2**63 - 1


class CopyStore(Trees):
    """Stores copies of items, the history of changes, and small documents."""

    __slots__ = ()

    # Backups: copies of a table's items

    def create_backup(self, backup: int) -> None:
        self._execute(
            f"CREATE TABLE backup_{backup} (place BLOB PRIMARY KEY, size INTEGER, body BLOB)"
        )

    def back_up_after(
        self, table: int, backup: int, place: bytes, limit: int
    ) -> tuple[bytes, int, int] | None:
        """Copy the next items by place; returns the last place, their number and bytes.

        What writes already saved in the backup is older than the item, and stays.
        """
        last = self._execute(
            f"SELECT max(place) FROM "
            f"(SELECT place FROM items_{table} WHERE place > ? ORDER BY place LIMIT ?)",
            (place, limit),
        ).fetchone()[0]
        if last is None:
            return None
        part = "place > ? AND place <= ?"
        self._execute(
            f"INSERT OR IGNORE INTO backup_{backup} SELECT place, size, body FROM items_{table} "
            f"WHERE {part}",
            (place, last),
        )
        return last, *self._count_backup(backup, part, place, last)

    def back_up_rest(self, backup: int, place: bytes) -> tuple[int, int]:
        """The number and bytes of items after a place that writes saved and that were deleted
        since.
        """
        return self._count_backup(backup, "place > ?", place)

    def keep_in_backup(self, backup: int, place: bytes, item: StoredItem | None) -> None:
        """Save what a write replaces; a marker if there was no item."""
        size, body = (None, None) if item is None else (item.size, item.body)
        self._execute(
            f"INSERT OR IGNORE INTO backup_{backup} (place, size, body) VALUES (?, ?, ?)",
            (place, size, body),
        )

    def _count_backup(self, backup: int, part: str, *places: bytes) -> tuple[int, int]:
        count, size = self._execute(
            f"SELECT count(size), total(size) FROM backup_{backup} WHERE {part}", places
        ).fetchone()
        return count, int(size)

    def backup_after(self, backup: int, place: bytes, limit: int) -> list[tuple[bytes, int, bytes]]:
        """Place, size and body of the next items of a backup, by place."""
        return self._all(
            f"SELECT place, size, body FROM backup_{backup} WHERE place > ? AND body IS NOT NULL "
            "ORDER BY place LIMIT ?",
            (place, limit),
        )

    def kept_after(self, backup: int, place: bytes, limit: int) -> list[tuple[bytes, bytes | None]]:
        """Place and body of the next saved items, by place."""
        return self._all(
            f"SELECT place, body FROM backup_{backup} WHERE place > ? ORDER BY place LIMIT ?",
            (place, limit),
        )

    def saved_body(self, backup: int, place: bytes) -> tuple[bytes | None] | None:
        """The body that a write saved, which may be empty; None if no write has."""
        row = self._one(f"SELECT body FROM backup_{backup} WHERE place = ?", (place,))
        return None if row is None else (row[0],)

    def drop_backup(self, backup: int) -> None:
        self.drop_tree(f"backup_{backup}")

    def next_backup(self) -> int:
        names = self._all("SELECT name FROM sqlite_schema WHERE name GLOB 'backup_*'")
        return max((int(name.removeprefix("backup_")) for (name,) in names), default=0) + 1

    # Point-in-time recovery: what each change replaced

    def keep_history(self, table: int) -> None:
        self._execute(
            f"CREATE TABLE history_{table} (sequence INTEGER PRIMARY KEY, at REAL NOT NULL, "
            "place BLOB NOT NULL, size INTEGER, body BLOB)"
        )
        self._execute(f"CREATE INDEX history_by_age_{table} ON history_{table} (at)")
        self.index_history(table)

    def index_history(self, table: int) -> None:
        """Ensure the index by place, which old histories lack."""
        self._execute(
            f"CREATE INDEX IF NOT EXISTS history_by_place_{table} ON history_{table} (place)"
        )

    def forget_history(self, table: int) -> None:
        # Its name and those of its indexes are free for the next one at once.
        for name in ("age", "place"):
            self._execute(f"DROP INDEX IF EXISTS history_by_{name}_{table}")
        self.drop_tree(f"history_{table}")

    def remember_past(self, table: int, at: float, place: bytes, before: StoredItem | None) -> None:
        size, body = (None, None) if before is None else (before.size, before.body)
        self._execute(
            f"INSERT INTO history_{table} (at, place, size, body) VALUES (?, ?, ?, ?)",
            (at, place, size, body),
        )

    def trim_history(self, table: int, before: float, limit: int) -> int:
        """Delete at most `limit` changes from before a moment; returns how many."""
        return self._delete_older(f"history_{table}", before, limit)

    def last_change(self, table: int) -> int:
        """The sequence of the last recorded change; 0 if none."""
        row = self._one(f"SELECT max(sequence) FROM history_{table}")
        return 0 if row is None or row[0] is None else int(row[0])

    def past_item(
        self, table: int, at: float, place: bytes, last: int = LAST_SEQUENCE
    ) -> tuple[int, bytes] | tuple[None, None] | None:
        """An item's size and body at a moment; None if it has not changed until `last`."""
        row = self._one(
            f"SELECT size, body FROM history_{table} WHERE place = ? AND at > ? "
            "AND sequence <= ? ORDER BY sequence LIMIT 1",
            (place, at, last),
        )
        return None if row is None else (row[0], row[1])

    def changes_after(
        self, table: int, at: float, sequence: int, limit: int
    ) -> list[tuple[int, bytes]]:
        """Sequence and place of the next changes after a moment."""
        return self._all(
            f"SELECT sequence, place FROM history_{table} WHERE sequence > ? AND at > ? "
            "ORDER BY sequence LIMIT ?",
            (sequence, at, limit),
        )

    def changed_between(
        self,
        table: int,
        start: float,
        end: float,
        after: tuple[float, int],
        last: int,
        limit: int,
    ) -> list[tuple[float, int, bytes, bool, bytes | None]]:
        """The next changes from `start` until before `end`: time, sequence, place, whether it
        is the item's last there, and then the body before the first.
        """
        of_item = (
            f"FROM history_{table} h WHERE h.place = c.place AND h.at >= ?1 AND h.at < ?2 "
            "AND h.sequence <= ?5"
        )
        is_last = f"NOT EXISTS (SELECT 1 {of_item} AND h.sequence > c.sequence)"
        return self._all(
            f"SELECT at, sequence, place, {is_last} AS is_last, CASE WHEN {is_last} THEN "
            f"(SELECT h.body {of_item} ORDER BY h.sequence LIMIT 1) END "
            f"FROM (SELECT at, sequence, place FROM history_{table} "
            "WHERE (at, sequence) > (?3, ?4) AND at < ?2 AND sequence <= ?5 "
            "ORDER BY at, sequence LIMIT ?6) c ORDER BY at, sequence",
            (start, end, *after, last, limit),
        )

    # Documents: small records by kind and id (backups, exports, imports)

    def document(self, kind: str, id: str) -> bytes | None:
        row = self._execute(
            "SELECT body FROM documents WHERE kind = ? AND id = ?", (kind, id)
        ).fetchone()
        return None if row is None else row[0]

    def documents(self, kind: str) -> list[tuple[str, bytes]]:
        return self._all("SELECT id, body FROM documents WHERE kind = ? ORDER BY id", (kind,))

    def first_documents(self, kind: str, limit: int) -> list[tuple[str, bytes]]:
        sql = "SELECT id, body FROM documents WHERE kind = ? ORDER BY id LIMIT ?"
        return self._all(sql, (kind, limit))

    def keep_document(self, kind: str, id: str, body: bytes) -> None:
        self._execute(
            "INSERT OR REPLACE INTO documents (kind, id, body) VALUES (?, ?, ?)", (kind, id, body)
        )

    def drop_document(self, kind: str, id: str) -> None:
        self._execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id))
