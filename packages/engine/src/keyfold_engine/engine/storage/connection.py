"""A connection and its transactions."""

from __future__ import annotations

from typing import Any

import apsw


class Connected:
    """One connection, its transactions, and shortcuts for queries."""

    __slots__ = ("_execute", "_guarded", "connection")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        # Rows come untyped from SQLite; the signatures below give their types.
        self._execute: Any = connection.execute
        self._guarded = False

    def _all(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
        rows: list[Any] = self._execute(sql, bindings).fetchall()
        return rows

    def _one(self, sql: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._execute(sql, bindings).fetchone()
        return row

    def begin_write(self) -> None:
        self._execute("BEGIN IMMEDIATE")

    def begin_read(self) -> None:
        self._execute("BEGIN")

    def commit(self) -> None:
        self._execute("COMMIT")
        self._guarded = False

    def rollback(self) -> None:
        self._guarded = False
        if self.connection.in_transaction:
            self._execute("ROLLBACK")

    def guard(self) -> None:
        """Begin a savepoint."""
        if not self._guarded:
            self._execute("SAVEPOINT request")
            self._guarded = True

    def keep_guarded(self) -> None:
        """Release the savepoint."""
        if self._guarded:
            self._execute("RELEASE request")
            self._guarded = False

    def take_back_guarded(self) -> None:
        if self._guarded:
            self._execute("ROLLBACK TO request")
            self.keep_guarded()

    @property
    def is_guarded(self) -> bool:
        return self._guarded

    def changes(self) -> int:
        """How many rows this connection has changed in total."""
        return self.connection.total_changes()

    def version(self) -> int:
        """A number that changes whenever any connection commits a change."""
        return self.connection.data_version()
