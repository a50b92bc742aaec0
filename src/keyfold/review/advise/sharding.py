"""Keys that take more writes than one partition can, spread over several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from keyfold.design.schema import Attribute, Entity, Index, KeyTemplates, Pattern, Placement, Schema
from keyfold.design.template import DELIMITER, Template, parse_template
from keyfold.review.advise import naming
from keyfold.review.advise.demand import written_through
from keyfold.review.advise.refine import with_index
from keyfold.review.cost.bill import WARM, Bill, HotKey
from keyfold.review.cost.counting import bill
from keyfold.review.cost.workload import Workload

SHARD = "shard"
MERGED = ("query", "latest", "merge")
"""Reads whose answer is the merge of what the shards hold."""


def overloaded(made: Bill) -> list[HotKey]:
    """Keys that are written to more often than one partition takes, the worst first."""
    return [hot for hot in made.hot if hot.kind == "write" and hot.share > 1]


def spread(schema: Schema, workload: Workload) -> Schema | None:
    """The design with every overloaded index key spread, so that half of a partition is used.

    None where there is none, or where something reads it that cannot be merged.
    """
    now, done = schema, False
    for hot in overloaded(bill(schema, workload)):
        shards = ceil(hot.share / WARM)
        for entity, placement in _placed(now, hot):
            if _is_mergeable(now, entity, placement):
                now, done = _spread(now, entity, placement, shards), True
    return now if done else None


def _placed(schema: Schema, hot: HotKey) -> Iterator[tuple[Entity, Placement]]:
    for entity, placement in schema.placed_on(hot.path.table, hot.path.index or ""):
        if str(placement.key.partition) == hot.key and SHARD not in entity.by_field:
            yield entity, placement


def _readers(schema: Schema, entity: Entity, placement: Placement) -> list[Pattern]:
    place = (entity.table, placement.index)
    return [p for p in schema.patterns if (p.table, p.index) == place and entity.name in p.entities]


def _is_mergeable(schema: Schema, entity: Entity, placement: Placement) -> bool:
    readers = _readers(schema, entity, placement)
    followed = (entity.name, placement.index) in set(written_through(schema))
    alone = all(p.kind in MERGED and p.entities == (entity.name,) for p in readers)
    return alone and not followed and entity.copy is None


def _spread(schema: Schema, entity: Entity, placement: Placement, shards: int) -> Schema:
    """The placement under a key with a shard number, and its readers asking every shard."""
    table = schema.by_table[entity.table]
    index = table.index(placement.index)
    assert index is not None, f"{table.name} has no index {placement.index}"
    readers = {p.name for p in _readers(schema, entity, placement)}
    others = [e for e, _ in schema.placed_on(table.name, index.name) if e is not entity]
    generic = naming.is_generic_index(schema, table, index)
    made = index if generic else _composed(index, naming.free(f"{index.name}-spread", table))
    now = schema
    if not generic:
        now = _moved(schema, entity, placement, index, made, alone=not others)
        placement = replace(placement, index=made.name)
    partition = _sharded(placement.key.partition)
    key = KeyTemplates(partition, placement.key.sort)
    number = Attribute(
        SHARD,
        SHARD,
        "string",
        mutable=False,
        shards=shards,
        description="Follows from the item's own id, so that one item has one shard.",
    )
    home = now.by_entity[entity.name]
    changed = replace(
        home,
        attributes=(*home.attributes, number),
        placements=tuple(
            replace(p, key=key) if p.index == placement.index else p for p in home.placements
        ),
    )
    return replace(
        now,
        entities=tuple(changed if e.name == entity.name else e for e in now.entities),
        patterns=tuple(
            _merged(p, made.name, partition, shards) if p.name in readers else p
            for p in now.patterns
        ),
    )


def _composed(index: Index, name: str) -> Index:
    """An index over an attribute of its own, as the key is no field any more."""
    return replace(index, name=name, partition=f"{index.partition}Shard", partition_type="S")


def _moved(
    schema: Schema, entity: Entity, placement: Placement, old: Index, new: Index, *, alone: bool
) -> Schema:
    """The entity in the new index; the old one goes where nothing else is in it."""
    table = schema.by_table[entity.table]
    if alone:
        return with_index(schema, table, old, new)
    moved = replace(placement, index=new.name)
    changed = replace(
        entity, placements=tuple(moved if p == placement else p for p in entity.placements)
    )
    tables = {**schema.by_table, table.name: replace(table, indexes=(*table.indexes, new))}
    return replace(
        schema,
        tables=tuple(tables.values()),
        entities=tuple(changed if e.name == entity.name else e for e in schema.entities),
    )


def _sharded(partition: Template) -> Template:
    return parse_template(f"{partition.text}{DELIMITER}{{{SHARD}}}", escape=partition.escape)


def _merged(pattern: Pattern, index: str, partition: Template, shards: int) -> Pattern:
    return replace(
        pattern,
        kind="merge",
        index=index,
        partition=partition,
        max_partitions=shards,
        limit=1 if pattern.kind == "latest" else pattern.limit,
        requests=shards if pattern.requests else None,
    )
