"""Spreads keys with more writes than one partition supports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from keyfold.design.consequence_words import with_follows
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    PatternSchema,
    Placement,
    Schema,
    TableSchema,
)
from keyfold.design.template import DELIMITER, Template, parse_template
from keyfold_workbench.advise import new_names
from keyfold_workbench.advise.demand import Demands, written_through
from keyfold_workbench.advise.replacement import with_index, with_parts
from keyfold_workbench.cost.bill import WARM, Bill, HotKey
from keyfold_workbench.cost.billing import bill
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import Workload

SHARD = "shard"
MERGED = ("query", "latest", "merge")
"""Reads that can merge the results of several shards."""


def overloads(made: Bill) -> list[HotKey]:
    """Keys with more writes than one partition supports, worst first."""
    return [hot for hot in made.hot if hot.kind == "write" and hot.share > 1]


def spread(schema: Schema, workload: Workload) -> Schema | None:
    """The design with every overloaded key spread, so that half of a partition's capacity is used.

    None if there is none, or if a reader cannot merge shards.
    """
    now = schema
    for hot in overloads(bill(schema, workload)):
        shards = ceil(hot.share / WARM)
        for entity, placement in _hot_placements(now, hot):
            if _is_mergeable(now, entity, placement):
                now = _spread(now, entity, placement, shards)
        keyed = _entity_under(now, workload, hot)
        if keyed is not None:
            now = _spread_key(now, keyed, shards)
    return now if now is not schema else None


def _entity_under(schema: Schema, workload: Workload, hot: HotKey) -> EntitySchema | None:
    """The one entity under an overloaded base key, if its key may change."""
    table = schema.by_table.get(hot.path.table)
    if hot.path.index is not None or table is None or not new_names.is_generic(schema, table):
        return None
    under = [e for e in schema.entities_of(table.name) if e.key and _partition(e) == hot.key]
    if len(under) != 1 or not _takes_number(under[0]):
        return None
    entity = under[0]
    pinned = Demands(DesignNumbers(schema, workload)).pinned[entity.name]
    follows = with_follows(schema).follows
    hung_on = any(entity.name == each.source and each.fact in ("copy", "job") for each in follows)
    counted = any(entity.name in (e.source, e.target) for e in follows if e.fact == "amount")
    return None if None in pinned or hung_on or counted or entity.cascades else entity


def _partition(entity: EntitySchema) -> str:
    return str(entity.key.partition) if entity.key else ""


def _spread_key(schema: Schema, entity: EntitySchema, shards: int) -> Schema:
    """The entity with a shard number in its key, derived from the item's id."""
    assert entity.key is not None, f"{entity.name} has no key"
    readers = [p for p in schema.patterns if p.index is None and p.entities == (entity.name,)]
    if any(p.kind not in (*MERGED, "get", "scan") for p in readers):
        return schema
    partition = _with_shard(entity.key.partition)
    numbered, shards = _numbered(entity, shards)
    changed = replace(numbered, key=KeyTemplates(partition, entity.key.sort))
    moved = (
        replace(p, partition=partition) if p.kind == "get" else _merge(p, None, partition, shards)
        for p in readers
        if p.kind != "scan"
    )
    return with_parts(schema, changed, *moved)


def _takes_number(entity: EntitySchema) -> bool:
    """Whether its items can have a shard number: they have one already, or the name is free."""
    held = entity.by_field.get(SHARD)
    return held is None or held.shards is not None


def _numbered(entity: EntitySchema, shards: int) -> tuple[EntitySchema, int]:
    """The entity with a shard number, and how many shards it tells apart: one for all its keys."""
    held = entity.by_field.get(SHARD)
    if held is not None and held.shards is not None:
        return entity, held.shards
    number = AttributeSchema(
        SHARD,
        SHARD,
        "number",
        mutable=False,
        shards=shards,
        description="Follows from the item's own id, so that one item has one shard.",
    )
    return replace(entity, attributes=(*entity.attributes, number)), shards


