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
    starts = [first + span * window // WINDOWS for window in range(WINDOWS)]
    sample = [
        row
        for start in starts
        for row in session.items_in_rows(table.id, start, start + ROWS_PER_WINDOW)
    ]
    # How many rows of the table one row of the sample stands for.
    weight = span / (WINDOWS * ROWS_PER_WINDOW)
    whole = Figures(round(len(sample) * weight), round(sum(row[2] for row in sample) * weight))
    held: dict[str, Figures] = {}
    for index in table.indexes:
        entries = [
            entry
            for _row, place, size, body in sample
            if (entry := indexes.entry(index, place, orjson.loads(body), size)) is not None
        ]
        size = sum(entry.size for entry in entries)
        held[index.name] = Figures(round(len(entries) * weight), round(size * weight))
    return whole, held
