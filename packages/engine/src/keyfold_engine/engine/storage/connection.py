"""A connection and its transactions."""

from __future__ import annotations

from typing import Any

import apsw


class Connected:
    """One connection, its transactions, and shortcuts for queries."""

    __slots__ = ("_guarded", "_kept", "connection", "execute", "moment")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        # Rows come untyped from SQLite; the signatures below give their types.
        self.execute: Any = connection.execute
        self._kept: Any = connection.cursor().execute
        self._guarded = False
        self.moment: float | None = None
        """The time of the transaction, once it is asked for."""

    def all(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
        rows: list[Any] = self.execute(sql, bindings).fetchall()
        return rows

    def one(self, sql: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self.execute(sql, bindings).fetchone()
        return row

    def row(self, sql: str, bindings: tuple[Any, ...]) -> Any:
        """The only row, of several columns; None without one. Makes no cursor.

        It reads to the end: a statement that stays open would lock the table.
        """
        return self._kept(sql, bindings).get

    def begin_write(self) -> None:
        self.moment = None
        self.execute("BEGIN IMMEDIATE")

    def begin_read(self) -> None:
        self.execute("BEGIN")

    def commit(self) -> None:
        self.execute("COMMIT")
        self._guarded = False

    def rollback(self) -> None:
        self._guarded = False
        if self.connection.in_transaction:
            self.execute("ROLLBACK")

    def guard(self) -> None:
        """Begin a savepoint."""
        if not self._guarded:
            self.execute("SAVEPOINT request")
            self._guarded = True

    def keep_guarded(self) -> None:
        """Release the savepoint."""
        if self._guarded:
            self.execute("RELEASE request")
            self._guarded = False

    def take_back_guarded(self) -> None:
        if self._guarded:
            self.execute("ROLLBACK TO request")
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
