"""Sizes of items and index entries, from stated and typical sizes."""

from __future__ import annotations

from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    Schema,
    TableSchema,
    VectorSchema,
)
from keyfold.design.template import Literal, Template

TYPICAL = {
    "id": 36,
    "string": 24,
    "timestamp": 27,
    "date": 10,
    "number": 4,
    "decimal": 4,
    "duration": 4,
    "boolean": 1,
    "list": 120,
    "map": 120,
    "model": 120,
    "string_set": 80,
    "number_set": 40,
    "binary": 100,
    "binary_set": 200,
    "signed_url": 200,
    "any": 50,
}
"""Typical bytes of a value of each type."""
_SLOT = 24
_NUMBER_IN_LIST = 11
"""A number of 17 digits, plus a list's overhead per element."""


def value_bytes(attribute: AttributeSchema) -> int:
    if attribute.stored.startswith("epoch"):
        return 7
    if attribute.field.casefold().endswith("id") and attribute.type == "string":
        return TYPICAL["id"]
    return TYPICAL.get(attribute.type, TYPICAL["any"])


def template_bytes(template: Template, entity: EntitySchema) -> int:
    total = 0
    for part in template.parts:
        if isinstance(part, Literal):
            total += len(part.text.encode())
        else:
            attribute = entity.by_field.get(part.field)
            total += value_bytes(attribute) if attribute else _SLOT
    return total


def attributes(schema: Schema, entity: EntitySchema) -> dict[str, int]:
    """Estimated bytes of every stored attribute, its name included."""
    table = schema.by_table[entity.table]
    sizes = {
        a.name: len(a.name.encode()) + value_bytes(a) for a in entity.attributes if a.is_stored
    }
    for vector in table.vectors:
        if has(entity, vector):
            sizes[vector.attribute] = len(vector.attribute.encode()) + _list_bytes(vector)
    if table.type_attribute:
        sizes.setdefault(
            table.type_attribute, len(table.type_attribute) + len(entity.type_name or entity.name)
        )
    for owner, key in keys(table, entity):
        for name, _, template in owner.templates(key):
            if name not in sizes:
                sizes[name] = len(name.encode()) + template_bytes(template, entity)
    return sizes


def has(entity: EntitySchema, vector: VectorSchema) -> bool:
    """Whether items of an entity are in a vector index."""
    return any(a.name == vector.attribute and a.is_stored for a in entity.attributes)


def _list_bytes(vector: VectorSchema) -> int:
    """Bytes of a vector as an item holds it: a list of numbers."""
    return 3 + vector.dimensions * _NUMBER_IN_LIST


def vector_saving(table: TableSchema, entity: EntitySchema) -> int:
    """How many bytes less than its size a write of an item is billed."""
    held = {v.attribute: v for v in table.vectors if has(entity, v)}
    return sum(_list_bytes(vector) - 4 * vector.dimensions for vector in held.values())


def keys(
    table: TableSchema, entity: EntitySchema
) -> list[tuple[TableSchema | Index, KeyTemplates]]:
    """Every key of an entity's items, with its table or index."""
    found: list[tuple[TableSchema | Index, KeyTemplates]] = []
    if entity.key is not None:
        found.append((table, entity.key))
    for placement in entity.placements:
        index = table.index(placement.index)
        if index is not None:
            found.append((index, placement.key))
    return found


def projected(table: TableSchema, index: Index, names: set[str]) -> set[str]:
    """The attributes of an item that an index projects."""
    if index.projection == "ALL":
        return names
    return names & {*table.key_attributes, *index.key_attributes, *index.included}
