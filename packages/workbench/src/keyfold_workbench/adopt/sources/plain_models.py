"""Builds a table and an entity from models whose keys are plain attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keyfold.design.condition import there
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    KeyType,
    Placement,
    TableSchema,
    TtlSchema,
)
from keyfold.design.template import Template, template
from keyfold_workbench.adopt.sources.material import Imported


def add_model(
    found: Imported,
    title: str,
    table: str,
    attributes: Sequence[AttributeSchema],
    key: tuple[str, str | None],
    indexes: Sequence[Index],
    *,
    type_attribute: str | None = None,
    type_name: str = "",
    ttl: str | None = None,
    version: str | None = None,
    description: str = "",
) -> None:
    """Add a model; key and index attributes have their stored names."""
    by_name = {attribute.name: attribute for attribute in attributes}
    slots = {name: _bare(by_name[name]) for name in by_name}
    partition, sort = key
    kinds = {name: _key_type(attribute) for name, attribute in by_name.items()}
    placed = [
        Placement(
            index.name,
            index.name,
            index.key_of(slots),
            when=_when(index, by_name, slots),
        )
        for index in indexes
    ]
    made = TableSchema(
        table,
        partition,
        sort,
        partition_type=kinds[partition],
        sort_type=kinds[sort] if sort else "S",
        indexes=tuple(indexes),
        ttl=ttl,
        type_attribute=type_attribute,
    )
    known = next((n for n, each in enumerate(found.tables) if each.name == table), None)
    if known is None:
        found.tables.append(made)
    else:
        names = {index.name for index in found.tables[known].indexes}
        more = tuple(index for index in made.indexes if index.name not in names)
        found.tables[known] = replace(
            found.tables[known], indexes=(*found.tables[known].indexes, *more)
        )
    fixed = {*_key(partition, sort, slots).fields}
    found.entities.append(
        EntitySchema(
            name=title,
            table=table,
            key=_key(partition, sort, slots),
            attributes=tuple(
                replace(a, mutable=a.mutable and a.field not in fixed) for a in attributes
            ),
            placements=tuple(placed),
            ttl=TtlSchema(ttl) if ttl else None,
            version=version,
            type_name=type_name,
            description=description,
        )
    )


def _bare(attribute: AttributeSchema) -> Template:
    format_ = f":{attribute.stored}" if attribute.stored.startswith("iso") else ""
    return template(f"{{{attribute.field}{format_}}}")


def _key(partition: str, sort: str | None, slots: dict[str, Template]) -> KeyTemplates:
    return KeyTemplates(slots[partition], slots[sort] if sort else None)


def _key_type(attribute: AttributeSchema) -> KeyType:
    if attribute.type in ("number", "decimal") or attribute.stored.startswith("epoch"):
        return "N"
    return "B" if attribute.type == "binary" else "S"


def _when(index: Index, by_name: dict[str, AttributeSchema], slots: dict[str, Template]):  # type: ignore[no-untyped-def]
    """An item without one of the attributes is not in the index."""
    used = {field for name in index.key_attributes for field in slots[name].fields}
    optional = [a.field for a in by_name.values() if a.field in used and a.optional]
    return there(*optional) if optional else None
