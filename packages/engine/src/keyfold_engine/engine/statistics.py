"""Item counts and sizes of a table and its indexes.

Small tables are counted. Larger ones are estimated from a sample of fixed size, which is kept for a
minute; DynamoDB's own figures are hours old.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from keyfold_engine.engine import indexes
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition

COUNTED_UP_TO = 5_000
WINDOWS = 100
ROWS_PER_WINDOW = 20
KEPT_SECONDS = 60.0
_MOST_KEPT = 100


class Statistics(NamedTuple):
    items: int
    size: int

    def with_one(self, size: int) -> Statistics:
        return Statistics(self.items + 1, self.size + size)

    def times(self, weight: float) -> Statistics:
        return Statistics(round(self.items * weight), round(self.size * weight))


Figures = tuple[Statistics, dict[str, Statistics]]
"""Of a table, and of each index by name."""


class Estimates:
    """The last estimates of large tables, by the definitions that they are of."""

    def __init__(self) -> None:
        self._kept: dict[TableDefinition, tuple[float, Figures]] = {}

    def find(self, table: TableDefinition, now: float) -> Figures | None:
        kept = self._kept.get(table)
        return kept[1] if kept is not None and abs(now - kept[0]) < KEPT_SECONDS else None

    def keep(self, table: TableDefinition, now: float, figures: Figures) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[table] = now, figures


def of(database: Database, session: Session, table: TableDefinition) -> Figures:
    """The figures of a table."""
    estimates, now = database.part(Estimates), database.clock.now()
    if (kept := estimates.find(table, now)) is not None:
        return kept
    whole = Statistics(*session.count_items(table.id, COUNTED_UP_TO + 1))
    if whole.items > COUNTED_UP_TO:
        figures = _estimate(session, table)
        estimates.keep(table, now, figures)
        return figures
    held = {
        index.name: Statistics(*session.count_entries(table.id, index.number))
        for index in table.indexes
    }
    saved: dict[str, int] = {}
    for further in table.further_indexes:
        count, size, saving = further.totals(session, table.id)
        held[further.name] = Statistics(count, size)
        saved[further.attribute] = max(saving, saved.get(further.attribute, 0))
    return Statistics(whole.items, whole.size - sum(saved.values())), held


def _estimate(session: Session, table: TableDefinition) -> Figures:
    """Estimates from windows of rows spread over the table."""
    first, last = session.row_bounds(table.id)
    span = last - first + 1
    sampled = Statistics(0, 0)
    every = [*(each.name for each in table.indexes), *(e.name for e in table.further_indexes)]
    held = {name: Statistics(0, 0) for name in every}
    for window in range(WINDOWS):
        start = first + span * window // WINDOWS
        # Items may be large: only one window of them is in memory.
        for _row, place, size, body in session.items_in_rows(
            table.id, start, start + ROWS_PER_WINDOW
        ):
            item = orjson.loads(body) if every else {}
            sampled = sampled.with_one(size - table.saving(item))
            for further in table.further_indexes:
                if (entry_size := further.entry_size(item)) is not None:
                    held[further.name] = held[further.name].with_one(entry_size)
            for index in table.indexes:
                entry = indexes.entry(index, place, item, size)
                if entry is not None:
                    held[index.name] = held[index.name].with_one(entry.size)
    # How many rows of the table one sampled row stands for.
    weight = span / (WINDOWS * ROWS_PER_WINDOW)
    return sampled.times(weight), {name: part.times(weight) for name, part in held.items()}
