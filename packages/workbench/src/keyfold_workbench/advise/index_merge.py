"""Merges two indexes of one table if no item is in both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from keyfold.design.schema import Index, Schema, TableSchema
from keyfold_workbench.advise.new_names import is_generic_index
from keyfold_workbench.advise.proof import Proof
from keyfold_workbench.advise.replacement import with_index


def merge_indexes(schema: Schema) -> Schema:
    """The design with as few indexes as its items allow."""
    now = schema
    for table in schema.tables:
        for kept, gone in _pairs(schema, table):
            home = now.by_table[table.name]
            if home.index(kept.name) is None or home.index(gone.name) is None:
                continue
            if not _shares_items(now, table, kept, gone):
                made = _move_into(now, table, kept, gone)
                if not Proof(now).against(made):
                    now = made
    return now


def _pairs(schema: Schema, table: TableSchema) -> Iterator[tuple[Index, Index]]:
    """Indexes that differ only in name."""
    able = [
        index
        for index in table.indexes
        if not index.local
        and not index.has_several
        and index.projection == "ALL"
        and is_generic_index(schema, table, index)
    ]
    for one, other in combinations(able, 2):
        alike = one.partition_type == other.partition_type and one.sort_type == other.sort_type
        own = {*one.key_attributes}.isdisjoint(other.key_attributes)
        if alike and own and (one.sort is None) == (other.sort is None):
            yield one, other


def _shares_items(schema: Schema, table: TableSchema, one: Index, other: Index) -> bool:
    return any(
        entity.placement(one.name) and entity.placement(other.name)
        for entity in schema.entities_of(table.name)
    )


def _move_into(schema: Schema, table: TableSchema, kept: Index, gone: Index) -> Schema:
    """Moves everything of one index into the other, with the same keys."""

    def new_name(index: str | None) -> str | None:
        return kept.name if index == gone.name else index

    consumers = tuple(
        replace(
            consumer,
            effects=tuple(
                replace(effect, via_index=new_name(effect.via_index) or "")
                for effect in consumer.effects
            ),
        )
        if consumer.table == table.name
        else consumer
        for consumer in schema.consumers
    )
    follows = tuple(
        replace(each, found=new_name(each.found) or each.found)
        if each.found and schema.by_entity[each.target].table == table.name
        else each
        for each in schema.follows
        if each.target in schema.by_entity or not each.target
    )
    made = with_index(schema, schema.by_table[table.name], gone, kept)
    return replace(made, consumers=consumers, follows=follows)
