"""How many items a table and its indexes hold, and how many bytes.

Small tables are counted. Larger ones are estimated from a sample of fixed size, so that asking
costs the same for every table; DynamoDB's own figures are hours old.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from keyfold.engine import indexes
from keyfold.engine.storage import Session
from keyfold.engine.tables import Table

COUNTED_UP_TO = 5_000
WINDOWS = 100
ROWS_PER_WINDOW = 20


class Figures(NamedTuple):
    items: int
    size: int

    def with_one(self, size: int) -> Figures:
        return Figures(self.items + 1, self.size + size)

    def times(self, weight: float) -> Figures:
        return Figures(round(self.items * weight), round(self.size * weight))


def of(session: Session, table: Table) -> tuple[Figures, dict[str, Figures]]:
    """Figures of the table, and of each index by name."""
    whole = Figures(*session.count_items(table.id, COUNTED_UP_TO + 1))
    if whole.items > COUNTED_UP_TO:
        return _estimated(session, table)
    return whole, {
        index.name: Figures(*session.count_entries(table.id, index.number))
        for index in table.indexes
    }


def _estimated(session: Session, table: Table) -> tuple[Figures, dict[str, Figures]]:
    """Windows of rows spread over the table show how dense and how large its items are."""
    first, last = session.row_bounds(table.id)
    span = last - first + 1
    sampled = Figures(0, 0)
    held = {index.name: Figures(0, 0) for index in table.indexes}
    for window in range(WINDOWS):
        start = first + span * window // WINDOWS
        # Items may be large: no more than a window of them is in memory.
        for _row, place, size, body in session.items_in_rows(
            table.id, start, start + ROWS_PER_WINDOW
        ):
            sampled = sampled.with_one(size)
            item = orjson.loads(body) if table.indexes else {}
            for index in table.indexes:
                entry = indexes.entry(index, place, item, size)
                if entry is not None:
                    held[index.name] = held[index.name].with_one(entry.size)
    # How many rows of the table one row of the sample stands for.
    weight = span / (WINDOWS * ROWS_PER_WINDOW)
    return sampled.times(weight), {name: part.times(weight) for name, part in held.items()}
