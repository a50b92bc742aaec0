"""Background work on tables: entries of a new index for existing items, and restores that an
earlier process left unfinished.

Each step is its own commit; unfinished work continues when the file is opened again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import orjson

from keyfold_engine.engine import backups, leftovers, steps
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.engine.vectors.index import VectorIndex
from keyfold_engine.errors import StorageError

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

_ITEMS_PER_COMMIT = 500
# Items may be large, so a step holds few of them in memory.
_ITEMS_PER_READ = 20


def advance(
    database: Database, table_name: str, index_name: str, after_row: int, session: Session
) -> int | None:
    """Create the next entries; returns where to continue, or None when the index is complete.

    Writes maintain the entries of every item they touch as soon as the index exists, so a step only
    adds missing ones.
    """
    table = database.catalog.find(session, table_name)
    index = _unfinished(table, index_name) if table is not None else None
    if table is None or index is None:
        return None
    # Few processes fill an index, so this is not imported at start.
    from keyfold_engine.engine import indexes
    from keyfold_engine.engine.vectors import entries

    for _ in range(0, _ITEMS_PER_COMMIT, _ITEMS_PER_READ):
        items = session.items_after(table.id, after_row, _ITEMS_PER_READ)
        for row, place, size, body in items:
            after_row = row
            item = orjson.loads(body)
            if isinstance(index, VectorIndex):
                vector = entries.entry(index, item)
                # An entry that a write already stored is as new or newer.
                if vector is not None and not session.has_vector(table.id, index.number, row):
                    entries.put(session, table.id, index, row, vector)
                continue
            entry = indexes.entry(index, place, item, size)
            if entry is not None:
                session.insert_entry(table.id, index.number, entry.place, entry.size, row)
        if len(items) < _ITEMS_PER_READ:
            _activate(database, session, table, index)
            return None
    return after_row


def _unfinished(table: TableDefinition, name: str) -> IndexDefinition | VectorIndex | None:
    """The index of that name, if it is being filled."""
    index = table.indexes_by_name.get(name)
    if index is not None:
        return index if index.status == "CREATING" else None
    vectors = (each for each in table.vector_indexes if each.name == name and not each.is_filled)
    return next(vectors, None)


def _activate(
    database: Database,
    session: Session,
    table: TableDefinition,
    index: IndexDefinition | VectorIndex,
) -> None:
    definitions = [
        {**each.definition, "IndexStatus": "ACTIVE"} if each is index else each.definition
        for each in table.global_indexes
    ]
    vectors = [
        {name: value for name, value in each.definition.items() if name != "IsFilling"}
        if each is index
        else each.definition
        for each in table.vector_indexes
    ]
    active = table.with_changes(
        GlobalSecondaryIndexes=definitions or None, VectorIndexes=vectors or None
    )
    session.define_table(table.id, active.stored())
    database.catalog.remember(active)


class Backfills:
    """Background work on the tables of this process, one thread each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, table: str, index: str, after_row: int = 0) -> None:
        """Continue filling an index in the background."""
        database, row = self._database, after_row

        def step() -> bool:
            nonlocal row
            further = database.write(partial(advance, database, table, index, row))
            row = further or row
            return further is not None

        self._in_thread(f"backfill {table}.{index}", step)

    def resume(self) -> None:
        """Continue what an earlier process left unfinished."""
        with self._database.read() as session:
            tables = [TableDefinition.load(*row) for row in session.tables()]
        for table in tables:
            for index in table.global_indexes:
                if index.status == "CREATING":
                    self.start(table.name, index.name)
            for vector in table.vector_indexes:
                if not vector.is_filled:
                    self.start(table.name, vector.name)
            if table.restored_from is not None:
                self._restore(table.name)
        self._resume_copies()
        self._resume_bulk()

    def _resume_copies(self) -> None:
        """Continue unfinished backups and deletions."""
        with self._database.read() as session:
            unfinished = [
                each["Arn"] for each in backups.every(session) if backups.is_unfinished(each)
            ]
            has_leftovers = session.has_set_aside()
        for arn in unfinished:
            part = partial(backups.advance, self._database, arn)
            self.run(f"backup {arn}", partial(steps.take, self._database, part))
        if has_leftovers:
            step = partial(steps.take, self._database, leftovers.clear_some)
            self.run("leftovers", step)

    def _resume_bulk(self) -> None:
        with self._database.read() as session:
            if not session.first_documents("bulk", 1):
                return
        # Imported here, because it writes items and belongs to a higher layer.
        from keyfold_engine.engine import bulk

        with self._database.read() as session:
            operations = bulk.every(session)
        for state in operations:
            if state["Description"]["BulkOperationStatus"] in bulk.RUNNING:
                bulk.start(self._database, state["Description"]["BulkOperationArn"])

    def run(self, name: str, step: Callable[[], bool]) -> None:
        """Take steps in the background until the work is done."""
        self._in_thread(name, step)

    def pause(self, seconds: float) -> None:
        """Wait between two steps, unless everything is to stop."""
        self._stopping.wait(seconds)

    def wait(self) -> None:
        """Wait until all of it is done."""
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        self._stopping.set()
        self.wait()

    def _restore(self, table: str) -> None:
        from keyfold_engine.engine import restores

        step = partial(restores.advance, self._database, table)
        self._in_thread(f"restore {table}", lambda: self._database.write(step))

    def _in_thread(self, name: str, step: Callable[[], bool]) -> None:
        thread = threading.Thread(target=self._run, args=(step,), name=name, daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def _run(self, step: Callable[[], bool]) -> None:
        more = True
        while more and not self._stopping.is_set():
            try:
                more = step()
                self._database.commits.let_others()
            except StorageError:
                # The disk is full or busy: the step was rolled back, and the next attempt may
                # succeed.
                self._stopping.wait(1.0)
