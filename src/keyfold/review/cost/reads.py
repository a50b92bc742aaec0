"""What one call of an access pattern reads, in units."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from keyfold.design.schema import Index, PatternSchema
from keyfold.limits import BATCH_GET_ITEMS, PAGE_BYTES
from keyfold.review.check.reach import Appearance, is_confined
from keyfold.review.cost.figures import Figures
from keyfold.review.cost.part import Store
from keyfold.values.units import read_units


@dataclass(frozen=True)
class PricedRead:
    """One call of a pattern."""

    units: float
    items: float
    requests: float
    consistent: bool
    path: Store
    fetched: float = 0.0
    """Units that further reads of the table take, for what the index or the row lacks."""

    @property
    def total(self) -> float:
        return self.units + self.fetched


def read(figures: Figures, pattern: PatternSchema) -> PricedRead:
    """The cost of one call."""
    table = figures.schema.by_table.get(pattern.table)
    index = table.index(pattern.index) if table and pattern.index else None
    path = Store(pattern.table, index.name if index else None)
    consistent = pattern.consistent and (index is None or index.local)
    if table is None or (pattern.partition is None and pattern.kind != "scan"):
        return PricedRead(0.0, 0.0, 0.0, consistent, path)
    found = figures.facts.reached(pattern)
    if pattern.kind == "get" and index is None:
        size = max((figures.item_bytes(a.entity) for a in found), default=0)
        units = read_units(size, consistent=consistent)
        items = figures.partitions(pattern)
        requests = float(ceil(items / BATCH_GET_ITEMS))
        # A transaction reads everything twice.
        units *= items * (2 if pattern.at_once == "together" else 1)
        return PricedRead(units, items, requests, consistent, path)
    counted = [(a, _matches(figures, pattern, a, index)) for a in found]
    available = sum(count for _, count in counted)
    whole = pattern.kind in ("count", "scan")
    taken = available if whole else min(available, figures.page(pattern))
    average = (
        sum(count * _bytes(figures, a, index) for a, count in counted) / available
        if available
        else 0.0
    )
    size = ceil(taken * average - 1e-6)
    partitions = figures.partitions(pattern)
    units = read_units(size, consistent=consistent) * partitions
    rows = taken * partitions
    requests = partitions * max(1, ceil(size / PAGE_BYTES))
    fetched, more = _rows(figures, pattern, found, index, rows)
    return PricedRead(units, rows, requests + more, consistent, path, fetched)


def _matches(
    figures: Figures, pattern: PatternSchema, appearance: Appearance, index: Index | None
) -> float:
    """How many items of one entity lie in one call's key range."""
    entity, key = appearance.entity, appearance.key
    share = 1.0
    if appearance.placement is not None and index is not None:
        share = figures.share(entity, appearance.placement)
    if pattern.kind == "scan":
        return figures.items(entity) * share
    given = list(key.partition.fields)
    condition = pattern.condition
    prefixed = condition.operator in ("eq", "begins_with") or is_confined(condition)
    if prefixed and condition.template is not None and key.sort is not None:
        given += key.sort.fields[: len(condition.template.fields)]
    return figures.matched(entity, given) * share


def _bytes(figures: Figures, appearance: Appearance, index: Index | None) -> int:
    if index is None:
        return figures.item_bytes(appearance.entity)
    return figures.entry_bytes(appearance.entity, index)


def _rows(
    figures: Figures,
    pattern: PatternSchema,
    found: tuple[Appearance, ...],
    index: Index | None,
    rows: float,
) -> tuple[float, float]:
    """Units and requests of what is read again for each row."""
    if pattern.per_row and (inner := figures.schema.by_pattern.get(pattern.per_row)):
        once = read(figures, inner)
        batched = inner.kind == "get" and inner.index is None
        requests = ceil(rows / BATCH_GET_ITEMS) if batched else rows * once.requests
        return rows * once.total, float(requests)
    if index is None or index.projection == "ALL":
        return 0.0, 0.0
    needs = figures.pattern(pattern).needs or pattern.shows or pattern.projection
    table = figures.schema.by_table[pattern.table]
    held = {table.partition, table.sort, index.partition, index.sort, *index.included}
    units = requests = 0.0
    for appearance in found:
        entity = appearance.entity
        names = {a.field: a.name for a in entity.attributes}
        wanted = {names.get(n, n) for n in needs} or set(names.values())
        templated = set(entity.key.fields if entity.key else ()) | set(appearance.key.fields)
        if wanted - held - {names.get(f, f) for f in templated}:
            part = rows / len(found)
            units += part * read_units(figures.item_bytes(entity), consistent=False)
            requests += ceil(part / BATCH_GET_ITEMS)
    return units, requests
