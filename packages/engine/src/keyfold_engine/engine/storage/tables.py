"""Tables and indexes: their definitions, and the SQLite tables behind them."""

from __future__ import annotations

from keyfold_engine.engine.storage import statements
from keyfold_engine.engine.storage.trees import Trees


class Tables(Trees):
    """Creates, finds, changes and drops tables and indexes."""

    __slots__ = ()

    def tables(self) -> list[tuple[int, bytes]]:
        return self.all("SELECT id, definition FROM tables")

    def table(self, name: str) -> tuple[int, bytes] | None:
        return self.one("SELECT id, definition FROM tables WHERE name = ?", (name,))

    def table_names(self, after: str, limit: int) -> list[str]:
        rows = self.execute(
            "SELECT name FROM tables WHERE name > ? ORDER BY name LIMIT ?", (after, limit)
        )
        return [name for (name,) in rows]

    def create_table(self, name: str, definition: bytes) -> int:
        self.execute("INSERT INTO tables (name, definition) VALUES (?, ?)", (name, definition))
        table = self.connection.last_insert_rowid()
        self.create_items(table)
        return table

    def create_items(self, table: int) -> None:
        self.execute(
            f"CREATE TABLE items_{table} (row INTEGER PRIMARY KEY, place BLOB NOT NULL UNIQUE, "
            "size INTEGER NOT NULL, expires INTEGER, body BLOB NOT NULL)"
        )
        self.execute(statements.create_expiry(table))

    def define_table(self, table: int, definition: bytes) -> None:
        self.execute("UPDATE tables SET definition = ? WHERE id = ?", (definition, table))

    def drop_table(self, table: int) -> None:
        self.execute("DELETE FROM tables WHERE id = ?", (table,))
        names = self.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name IN (?, ?) "
            "OR name GLOB ?)",
            (f"items_{table}", f"collections_{table}", f"index_{table}_*"),
        ).fetchall()
        for (name,) in names:
            self.drop_tree(name)

    def create_index(self, table: int, index: int) -> None:
        # Entries are small and stored in the tree itself (WITHOUT ROWID); items are not.
        self.execute(
            f"CREATE TABLE index_{table}_{index} (place BLOB PRIMARY KEY, size INTEGER NOT NULL, "
            "row INTEGER NOT NULL) WITHOUT ROWID"
        )

    def create_collections(self, table: int) -> None:
        """Start recording the sizes of a table's item collections."""
        self.execute(statements.create_collections(table))

    def drop_index(self, table: int, index: int) -> None:
        self.drop_tree(f"index_{table}_{index}")
