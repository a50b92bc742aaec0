"""Serves scans for one entity's items with an index that holds only these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keyfold.design.schema import (
    EntitySchema,
    Index,
    KeyTemplates,
    PatternSchema,
    Placement,
    Schema,
    SortCondition,
)
from keyfold.design.template import Literal, Template
from keyfold_workbench.advise import new_names
from keyfold_workbench.advise.replacement import with_parts
from keyfold_workbench.cost.billing import bill
from keyfold_workbench.cost.workload import Workload


def list_by_index(schema: Schema, workload: Workload) -> Schema:
    """The design with an index for each such scan, if that costs less."""
    now, dollars = schema, bill(schema, workload).dollars
    for pattern, entity in _scans(schema):
        made = _with_listing(now, pattern, now.by_entity[entity.name])
        cost = bill(made, workload).dollars
        if cost < dollars - 1e-6:
            now, dollars = made, cost
    return now


def _scans(schema: Schema) -> Iterator[tuple[PatternSchema, EntitySchema]]:
    """Scans for one entity of a table that holds several."""
    for pattern in schema.patterns:
        if pattern.kind != "scan" or pattern.index or len(pattern.entities) != 1:
            continue
        entity = schema.by_entity.get(pattern.entities[0])
        if entity is None or entity.key is None:
            continue
        beside = [e for e in schema.entities_of(entity.table) if e.name != entity.name]
        if any(e.copy is None or e.copy.of != entity.name for e in beside):
            yield pattern, entity


def _with_listing(schema: Schema, pattern: PatternSchema, entity: EntitySchema) -> Schema:
    assert entity.key is not None, f"{entity.name} has no key"
    table = schema.by_table[entity.table]
    index = new_names.free_index(schema, table, {p.index for p in entity.placements})
    if index is None:
        name = new_names.index_for(table, "type")
        word = name.removesuffix("-index").replace("-", "")
        index = Index(name, f"{word}PK", f"{word}SK")
        table = replace(table, indexes=(*table.indexes, index))
    own = new_names.prefix(schema, entity, entity.name)
    sort = new_names.join_fields(entity, tuple(dict.fromkeys(entity.key.fields)), own)
    key = KeyTemplates(Template((Literal(own),)), sort)
    placed = replace(
        entity, placements=(*entity.placements, Placement(index.name, index.name, key))
    )
    asked = replace(
        pattern,
        kind="query",
        index=index.name,
        partition=key.partition,
        condition=SortCondition(),
        paged=pattern.limit is None,
        consistent=False,
    )
    return with_parts(schema, table, placed, asked)
