"""One item: the cost of writing it with its index entries, and of reading it."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from statistics import fmean

from keyfold.design.condition import fields_of
from keyfold.design.schema import Effect, EntitySchema, Index, Placement, TableSchema
from keyfold_engine.values.units import entry_units, read_units, write_units
from keyfold_workbench.cost import sizes
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.part import Part, Store, Why

APPEARS = ("create", "put")


def item_write(
    figures: Figures, entity: EntitySchema, effect: Effect, why: Why = "item"
) -> Iterator[Part]:
    """One item with its index entries, outside a transaction."""
    table = figures.schema.by_table[entity.table]
    units = figures.write_units(entity)
    yield Part(Store(table.name), entity.name, units, why, effect=effect, items=1.0)
    for placement in entity.placements:
        index = table.index(placement.index)
        if index is None:
            continue
        units = _entry(figures, entity, table, index, placement, effect)
        units *= figures.share(entity, placement)
        if units:
            yield Part(Store(table.name, index.name), entity.name, units, "index")


def item_read(figures: Figures, entity: EntitySchema, why: Why, *, gone: bool = False) -> Part:
    """One consistent read of an item, present or missing."""
    units = 1.0 if gone else figures.read_units(entity, consistent=True)
    return Part(Store(entity.table), entity.name, units, why, True)


def condition_check(figures: Figures, entity: EntitySchema, *, gone: bool = False) -> Part:
    """A condition on an item that a transaction does not write."""
    units = 1.0 if gone else fmean(map(write_units, figures.item_sizes(entity)))
    return Part(Store(entity.table), entity.name, units, "check")


def items_query(
    figures: Figures,
    entity: EntitySchema,
    count: float,
    why: Why,
    index: str = "",
    page: float = 100,
) -> Part:
    """A query for a number of items of one partition, consistent unless on an index."""
    table = figures.schema.by_table[entity.table]
    through = table.index(index) if index else None
    if through is None:
        size, consistent = figures.item_bytes(entity), True
    else:
        size, consistent = figures.entry_bytes(entity, through), through.local
    pages = max(1, ceil(count / page))
    units = pages * read_units(ceil(count * size / pages - 1e-6), consistent=consistent)
    return Part(Store(table.name, index or None), entity.name, units, why, True)


def _entry(
    figures: Figures,
    entity: EntitySchema,
    table: TableSchema,
    index: Index,
    placement: Placement,
    effect: Effect,
) -> float:
    entries = figures.entry_sizes(entity, index)
    if effect.action in APPEARS:
        return fmean(entry_units(None, size, moved=True, changed=True) for size in entries)
    if effect.action == "delete":
        return fmean(entry_units(size, None, moved=True, changed=True) for size in entries)
    touched = set(effect.fields)
    moved = bool(touched & {*placement.key.fields, *fields_of(placement.when)})
    names = {a.field: a.name for a in entity.attributes}
    held = sizes.projected(table, index, {*names.values()})
    stamped = {f for f in (entity.version, "updated_at", "updatedAt") if f in names}
    changed = {names.get(f, f) for f in (touched or set(names)) | stamped}
    whole = index.projection == "ALL" or bool(changed & held)
    if not touched and index.projection == "KEYS_ONLY":
        whole = False
    return fmean(entry_units(size, size, moved=moved, changed=whole) for size in entries)
