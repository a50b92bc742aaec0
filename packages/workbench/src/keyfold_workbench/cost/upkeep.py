"""Costs besides requests and items: recovery, backups, and keyfold's own items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keyfold.design.schema import EntitySchema
from keyfold.prices import SECONDS_A_MONTH
from keyfold.streams.marker import KEPT_SECONDS
from keyfold_engine.limits import GB, STORAGE_OVERHEAD_BYTES
from keyfold_workbench.cost import vectors
from keyfold_workbench.cost.bill import PathLine, UpkeepLine, WriteLine
from keyfold_workbench.cost.charge import IN_TRANSACTION
from keyfold_workbench.cost.design_numbers import DesignNumbers

UNIQUE_BYTES, MARKER_BYTES, REQUEST_BYTES = 150, 130, 260
"""Approximate bytes of a unique marker, a processed marker and a request id."""
REQUEST_SECONDS = 24 * 3600


def unique_bytes(figures: DesignNumbers, entity: EntitySchema) -> float:
    """Bytes of one item's markers."""
    markers = len(figures.following(entity, "claim"))
    return float(markers * (UNIQUE_BYTES + STORAGE_OVERHEAD_BYTES))


def marker_bytes(units: float) -> float:
    """Bytes of stored processed markers, by their units per second."""
    made = units / IN_TRANSACTION * KEPT_SECONDS
    return made * (MARKER_BYTES + STORAGE_OVERHEAD_BYTES)


def request_bytes(figures: DesignNumbers) -> float:
    """Bytes of the request ids that are kept."""
    rate = sum(load.rate or 0.0 for load in figures.workload.writes if load.once)
    return rate * REQUEST_SECONDS * (REQUEST_BYTES + STORAGE_OVERHEAD_BYTES)


def lines(
    figures: DesignNumbers, paths: Sequence[PathLine], writes: Sequence[WriteLine]
) -> Iterator[UpkeepLine]:
    yield from _backup_lines(figures, paths)
    yield from vectors.lines(figures, writes)
    yield from _expiries(figures, writes)


def _backup_lines(figures: DesignNumbers, paths: Sequence[PathLine]) -> Iterator[UpkeepLine]:
    """Recovery and backups include local indexes, but not global ones."""
    tables = figures.schema.by_table
    held = 0.0
    for line in paths:
        table = tables.get(line.path.table)
        index = table.index(line.path.index) if table and line.path.index else None
        if table is not None and (line.path.index is None or (index and index.local)):
            held += line.bytes
    amount, asked = f"{held / GB:,.2f} GB", figures.prices
    if figures.workload.recovery is None:
        figures.assume("the tables have point-in-time recovery, like exported tables")
    if figures.workload.recovery is not False:
        yield UpkeepLine("point-in-time recovery", amount, held / GB * asked.recovery)
    if kept := figures.workload.backups:
        yield UpkeepLine(f"{kept:g} full backups", amount, kept * held / GB * asked.backup)


def _expiries(figures: DesignNumbers, writes: Sequence[WriteLine]) -> Iterator[UpkeepLine]:
    names = {load.name for load in figures.writes if load.expired}
    rate = sum(line.rate.average for line in writes if line.write.name in names)
    if rate:
        amount = f"{rate * SECONDS_A_MONTH:,.0f} items a month, deleted free of charge"
        yield UpkeepLine("expiry", amount, 0.0)
