"""Creates a migration's tables and indexes, and undoes that."""

from __future__ import annotations

from collections.abc import Callable

from keyfold.design.schema import TableSchema
from keyfold.errors import Drifted, MigrationError, OperationError
from keyfold.migrations.backend import Backend
from keyfold.migrations.diff import lacking
from keyfold.migrations.migration import Migration
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.table_change import VIEW, Stream, TableChange, add, remove

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
        if not begun and not self._store.opened():
            try:
                _refuse_other_tables(self._migration, self._backend)
            except Drifted:
                # Another process may have begun since.
                if not self._has_begun:
                    raise
        for change in self._migration.changes_in("expand"):
            words = change.words()
            if words not in begun and change.is_done(self._backend):
                self._tell(f"{words}: already done")
                continue
            self._store.note_begun(words)
            if change.makes_table:
                self._store.forget_dropped(change.table)
            self._do(change)
        for table in self._migration.followed:
            self._open_stream(table)

    def take_back(self) -> None:
        """Undo the changes to the tables."""
        begun = self._store.begun()
        self.close_streams()
        for change in reversed(self._migration.changes_in("expand")):
            reverse = change.reverse
            if reverse is not None and change.words() in begun:
                self._do(reverse)

    def contract(self) -> None:
        """Remove what is no longer needed."""
        for change in self._migration.changes_in("contract"):
            if change.drops_table:
                self._store.note_dropped(change.table)
            self._do(change)

    def close_streams(self) -> None:
        """Disable the streams that this migration enabled."""
        for table in self._store.opened():
            self._carry_out(remove(Stream(), table))

    def _open_stream(self, table: str) -> None:
        found = self._backend.live(table, ttl=False)
        view = found.stream if found is not None else None
        if view == VIEW:
            return
        if view is not None:
            raise MigrationError(
                f"the stream of {table} is {view}; copying needs {VIEW}. Disable the stream when "
                "its readers no longer need it, and apply again"
            )
        self._store.note_opened(table)
        self._carry_out(add(Stream(), table))

    def _do(self, change: TableChange) -> None:
        self._tell(change.words())
        self._carry_out(change)

    def _carry_out(self, change: TableChange) -> None:
        try:
            change.apply(self._backend)
        except OperationError:
            # Another process with the same migration may just have done it.
            if not change.is_done(self._backend):
                raise

    def _tell(self, words: str) -> None:
        self._say(f"{self._migration.name}: {words}")


def _refuse_other_tables(migration: Migration, backend: Backend) -> None:
    """Raise Drifted if a table is missing, different, or in the way."""
    for table in sorted(migration.touched & migration.expects.keys()):
        found = backend.live(table, ttl=False)
        lacks = [] if found is None else lacking(migration.expects[table], found)
        if found is None or lacks:
            what = f"is not as the plan expects: {lacks[0]}" if lacks else "does not exist"
            raise Drifted(
                f"{migration.name}: the table {backend.physical(table)} {what}. Make the table as "
                "the design before the plan has it, or plan again from a snapshot of what is there"
            )
    for step in migration.changes:
        if not step.makes_table or not isinstance(step.part, TableSchema):
            continue
        found = backend.live(step.table, ttl=False)
        if found is not None and found.key_attributes != step.part.key_attributes:
            raise Drifted(
                f"{migration.name}: a table {step.table} already exists, with the key "
                f"{' / '.join(found.key_attributes)}. A table's key cannot change: give the new "
                "table another name"
            )
