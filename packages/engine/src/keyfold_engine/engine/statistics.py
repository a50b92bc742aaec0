"""Item counts and sizes of a table and its indexes.

Small tables are counted. Larger ones are estimated from a sample of fixed size, so the cost is the
same for every table; DynamoDB's own figures are hours old.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from keyfold_engine.engine import indexes
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.vectors import entries

COUNTED_UP_TO = 5_000
WINDOWS = 100
ROWS_PER_WINDOW = 20


class Statistics(NamedTuple):
    items: int
    size: int

    def with_one(self, size: int) -> Statistics:
        return Statistics(self.items + 1, self.size + size)

    def times(self, weight: float) -> Statistics:
        return Statistics(round(self.items * weight), round(self.size * weight))


def of(session: Session, table: TableDefinition) -> tuple[Statistics, dict[str, Statistics]]:
    """Figures of the table, and of each index by name."""
    whole = Statistics(*session.count_items(table.id, COUNTED_UP_TO + 1))
    if whole.items > COUNTED_UP_TO:
        return _estimate(session, table)
    held = {
        index.name: Statistics(*session.count_entries(table.id, index.number))
        for index in table.indexes
    }
    saved: dict[str, int] = {}
    for vector in table.vector_indexes:
        count, size, saving = session.count_vectors(table.id, vector.number)
        held[vector.name] = Statistics(count, size)
        saved[vector.attribute] = max(saving, saved.get(vector.attribute, 0))
    return Statistics(whole.items, whole.size - sum(saved.values())), held


def _estimate(session: Session, table: TableDefinition) -> tuple[Statistics, dict[str, Statistics]]:
    """Estimates from windows of rows spread over the table."""
    first, last = session.row_bounds(table.id)
    span = last - first + 1
    sampled = Statistics(0, 0)
    every = [*(each.name for each in table.indexes), *(e.name for e in table.vector_indexes)]
    held = {name: Statistics(0, 0) for name in every}
    for window in range(WINDOWS):
        start = first + span * window // WINDOWS
        # Items may be large: only one window of them is in memory.
        for _row, place, size, body in session.items_in_rows(
            table.id, start, start + ROWS_PER_WINDOW
        ):
            item = orjson.loads(body) if every else {}
            sampled = sampled.with_one(size - table.vector_saving(item))
            for vector in table.vector_indexes:
                if (found := entries.entry(vector, item)) is not None:
                    held[vector.name] = held[vector.name].with_one(found.size)
            for index in table.indexes:
                entry = indexes.entry(index, place, item, size)
                if entry is not None:
                    held[index.name] = held[index.name].with_one(entry.size)
    # How many rows of the table one sampled row stands for.
    weight = span / (WINDOWS * ROWS_PER_WINDOW)
    return sampled.times(weight), {name: part.times(weight) for name, part in held.items()}
