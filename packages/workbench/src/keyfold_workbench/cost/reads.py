"""What one call of an access pattern reads, in units."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from keyfold.design.schema import Index, PatternSchema
from keyfold.review.check.filters import equal_fields
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import is_confined
from keyfold_engine.limits import BATCH_GET_ITEMS, PAGE_BYTES
from keyfold_engine.values.units import read_units
from keyfold_workbench.cost.charge import Store
from keyfold_workbench.cost.design_numbers import DesignNumbers


@dataclass(frozen=True)
class PricedRead:
    """One call of a pattern."""

    units: float
    items: float
    requests: float
    consistent: bool
    path: Store
    fetched: float = 0.0
    """Units of further reads of the table, for what the index or row lacks."""

    @property
    def total(self) -> float:
        return self.units + self.fetched


def read(figures: DesignNumbers, pattern: PatternSchema) -> PricedRead:
    """The cost of one call."""
    table = figures.schema.by_table.get(pattern.table)
    index = table.index(pattern.index) if table and pattern.index else None
    path = Store(pattern.table, index.name if index else None)
    consistent = pattern.consistent and (index is None or index.local)
    if table is None:
        return PricedRead(0.0, 0.0, 0.0, consistent, path)
    scans = pattern.kind == "scan" or pattern.partition is None
    if scans and pattern.kind != "scan":
        figures.assume(f"{pattern.name} reads all of {path}, as no key serves it")
    found = (
        figures.facts.appearances(table.name, pattern.index)
        if scans
        else figures.facts.reached(pattern)
    )
    if pattern.kind == "get" and index is None:
        each = (figures.read_units(a.entity, consistent=consistent) for a in found)
        units = max(each, default=read_units(0, consistent=consistent))
        items = figures.partitions(pattern)
        requests = float(ceil(items / BATCH_GET_ITEMS))
        # A transaction costs twice.
        units *= items * (2 if pattern.at_once == "together" else 1)
        return PricedRead(units, items, requests, consistent, path)
    counted = [(a, _matches(figures, pattern, a, index)) for a in found]
    available = sum(count for _, count in counted)
    passing = _passing(figures, pattern)
    paged = scans and pattern.filter is None and pattern.limit is not None
    if pattern.kind == "count" or (scans and not paged):
        taken = available
    else:
        taken = min(available, figures.page(pattern) / passing)
    average = (
        sum(count * _bytes(figures, a, index) for a, count in counted) / available
        if available
        else 0.0
    )
    size = ceil(taken * average - 1e-6)
    partitions = figures.partitions(pattern)
    units = read_units(size, consistent=consistent) * partitions
    rows = taken * passing * partitions
    requests = partitions * max(1, ceil(size / PAGE_BYTES))
    fetched, more = _rows(figures, pattern, found, index, rows)
    return PricedRead(units, rows, requests + more, consistent, path, fetched)


def _matches(
    figures: DesignNumbers, pattern: PatternSchema, appearance: Appearance, index: Index | None
) -> float:
    """The number of one entity's items in one call's key range."""
    entity, key = appearance.entity, appearance.key
    share = 1.0
    if appearance.placement is not None and index is not None:
        share = figures.share(entity, appearance.placement)
    if pattern.kind == "scan" or pattern.partition is None:
        return figures.items(entity) * share
    given = list(key.partition.fields)
    condition = pattern.condition
    prefixed = condition.operator in ("eq", "begins_with") or is_confined(condition)
    if prefixed and condition.template is not None and key.sort is not None:
        given += key.sort.fields[: len(condition.template.fields)]
    return figures.matched(entity, given) * share


def _passing(figures: DesignNumbers, pattern: PatternSchema) -> float:
    """The share of read items that a filter keeps."""
    entity = figures.schema.by_entity.get(pattern.entities[0]) if pattern.entities else None
    fields = [f for f in equal_fields(pattern.filter) if entity and f in entity.by_field]
    if pattern.filter is None or entity is None or not fields:
        return 1.0
    share = 1 / max(1.0, figures.distinct(entity, fields))
    figures.assume(f"{pattern.name} keeps {share:.1%} of what it reads, by {', '.join(fields)}")
    return share


def _fetch_units(
    figures: DesignNumbers, pattern: PatternSchema, rows: float
) -> tuple[float, float]:
    """Units and requests for entities that a pattern returns but does not read."""
    units = requests = 0.0
    known = figures.schema.by_entity
    held = [known[name] for name in pattern.entities if name in known]
    for name in pattern.returns:
        target = known.get(name)
        if target is None or name in pattern.entities:
            continue
        fields = set(target.key.fields if target.key else ())
        way = figures.facts.lookup_pattern(held, target)
        if way is None or all(
            fields <= set(figures.facts.held_key_fields(row, target)) for row in held
        ):
            units += rows * figures.read_units(target, consistent=False)
            requests += ceil(rows / BATCH_GET_ITEMS)
        else:
            once = read(figures, way)
            units, requests = units + rows * once.total, requests + rows * once.requests
    return units, requests


def _bytes(figures: DesignNumbers, appearance: Appearance, index: Index | None) -> int:
    if index is None:
        return figures.item_bytes(appearance.entity)
    return figures.entry_bytes(appearance.entity, index)


def _rows(
    figures: DesignNumbers,
    pattern: PatternSchema,
    found: tuple[Appearance, ...],
    index: Index | None,
    rows: float,
) -> tuple[float, float]:
    """Units and requests of what is read again per row."""
    if pattern.returns:
        return _fetch_units(figures, pattern, rows)
    if index is None or index.projection == "ALL":
        return 0.0, 0.0
    needs = figures.pattern(pattern).needs or pattern.shows or pattern.projection
    table = figures.schema.by_table[pattern.table]
    held = {*table.key_attributes, *index.key_attributes, *index.included}
    units = requests = 0.0
    for appearance in found:
        entity = appearance.entity
        names = {a.field: a.name for a in entity.attributes}
        wanted = {names.get(n, n) for n in needs} or set(names.values())
        templated = set(entity.key.fields if entity.key else ()) | set(appearance.key.fields)
        if wanted - held - {names.get(f, f) for f in templated}:
            part = rows / len(found)
            units += part * figures.read_units(entity, consistent=False)
            requests += ceil(part / BATCH_GET_ITEMS)
    return units, requests