def _hot_placements(schema: Schema, hot: HotKey) -> Iterator[tuple[EntitySchema, Placement]]:
    for entity, placement in schema.placed_on(hot.path.table, hot.path.index or ""):
        if str(placement.key.partition) == hot.key and _takes_number(entity):
            yield entity, placement


def _readers(schema: Schema, entity: EntitySchema, placement: Placement) -> list[PatternSchema]:
    place = (entity.table, placement.index)
    return [p for p in schema.patterns if (p.table, p.index) == place and entity.name in p.entities]


def _is_mergeable(schema: Schema, entity: EntitySchema, placement: Placement) -> bool:
    readers = _readers(schema, entity, placement)
    followed = (entity.name, placement.index) in set(written_through(schema))
    alone = all(p.kind in MERGED and p.entities == (entity.name,) for p in readers)
    table = schema.by_table[entity.table]
    index = table.index(placement.index)
    sorted_ = index is not None and (
        index.sort is not None or not new_names.is_generic_index(schema, table, index)
    )
    several = index is not None and index.has_several
    return alone and sorted_ and not several and not followed and entity.copy is None


def _spread(schema: Schema, entity: EntitySchema, placement: Placement, shards: int) -> Schema:
    """The placement with a shard number, and readers that query every shard."""
    table = schema.by_table[entity.table]
    index = table.index(placement.index)
    assert index is not None, f"{table.name} has no index {placement.index}"
    readers = _readers(schema, entity, placement)
    others = [e for e, _ in schema.placed_on(table.name, index.name) if e is not entity]
    generic = new_names.is_generic_index(schema, table, index)
    # Shards are merged by sort key; without one, the id is used.
    tie = entity.key.fields[-1] if entity.key and index.sort is None else ""
    made = (
        index
        if generic
        else _spread_index(index, table, new_names.disk_name(entity, tie) if tie else "")
    )
    now = schema
    if not generic:
        now = _move(schema, entity, placement, index, made, alone=not others)
        placement = replace(placement, index=made.name)
    partition = _with_shard(placement.key.partition)
    sort = new_names.bare(entity, tie) if tie else placement.key.sort
    key = KeyTemplates(partition, sort)
    home, shards = _numbered(now.by_entity[entity.name], shards)
    changed = replace(
        home,
        placements=tuple(
            replace(p, key=key) if p.index == placement.index else p for p in home.placements
        ),
    )
    moved = (_merge(now.by_pattern[p.name], made.name, partition, shards) for p in readers)
    return with_parts(now, changed, *moved)


def _spread_index(index: Index, table: TableSchema, sort: str) -> Index:
    """An index over its own attribute, as the key is no longer a field."""
    name = new_names.free(f"{index.name}-spread", table)
    partition = f"{index.partition}Shard"
    return replace(
        index, name=name, partition=partition, partition_type="S", sort=sort or index.sort
    )


def _move(
    schema: Schema,
    entity: EntitySchema,
    placement: Placement,
    old: Index,
    new: Index,
    *,
    alone: bool,
) -> Schema:
    """The entity in the new index; the old one is dropped if it is empty."""
    table = schema.by_table[entity.table]
    if alone:
        return with_index(schema, table, old, new)
    moved = replace(placement, index=new.name)
    changed = replace(
        entity, placements=tuple(moved if p == placement else p for p in entity.placements)
    )
    return with_parts(schema, replace(table, indexes=(*table.indexes, new)), changed)


def _with_shard(partition: Template) -> Template:
    return parse_template(f"{partition.text}{DELIMITER}{{{SHARD}:02d}}", escape=partition.escape)


def _merge(
    pattern: PatternSchema, index: str | None, partition: Template, shards: int
) -> PatternSchema:
    return replace(
        pattern,
        kind="merge",
        index=index,
        partition=partition,
        max_partitions=shards,
        limit=1 if pattern.kind == "latest" else pattern.limit,
        requests=shards if pattern.requests else None,
    )
