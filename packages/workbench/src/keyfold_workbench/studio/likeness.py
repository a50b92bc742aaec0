"""The vector of a search: typed numbers, or the vector of an item."""

from __future__ import annotations

from keyfold.design.schema import SearchSchema, VectorSchema
from keyfold_workbench.studio.collection import find_item
from keyfold_workbench.studio.items import KnownItem, plain
from keyfold_workbench.studio.system import StudioSystem

JOINT = " › "
"""Separates the two parts of an item's key."""
FIRST = 3
"""The numbers of a vector that a page shows."""


def item_address(item: KnownItem) -> str:
    """An item by its key, in one line."""
    return JOINT.join(part for part in (item.partition, item.sort) if part is not None)


def index_of(system: StudioSystem, search: SearchSchema) -> VectorSchema | None:
    table = system.table(search.table)
    return None if table is None else table.vector(search.index)


def items_like(system: StudioSystem, search: SearchSchema) -> list[tuple[str, str]]:
    """Items with a vector, each with its title."""
    seen = system.survey.tables().get(search.table)
    index = index_of(system, search)
    if seen is None or index is None:
        return []
    known = seen.examples.get(search.entity, [])
    return [(item_address(item), item.title) for item in known if index.attribute in item.wire]


def vector_of(system: StudioSystem, search: SearchSchema, typed: str) -> list[float]:
    """The typed numbers; ValueError says what is wrong."""
    try:
        return [float(one) for one in typed.strip("[] ").split(",") if one.strip()]
    except ValueError:
        return _vector_of_item(system, search, typed)


def _vector_of_item(system: StudioSystem, search: SearchSchema, typed: str) -> list[float]:
    table, index = system.table(search.table), index_of(system, search)
    partition, _, sort = typed.partition(JOINT)
    whole = table is not None and bool(sort) == (table.sort is not None)
    found = (
        find_item(system, table, partition, sort or None) if table is not None and whole else None
    )
    if found is None or index is None or index.attribute not in found.wire:
        raise ValueError(
            f"No item {typed} with a vector. Give {index.dimensions if index else 'its'} numbers "
            "with commas between them, or the key of an item."
        )
    return [float(one) for one in plain(found.wire[index.attribute])]


def vector_text(item: KnownItem, attribute: str) -> str:
    """The beginning of a vector and its length; empty if the attribute is not a vector."""
    if not any(one.attribute == attribute for one in item.table.vectors):
        return ""
    numbers = plain(item.wire[attribute]) if attribute in item.wire else None
    if not isinstance(numbers, list) or len(numbers) <= FIRST:
        return ""
    return f"{', '.join(numbers[:FIRST])}, … ({len(numbers)} numbers)"
