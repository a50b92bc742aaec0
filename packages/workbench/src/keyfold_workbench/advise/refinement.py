"""Smaller changes without new keys: narrower projections and sparse indexes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keyfold.design.schema import (
    Index,
    PatternSchema,
    Schema,
)
from keyfold_workbench.advise import new_names
from keyfold_workbench.advise.demand import Demands, written_through
from keyfold_workbench.advise.replacement import with_index, with_parts
from keyfold_workbench.cost.billing import bill
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import Workload

FEW = 10


def refine(before: Schema, schema: Schema, workload: Workload) -> Schema:
    """The design with every projection and sparse index that pays.

    An index cannot be changed: an existing one is replaced under another name.
    """
    now, dollars = schema, bill(schema, workload).dollars
    for table in schema.tables:
        for index in table.indexes:
            for changed in (
                *_narrow(before, now, workload, table.name, index),
                *_sparse(now, workload, table.name, index),
            ):
                cost = bill(changed, workload).dollars
                if cost < dollars - 1e-6:
                    now, dollars = changed, cost
    return now


def _narrow(
    before: Schema, schema: Schema, workload: Workload, name: str, index: Index
) -> Iterator[Schema]:
    """The index with only what its readers need, if all of them say what that is."""
    table = schema.by_table[name]
    if index.projection != "ALL" or index.local:
        return
    readers = [p for p in schema.patterns if (p.table, p.index) == (name, index.name)]
    figures = DesignNumbers(schema, workload)
    needs = [_needs(figures, pattern) for pattern in readers]
    followed = {(schema.by_entity[e].table, i) for e, i in written_through(schema)}
    if not readers or any(need is None for need in needs) or (name, index.name) in followed:
        return
    wanted = {field for need in needs if need for field in need}
    placed = [entity for entity, _ in schema.placed_on(name, index.name)]
    keys = {*table.key_attributes, *index.key_attributes}
    # A value inside a composed key cannot be read back.
    held = {
        entity.by_field[field].name
        for entity in placed
        for field in wanted
        if field in entity.by_field
    }
    included = tuple(sorted(held - keys))
    narrowed = replace(index, projection="INCLUDE" if included else "KEYS_ONLY", included=included)
    today = before.by_table.get(name)
    if today is not None and today.index(index.name) is not None:
        narrowed = replace(narrowed, name=new_names.free(f"{index.name}-narrow", today, table))
    made = with_index(schema, table, index, narrowed)
    read = [
        replace(made.by_pattern[pattern.name], projection=need)
        for pattern, need in zip(readers, needs, strict=True)
        if need
    ]
    yield with_parts(made, *read)


def _needs(figures: DesignNumbers, pattern: PatternSchema) -> tuple[str, ...] | None:
    """The fields that a pattern's caller uses; None if not stated."""
    if pattern.kind in ("count", "exists"):
        return ()
    stated = figures.pattern(pattern).needs or pattern.shows or pattern.projection
    return stated or None


def _sparse(schema: Schema, workload: Workload, name: str, index: Index) -> Iterator[Schema]:
    """The index with only the one value that is read, if its partition key has few values."""
    figures = DesignNumbers(schema, workload)
    demands = Demands(figures)
    for entity, placement in schema.placed_on(name, index.name):
        fields = placement.key.partition.fields
        if len(fields) != 1 or placement.is_partial:
            continue
        asked = [d for d in demands.by_entity[entity.name] if d.pattern.index == index.name]
        others = [
            p
            for p in schema.patterns
            if p.index == index.name and p.table == name and entity.name not in p.entities
        ]
        few = figures.distinct(entity, fields) <= FEW
        if asked and few and not others and all(demand.constant for demand in asked):
            read = ", ".join(demand.name for demand in asked)
            made = replace(placement, note=f"{fields[0]} is the value that {read} reads")
            placements = tuple(made if known == placement else known for known in entity.placements)
            yield with_parts(schema, replace(entity, placements=placements))
