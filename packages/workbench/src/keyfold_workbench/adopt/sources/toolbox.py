"""DynamoDB-Toolbox's entities, from the JSON of `entity.build(EntityDTO).toJSON()`."""

from __future__ import annotations

from typing import Any

from keyfold_workbench.adopt.sources.material import Imported, PlacedMapping, identifier, with_place
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    KeyType,
    TableSchema,
)
from keyfold.design.shorthand import template
from keyfold.design.source import Place
from keyfold.review.draft import names

_TYPES = {
    "string": "string",
    "number": "decimal",
    "boolean": "boolean",
    "binary": "binary",
    "list": "list",
    "map": "map",
    "record": "map",
    "item": "map",
    "any": "any",
    "anyOf": "any",
    "null": "any",
}
_KEYS: dict[str, KeyType] = {"string": "S", "number": "N", "binary": "B"}


def entities(data: Any) -> list[Any]:
    """The entities of a file: one or a list; empty if none."""
    if isinstance(data, list):
        return [each for part in data for each in entities(part)]
    named = isinstance(data, dict) and isinstance(data.get("schema"), dict)
    return [data] if named and "entityName" in data and "table" in data else []


def read(data: Any, source: str, *, table: str = "") -> Imported:
    found = Imported("DynamoDB-Toolbox", source)
    for stated in entities(with_place(data, Place(source, 1))):
        made = _table(stated.mapping("table"), table, found)
        if made.name not in {each.name for each in found.tables}:
            found.tables.append(made)
        found.entities.append(_entity(stated, made, found))
    return found


def _table(stated: PlacedMapping, given: str, found: Imported) -> TableSchema:
    name = given or stated.text("tableName", "") or stated.text("name", "")
    if not name:
        question = "What is the table called? The model does not say."
        if question not in found.questions:
            found.questions.append(question)
        name = "table"
    partition, sort = stated.mapping("partitionKey"), stated.mapping("sortKey")
    return TableSchema(
        name,
        partition.text("name"),
        sort.text("name", "") or None,
        partition_type=_key_type(partition),
        sort_type=_key_type(sort),
        indexes=tuple(_index(called, index, partition) for called, index in stated.each("indexes")),
        type_attribute=stated.text("entityAttributeSavedAs", "_et"),
    )


def _key_type(key: PlacedMapping) -> KeyType:
    return _KEYS.get(key.text("type", "string"), "S")


def _index(called: str, stated: PlacedMapping, partition: PlacedMapping) -> Index:
    local = stated.get("type") == "local"
    own = partition if local else stated.mapping("partitionKey")
    sort = stated.mapping("sortKey")
    return Index(
        called,
        own.text("name"),
        sort.text("name", "") or None,
        _key_type(own),
        _key_type(sort),
        local=local,
    )


def _entity(stated: PlacedMapping, table: TableSchema, found: Imported) -> EntitySchema:
    title = stated.text("entityName")
    schema = stated.mapping("schema")
    attributes = dict(schema.each("attributes"))
    held = {name: _attribute(name, each) for name, each in attributes.items()}
    for name, disk in _timestamps(stated.get("timestamps", True)):
        # Toolbox writes ISO texts with milliseconds.
        held.setdefault(
            name, AttributeSchema(disk, name, "timestamp", mutable=True, stored="iso_ms")
        )
    by_disk = {a.name: a for a in held.values()}
    keys = []
    for attribute in table.key_attributes:
        known = by_disk.get(attribute)
        own = attributes.get(known.field) if known is not None else None
        hidden = own is not None and bool(own.get("hidden"))
        if known is None or hidden:
            found.questions.append(
                f"{title}: {attribute} is computed by code (computeKey or a link). "
                "What is its format?"
            )
            field = known.field if known else identifier(attribute)
            held[field] = AttributeSchema(attribute, field, "string", mutable=False)
            by_disk[attribute] = held[field]
        keys.append(template(f"{{{by_disk[attribute].field}}}"))
    name = names.class_name(title)
    return EntitySchema(
        name=name,
        table=table.name,
        key=KeyTemplates(*keys),
        attributes=tuple(held.values()),
        type_name=title if title != name else "",
    )


def _timestamps(stated: Any) -> list[tuple[str, str]]:
    if stated is False:
        return []
    options = stated if isinstance(stated, dict) else {"created": True, "modified": True}
    found = []
    for member, name, disk in (("created", "created", "_ct"), ("modified", "modified", "_md")):
        option = options.get(member, True)
        if option is False:
            continue
        inner = option if isinstance(option, dict) else {}
        found.append((str(inner.get("name") or name), str(inner.get("savedAs") or disk)))
    return found


def _attribute(name: str, stated: PlacedMapping) -> AttributeSchema:
    kind = stated.text("type", "any")
    if kind == "set":
        kinds = {"number": "number_set", "binary": "binary_set"}
        type_ = kinds.get(stated.mapping("elements").text("type", "string"), "string_set")
    else:
        type_ = _TYPES.get(kind, "any")
    values = tuple(stated.texts("enum")) if kind == "string" else ()
    return AttributeSchema(
        stated.text("savedAs", "") or name,
        identifier(name),
        type_,
        optional=stated.get("required") == "never",
        mutable=not stated.get("key") and stated.get("required") != "always",
        values=values if all("," not in v for v in values) else (),
    )
