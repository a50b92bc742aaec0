"""Creates a migration's tables and indexes, and undoes that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from keyfold.errors import Drifted, MigrationError, OperationError
from keyfold.migrations.expectations import refuse_other_tables
from keyfold.migrations.migration import Migration
from keyfold.migrations.operations import (
    CreateTable,
    DisableStream,
    DropTable,
    EnableStream,
    TableChange,
)
from keyfold.migrations.state import StateStore

_VIEW: Final = "NEW_AND_OLD_IMAGES"

Say = Callable[[str], None]


class Shaping:
    """Executes additive steps, and records each before it is done.

    So another migrator can continue after a crash, and a rollback removes exactly what the
    migration created.
    """

    def __init__(self, migration: Migration, store: StateStore, say: Say) -> None:
        self._migration, self._store, self._say = migration, store, say
        self._backend = store.backend

    @property
    def _has_begun(self) -> bool:
        return bool(self._store.begun() or self._store.opened())

    def expand(self) -> None:
        """Create what is new, and enable the streams for copying."""
        begun = self._store.begun()
        if not self._has_begun:
            try:
                refuse_other_tables(self._migration, self._backend)
            except Drifted:
                # Another process may have begun since.
                if not self._has_begun:
                    raise
        for operation in self._migration.operations("expand"):
            words = operation.words()
            if words not in begun and operation.is_done(self._backend):
                self._tell(f"{words}: already done")
                continue
            self._store.note_begun(words)
            if isinstance(operation, CreateTable):
                self._store.forget_dropped(operation.table.name)
            self._do(operation)
        for table in self._migration.followed:
            self._open_stream(table)

    def take_back(self) -> None:
        """Undo the changes to the tables."""
        begun = self._store.begun()
        self.close_streams()
        for operation in reversed(self._migration.operations("expand")):
            reverse = operation.reverse()
            if reverse is not None and operation.words() in begun:
                self._do(reverse)

    def contract(self) -> None:
        """Remove what is no longer needed."""
        for operation in self._migration.operations("contract"):
            if isinstance(operation, DropTable):
                self._store.note_dropped(operation.table.name)
            self._do(operation)

    def close_streams(self) -> None:
        """Disable the streams that this migration enabled."""
        for table in self._store.opened():
            self._carry_out(DisableStream(table, _VIEW))

    def _open_stream(self, table: str) -> None:
        found = self._backend.live(table)
        view = found.stream if found is not None else None
        if view == _VIEW:
            return
        if view is not None:
            raise MigrationError(
                f"the stream of {table} is {view}; copying needs {_VIEW}. Disable the stream when "
                "its readers no longer need it, and apply again"
            )
        self._store.note_opened(table)
        self._carry_out(EnableStream(table, _VIEW))

    def _do(self, operation: TableChange) -> None:
        self._tell(operation.words())
        self._carry_out(operation)

    def _carry_out(self, operation: TableChange) -> None:
        try:
            operation.apply(self._backend)
        except OperationError:
            # Another process with the same migration may just have done it.
            if not operation.is_done(self._backend):
                raise

    def _tell(self, words: str) -> None:
        self._say(f"{self._migration.name}: {words}")
