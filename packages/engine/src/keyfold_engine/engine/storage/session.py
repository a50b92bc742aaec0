"""All queries on one connection, and those for documents: small records by kind and id."""

from __future__ import annotations

from keyfold_engine.engine.storage.items import Items
from keyfold_engine.engine.storage.records import Records
from keyfold_engine.engine.storage.tables import Tables


class Session(Tables, Items, Records):
    """One connection to a data file."""

    __slots__ = ()

    def document(self, kind: str, id: str) -> bytes | None:
        row = self.execute(
            "SELECT body FROM documents WHERE kind = ? AND id = ?", (kind, id)
        ).fetchone()
        return None if row is None else row[0]

    def documents(self, kind: str) -> list[tuple[str, bytes]]:
        return self.all("SELECT id, body FROM documents WHERE kind = ? ORDER BY id", (kind,))

    def first_documents(self, kind: str, limit: int) -> list[tuple[str, bytes]]:
        sql = "SELECT id, body FROM documents WHERE kind = ? ORDER BY id LIMIT ?"
        return self.all(sql, (kind, limit))

    def keep_document(self, kind: str, id: str, body: bytes) -> None:
        self.execute(
            "INSERT OR REPLACE INTO documents (kind, id, body) VALUES (?, ?, ?)", (kind, id, body)
        )

    def drop_document(self, kind: str, id: str) -> None:
        self.execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id))
