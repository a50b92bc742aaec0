"""All queries on one connection, and those for documents: JSON by kind and id."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold_engine.engine.storage.items import Items
from keyfold_engine.engine.storage.records import Records
from keyfold_engine.engine.storage.tables import Tables


class Session(Tables, Items, Records):
    """One connection to a data file."""

    __slots__ = ()

    def document(self, kind: str, id: str) -> Any:
        """None if there is none."""
        sql = "SELECT body FROM documents WHERE kind = ? AND id = ?"
        row = self.one(sql, (kind, id))
        return None if row is None else orjson.loads(row[0])

    def documents(self, kind: str, limit: int = -1) -> list[tuple[str, Any]]:
        """The first documents of a kind, with their ids; -1: all."""
        sql = "SELECT id, body FROM documents WHERE kind = ? ORDER BY id LIMIT ?"
        return [(id, orjson.loads(body)) for id, body in self.all(sql, (kind, limit))]

    def keep_document(self, kind: str, id: str, document: Any) -> None:
        sql = "INSERT OR REPLACE INTO documents (kind, id, body) VALUES (?, ?, ?)"
        self.execute(sql, (kind, id, orjson.dumps(document)))

    def drop_document(self, kind: str, id: str) -> None:
        self.execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id))
