"""SQLite trees, dropped and cleared without blocking others."""

from __future__ import annotations

from keyfold_engine.engine.storage.connection import Connected

# Trees with at most this many rows are dropped at once.
_FEW_ROWS = 100


class Trees(Connected):
    """Drops trees, clears renamed ones, and returns free pages."""

    __slots__ = ()

    def drop_tree(self, name: str) -> None:
        """Drop a tree; a large one is renamed and cleared later.

        Renaming is quick, and readers find that the tree is gone.
        """
        if self.one("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)) is None:
            return
        if self.one(f"SELECT 1 FROM {name} LIMIT 1 OFFSET {_FEW_ROWS}") is None:
            self.execute(f"DROP TABLE {name}")
            return
        numbers = [int(aside.removeprefix("dropped_")) for aside in self._set_aside()]
        self.execute(f"ALTER TABLE {name} RENAME TO dropped_{max(numbers, default=0) + 1}")

    def has_set_aside(self) -> bool:
        """Whether a renamed tree waits to be cleared."""
        return bool(self._set_aside())

    def clear_some(self, rows: int) -> bool:
        """Clear some rows of a renamed tree; False when none is left."""
        names = self._set_aside()
        if not names:
            return False
        name = names[0]
        [(has_rows,)] = self.all("SELECT NOT wr FROM pragma_table_list WHERE name = ?", (name,))
        key = "rowid" if has_rows else "place"
        before = self.changes()
        self.execute(f"DELETE FROM {name} WHERE {key} IN (SELECT {key} FROM {name} LIMIT {rows})")
        if self.changes() - before < rows:
            self.execute(f"DROP TABLE {name}")
        return True

    def give_back(self, pages: int) -> int:
        """Return at most `pages` free pages to the file system; returns how many."""
        free = self._free_pages()
        if free:
            self.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
        return free - self._free_pages()

    def _free_pages(self) -> int:
        return int(self.all("PRAGMA freelist_count")[0][0])

    def _set_aside(self) -> list[str]:
        sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'dropped_*'"
        return [name for (name,) in self.all(sql)]

    def delete_older(self, name: str, before: float, limit: int) -> int:
        """Delete at most `limit` rows of a sequence from before a moment."""
        changes = self.changes()
        self.execute(
            f"DELETE FROM {name} WHERE sequence IN "
            f"(SELECT sequence FROM {name} WHERE at < ? LIMIT ?)",
            (before, limit),
        )
        return self.changes() - changes
