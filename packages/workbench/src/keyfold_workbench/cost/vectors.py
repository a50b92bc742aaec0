"""The cost of vector indexes, by bytes written, searched and stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keyfold.design.schema import EntitySchema, SearchSchema, VectorSchema
from keyfold.prices import SECONDS_A_MONTH
from keyfold_engine.limits import GB, STORAGE_OVERHEAD_BYTES, VECTOR_REQUEST_BYTES
from keyfold_workbench.cost import sizes
from keyfold_workbench.cost.bill import UpkeepLine, WriteLine
from keyfold_workbench.cost.design_numbers import DesignNumbers


def lines(figures: DesignNumbers, writes: Sequence[WriteLine]) -> Iterator[UpkeepLine]:
    """Writes and storage of each index, and each search."""
    for table in figures.schema.tables:
        for vector in table.vectors:
            held = [e for e in figures.schema.entities_of(table.name) if sizes.has(e, vector)]
            yield _writes_line(figures, vector, held, writes)
            yield _storage_line(figures, vector, held)
    for search in figures.schema.searches:
        yield from _search_lines(figures, search)


def _writes_line(
    figures: DesignNumbers,
    vector: VectorSchema,
    held: Sequence[EntitySchema],
    writes: Sequence[WriteLine],
) -> UpkeepLine:
    entries = {entity.name: _entry(figures, entity) for entity in held}
    bytes_ = sum(
        part.items * line.rate.average * max(VECTOR_REQUEST_BYTES, entries[part.entity])
        for line in writes
        for part in line.write.parts
        if part.entity in entries
    )
    gigabytes = bytes_ * SECONDS_A_MONTH / GB
    amount = f"{gigabytes:,.2f} GB a month"
    return UpkeepLine(f"writes to {vector.name}", amount, gigabytes * figures.prices.vector_write)


def _storage_line(
    figures: DesignNumbers, vector: VectorSchema, held: Sequence[EntitySchema]
) -> UpkeepLine:
    gigabytes = (
        sum(figures.items(e) * (_entry(figures, e) + STORAGE_OVERHEAD_BYTES) for e in held) / GB
    )
    dollars = gigabytes * figures.prices.vector_storage
    return UpkeepLine(f"storage of {vector.name}", f"{gigabytes:,.2f} GB", dollars)


def _search_lines(figures: DesignNumbers, search: SearchSchema) -> Iterator[UpkeepLine]:
    """A search examines every entry of its scope."""
    vector = figures.schema.by_table[search.table].vector(search.index)
    entity = figures.schema.by_entity.get(search.entity)
    if vector is None or entity is None:
        return
    scope = [a.field for a in entity.attributes if a.name == vector.within]
    looked = figures.matched(entity, scope) if scope else figures.items(entity)
    bytes_ = max(VECTOR_REQUEST_BYTES, looked * _entry(figures, entity))
    gigabytes = bytes_ * figures.rate(search).average * SECONDS_A_MONTH / GB
    amount = f"{bytes_ / 1e6:,.3g} MB a search, {gigabytes:,.1f} GB a month"
    yield UpkeepLine(f"search {search.name}", amount, gigabytes * figures.prices.vector_search)


def _entry(figures: DesignNumbers, entity: EntitySchema) -> int:
    """Bytes of an entry: the item, with four bytes for each number of a vector."""
    return figures.written_bytes(entity)
