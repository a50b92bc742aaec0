"""Filling an index of a table that has items: entries are sorted aside, then added in order.

Added in the order of the items, nearly each would change another page of the index. Writes keep the
entries of what they touch from the moment the index exists, and note its rows meanwhile. What was
sorted for such a row may be out of date: it is left out, and its entry made from the item at the
end. Another process notes nothing here: once one has written, the rest is added in the order of the
items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from keyfold_engine.engine import indexes
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.storage.sorted_entries import EntryRow, SortedEntries
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

ITEMS_PER_READ = 20
"""Items may be large, so that few of them are in memory."""
_READS_PER_STEP = 50
_ENTRIES_PER_COMMIT = 2_000
_TOUCHED_PER_COMMIT = 500

Phase = Callable[[], Any]
"""A step; returns the next one, or None after the last."""
Work = Callable[[Session, TableDefinition, IndexDefinition], Phase | None]


class IndexFill:
    """The filling of one index, in steps. A step that fails can be repeated."""

    def __init__(
        self,
        database: Database,
        table: TableDefinition,
        index: IndexDefinition,
        after_row: int,
        *,
        activate: Callable[[Session, TableDefinition, IndexDefinition], None],
        in_row_order: Phase,
    ) -> None:
        self._database, self._table, self._index = database, table, index
        self._row, self._activate, self._in_row_order = after_row, activate, in_row_order
        self._aside = SortedEntries()
        self._ordered: Iterator[EntryRow] = iter(())
        self._batch: list[EntryRow] = []
        self._foreign_commits = 0
        self._phase: Phase | None = self._wait
        self.touched: set[int] = set()
        """The rows that were written since it began."""

    def step(self) -> bool:
        """Take the next step; returns whether there are more."""
        if self._phase is not None:
            self._phase = self._phase()
        if self._phase is None:
            self._aside.close()
        return self._phase is not None

    def _wait(self) -> Phase:
        """Wait for transactions in progress, which may not have noted what they touched."""
        commits = self._database.commits
        self._foreign_commits = self._database.write(lambda _: commits.foreign_commits)
        return self._sort_some

    def _sort_some(self) -> Phase:
        entries: list[EntryRow] = []
        row = self._row
        with self._database.read() as session:
            for _ in range(_READS_PER_STEP):
                items = session.items_after(self._table.id, row, ITEMS_PER_READ)
                entries += entries_of(self._index, items)
                if len(items) < ITEMS_PER_READ:
                    break
                row = items[-1][0]
        self._aside.add(entries)
        self._row = row
        if len(items) == ITEMS_PER_READ:
            return self._sort_some
        self._ordered = self._aside.in_order()
        return self._add_some

    def _add_some(self) -> Phase | None:
        if not self._batch:
            self._batch = list(islice(self._ordered, _ENTRIES_PER_COMMIT))
        phase = self._write(self._add)
        self._batch = []
        return phase

    def _add(self, session: Session, table: TableDefinition, index: IndexDefinition) -> Phase:
        touched = self.touched
        entries = [entry for entry in self._batch if entry[2] not in touched]
        session.insert_entries(table.id, index.number, entries)
        is_last = len(self._batch) < _ENTRIES_PER_COMMIT
        return self._correct_some if is_last else self._add_some

    def _correct_some(self) -> Phase | None:
        rows: list[int] = []
        phase = self._write(partial(self._correct, rows))
        self.touched.difference_update(rows)
        return phase

    def _correct(
        self, rows: list[int], session: Session, table: TableDefinition, index: IndexDefinition
    ) -> Phase | None:
        rows.extend(islice(self.touched, _TOUCHED_PER_COMMIT))
        for row in rows:
            items = session.items_in_rows(table.id, row, row + 1)
            session.insert_entries(table.id, index.number, entries_of(index, items))
        if len(rows) == _TOUCHED_PER_COMMIT:
            return self._correct_some
        self._activate(session, table, index)
        return None

    def _write(self, work: Work) -> Phase | None:
        """Commit some work; returns what follows. Nothing else changes an index being filled."""

        def checked(session: Session) -> Phase | None:
            if self._database.commits.foreign_commits != self._foreign_commits:
                return self._in_row_order
            table = self._database.catalog.get(session, self._table.name)
            return work(session, table, table.indexes_by_name[self._index.name])

        return self._database.write(checked)


def entries_of(
    index: IndexDefinition, items: list[tuple[int, bytes, int, bytes]]
) -> list[EntryRow]:
    """The entries of rows, places, sizes and bodies of items."""
    found = []
    for row, place, size, body in items:
        item = orjson.loads(body)
        plain = index.schema.plain_place(item) if index.is_whole else None
        if plain is not None:
            found.append((plain + place, 0, row))
        elif (entry := indexes.entry(index, place, item, size)) is not None:
            found.append((entry.place, entry.noted_size, row))
    return found
