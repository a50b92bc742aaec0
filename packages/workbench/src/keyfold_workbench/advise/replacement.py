"""A design with some of its parts replaced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from keyfold.design.schema import EntitySchema, Index, PatternSchema, Schema, TableSchema

P = TypeVar("P", TableSchema, EntitySchema, PatternSchema)


def with_parts(schema: Schema, *parts: TableSchema | EntitySchema | PatternSchema) -> Schema:
    """The design with these parts in place of those with their names."""
    new: dict[Any, Any] = {(type(part), part.name): part for part in parts}

    def replaced(old: tuple[P, ...]) -> tuple[P, ...]:
        return tuple(new.get((type(part), part.name), part) for part in old)

    return replace(
        schema,
        tables=replaced(schema.tables),
        entities=replaced(schema.entities),
        patterns=replaced(schema.patterns),
    )


def with_index(schema: Schema, table: TableSchema, old: Index, new: Index) -> Schema:
    """The design with an index replaced by another, for all its entries and readers."""
    indexes = dict.fromkeys(new if known.name == old.name else known for known in table.indexes)
    entities = (
        replace(
            entity,
            placements=tuple(
                replace(p, index=new.name) if p.index == old.name else p for p in entity.placements
            ),
        )
        for entity in schema.entities_of(table.name)
    )
    patterns = (
        replace(pattern, index=new.name)
        for pattern in schema.patterns
        if (pattern.table, pattern.index) == (table.name, old.name)
    )
    return with_parts(schema, replace(table, indexes=tuple(indexes)), *entities, *patterns)
