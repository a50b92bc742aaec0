"""Background work on tables: entries of a new index for existing items, and restores that an
earlier process left unfinished.

Each step is its own commit; unfinished work continues when the file is opened again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from keyfold_engine.engine import extensions, leftovers, steps
from keyfold_engine.engine.extensions import FurtherIndex
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.errors import StorageError

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database
    from keyfold_engine.engine.index_fill import IndexFill

_ITEMS_PER_COMMIT = 500


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
    from keyfold_engine.engine import index_fill

    for _ in range(0, _ITEMS_PER_COMMIT, index_fill.ITEMS_PER_READ):
        items = session.items_after(table.id, after_row, index_fill.ITEMS_PER_READ)
        if isinstance(index, IndexDefinition):
            entries = index_fill.entries_of(index, items)
            session.insert_entries(table.id, index.number, entries)
        else:
            for row, _, _, body in items:
                index.fill(session, table.id, row, orjson.loads(body))
        after_row = items[-1][0] if items else after_row
        if len(items) < index_fill.ITEMS_PER_READ:
            _activate(database, session, table, index)
            return None
    return after_row


def _unfinished(table: TableDefinition, name: str) -> IndexDefinition | FurtherIndex | None:
    """The index of that name, if it is being filled."""
    index = table.indexes_by_name.get(name)
    if index is not None:
        return index if index.status == "CREATING" else None
    further = (each for each in table.further_indexes if each.name == name and not each.is_filled)
    return next(further, None)


def _activate(
    database: Database,
    session: Session,
    table: TableDefinition,
    index: IndexDefinition | FurtherIndex,
) -> None:
    if isinstance(index, IndexDefinition):
        definitions = [
            {**each.definition, "IndexStatus": "ACTIVE"} if each is index else each.definition
            for each in table.global_indexes
        ]
        active = table.with_changes(GlobalSecondaryIndexes=definitions)
    else:
        further = [
            each.filled_definition() if each is index else each.definition
            for each in table.further_indexes
            if each.member == index.member
        ]
        active = table.with_changes(**{index.member: further})
    database.catalog.store(session, active)


class Backfills:
    """Background work on the tables of this process, one thread each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._fills: dict[int, list[IndexFill]] = {}
        """The indexes that are being filled, by table."""

    def start(self, table: TableDefinition, index: str, after_row: int = 0) -> None:
        """Continue filling an index in the background."""
        database, row = self._database, after_row

        def in_row_order() -> Callable[[], Any] | None:
            nonlocal row
            further = database.write(partial(advance, database, table.name, index, row))
            row = further or row
            return None if further is None else in_row_order

        filled = table.indexes_by_name.get(index)
        if filled is None:
            self._in_thread(f"backfill {table.name}.{index}", lambda: in_row_order() is not None)
            return
        from keyfold_engine.engine.index_fill import IndexFill

        fill = IndexFill(
            database,
            table,
            filled,
            after_row,
            activate=partial(_activate, database),
            in_row_order=in_row_order,
        )
        fills = self._fills.setdefault(table.id, [])
        fills.append(fill)

        def step() -> bool:
            if fill.step():
                return True
            fills.remove(fill)
            return False

        self._in_thread(f"backfill {table.name}.{index}", step)

    def note(self, table: TableDefinition, row: int) -> None:
        """Note that a row of a table was written, of which an index is being filled."""
        for fill in self._fills.get(table.id, ()):
            fill.touched.add(row)

    def resume(self) -> None:
        """Continue what an earlier process left unfinished."""
        with self._database.read() as session:
            tables = [TableDefinition.load(*row) for row in session.tables()]
        for table in tables:
            for index in table.global_indexes:
                if index.status == "CREATING":
                    self.start(table, index.name)
            for further in table.further_indexes:
                if not further.is_filled:
                    self.start(table, further.name)
            for extension in table.extensions:
                extension.resume_table(self._database, table)
        with self._database.read() as session:
            has_leftovers = session.has_set_aside()
            unfinished = extensions.unfinished(session)
        for extension in unfinished:
            extension.resume(self._database)
        if has_leftovers:
            step = partial(steps.take, self._database, leftovers.clear_some)
            self.run("leftovers", step)

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

    def _in_thread(self, name: str, step: Callable[[], bool]) -> None:
        thread = threading.Thread(target=self._run, args=(step,), name=name, daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def _run(self, step: Callable[[], bool]) -> None:
        more = True
        while more and not self._stopping.is_set():
            try:
                more = step()
                self._database.commits.let_writers_run()
            except StorageError:
                # The disk is full or busy: the step was rolled back, and the next attempt may
                # succeed.
                self._stopping.wait(1.0)
