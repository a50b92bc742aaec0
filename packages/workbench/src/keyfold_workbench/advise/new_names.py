"""Names and key templates for new parts, in the style of the existing design."""

from __future__ import annotations

import re
from collections.abc import Collection

from keyfold.design.formats import PLAIN, parse_format
from keyfold.design.schema import AttributeSchema, EntitySchema, Index, Schema, TableSchema
from keyfold.design.template import DELIMITER, Literal, Part, Slot, Template
from keyfold_workbench.advise.demand import slots

_ID = re.compile(r"(_id|Id|ID)$")


def stem(field: str) -> str:
    """`owner_account_id` as OwnerAccount."""
    words = re.split(r"_|(?<=[a-z])(?=[A-Z])", _ID.sub("", field))
    return "".join(word[:1].upper() + word[1:] for word in words if word)


def word(entity: EntitySchema, field: str) -> str:
    """What a table or a copy is by: `Id` for the entity's own, else the field's stem."""
    return "Id" if stem(field) == entity.name else stem(field)


def prefix(schema: Schema, entity: EntitySchema, field: str) -> str:
    """The text before a field's value in a key: the entity that the value identifies."""
    attribute = entity.by_field.get(field)
    if attribute is not None and attribute.refers:
        return _upper(attribute.refers)
    plain = stem(field).casefold()
    known = sorted((e.name for e in schema.entities), key=len, reverse=True)
    ends = [name for name in known if plain.endswith(name.casefold())]
    starts = [name for name in known if plain.startswith(name.casefold())]
    named = next(iter(ends + starts), None)
    return _upper(named or stem(field))


def _upper(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def slot(entity: EntitySchema, field: str) -> Slot:
    """A field in a key, in a sortable format."""
    templates = [entity.key, *(placement.key for placement in entity.placements)]
    for key in templates:
        for template in (key.partition, key.sort) if key else ():
            if (known := slots(template).get(field)) is not None and known.format.name:
                return known
    attribute = entity.by_field.get(field)
    if attribute is not None and attribute.type == "timestamp":
        return Slot(field, parse_format(attribute.stored or "iso"))
    return Slot(field, PLAIN)


def bare(entity: EntitySchema, field: str) -> Template:
    return Template((slot(entity, field),))


def join_fields(entity: EntitySchema, fields: tuple[str, ...], leading: str = "") -> Template:
    """`LEADING#{a}#{b}`, or the values alone."""
    parts: list[Part] = [Literal(leading + DELIMITER)] if leading else []
    for place, field in enumerate(fields):
        if place:
            parts.append(Literal(DELIMITER))
        parts.append(slot(entity, field))
    return Template(tuple(parts))


def disk_name(entity: EntitySchema, field: str) -> str:
    """An attribute's name on disk."""
    attribute: AttributeSchema | None = entity.by_field.get(field)
    return attribute.name if attribute else field


def key_type(entity: EntitySchema, field: str) -> str:
    attribute = entity.by_field.get(field)
    if attribute is None:
        return "S"
    return "N" if attribute.type == "number" or attribute.stored.startswith("epoch") else "S"


def is_generic(schema: Schema, table: TableSchema) -> bool:
    """Whether a table's key attributes belong to no field, so that it can hold any entity."""
    names = {a.name for entity in schema.entities_of(table.name) for a in entity.attributes}
    return table.partition not in names


def is_generic_index(schema: Schema, table: TableSchema, index: Index) -> bool:
    """Whether an index's key attributes belong to no field."""
    names = {a.name for entity in schema.entities_of(table.name) for a in entity.attributes}
    return names.isdisjoint(index.key_attributes)


def free_index(schema: Schema, table: TableSchema, used: Collection[str]) -> Index | None:
    """An unused index with text keys that can hold any entity."""
    return next(
        (
            index
            for index in table.indexes
            if index.name not in used
            and not index.local
            and index.sort is not None
            and not index.has_several
            and index.sort_type == index.partition_type == "S"
            and index.projection == "ALL"
            and is_generic_index(schema, table, index)
        ),
        None,
    )


def table_for(schema: Schema, entity: EntitySchema, field: str) -> str:
    """A name for the table that an entity moves to, by its key field."""
    table = entity.table
    others = [e.name for e in schema.entities_of(table) if e is not entity]
    taken = {t.name for t in schema.tables}
    plural = f"{entity.name}s"
    if not others:
        name = f"{table}By{word(entity, field)}"
    else:
        owner = next((e.name for e in schema.entities_of(table) if e.name in table), "")
        name = table[: table.index(owner)] + plural if owner else plural
        name = f"{name}By{word(entity, field)}" if name in taken else name
    while name in taken:
        name += "2"
    return name


def free(name: str, *tables: TableSchema) -> str:
    """A name that no index of these tables uses."""
    taken = {index.name for table in tables for index in table.indexes}
    while name in taken:
        name += "-2"
    return name


def index_for(table: TableSchema, partition: str) -> str:
    """A name for a new index, in the style of the existing ones."""
    taken = {index.name for index in table.indexes}
    numbered = [re.fullmatch(r"(.*?)(\d+)", name) for name in taken]
    if taken and all(numbered):
        found = [match for match in numbered if match]
        number = max(int(match[2]) for match in found) + 1
        return f"{found[0][1]}{number}"
    name = f"{partition}-index"
    while name in taken:
        name += "-2"
    return name
