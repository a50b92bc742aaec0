"""DynamoDB-Toolbox's entities, as the JSON that `entity.build(EntityDTO).toJSON()` gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keyfold.adopt.sources.imported import Imported, expect_mapping, expect_text, refuse
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


def entities(data: Any) -> list[dict[str, Any]]:
    """The entities of a file: one, or a list of them; nothing if it has none."""
    if isinstance(data, list):
        return [each for part in data for each in entities(part)]
    named = isinstance(data, dict) and isinstance(data.get("schema"), dict)
    return [data] if named and "entityName" in data and "table" in data else []


def read(data: Any, source: str, *, table: str = "") -> Imported:
    place = Place(source, 1)
    found = Imported("DynamoDB-Toolbox", source)
    for stated in entities(data):
        made = _table(stated, table, found, place)
        if made.name not in {each.name for each in found.tables}:
            found.tables.append(made)
        found.entities.append(_entity(stated, made, found, place))
    return found


def _table(stated: Mapping[str, Any], given: str, found: Imported, place: Place) -> TableSchema:
    table = expect_mapping(stated["table"], "table", place)
    name = given or table.get("tableName") or table.get("name")
    if not isinstance(name, str):
        question = "What is the table called? The model does not say."
        if question not in found.questions:
            found.questions.append(question)
        name = "table"
    partition = expect_mapping(table.get("partitionKey"), "table.partitionKey", place)
    sort = table.get("sortKey") or {}
    return TableSchema(
        name,
        expect_text(partition.get("name"), "table.partitionKey.name", place),
        sort.get("name"),
        partition_type=_KEYS.get(str(partition.get("type")), "S"),
        sort_type=_KEYS.get(str(sort.get("type", "string")), "S"),
        indexes=tuple(
            _index(called, index, partition, place)
            for called, index in (table.get("indexes") or {}).items()
        ),
        type_attribute=str(table.get("entityAttributeSavedAs") or "_et"),
    )


def _index(called: str, index: Any, partition: Mapping[str, Any], place: Place) -> Index:
    stated = expect_mapping(index, f"the index {called}", place)
    local = stated.get("type") == "local"
    own = partition if local else stated.get("partitionKey")
    if not isinstance(own, dict):
        refuse(stated, place, f"the index {called} needs partitionKey")
    sort = stated.get("sortKey") or {}
    return Index(
        called,
        str(own.get("name")),
        sort.get("name"),
        _KEYS.get(str(own.get("type")), "S"),
        _KEYS.get(str(sort.get("type", "string")), "S"),
        local=local,
    )


def _entity(
    stated: Mapping[str, Any], table: TableSchema, found: Imported, place: Place
) -> EntitySchema:
    title = expect_text(stated.get("entityName"), "entityName", place)
    schema = expect_mapping(stated["schema"].get("attributes"), "schema.attributes", place)
    held = {name: _attribute(name, each) for name, each in schema.items()}
    for name, disk in _timestamps(stated.get("timestamps", True)):
        # Toolbox writes ISO texts with milliseconds.
        held.setdefault(
            name, AttributeSchema(disk, name, "timestamp", mutable=True, stored="iso_ms")
        )
    by_disk = {a.name: a for a in held.values()}
    keys = []
    for attribute in table.key_attributes:
        known = by_disk.get(attribute)
        hidden = known is not None and bool(schema.get(known.field, {}).get("hidden"))
        if known is None or hidden:
            found.questions.append(
                f"{title}: {attribute} is computed by code (computeKey or a link). "
                "What is its format?"
            )
            field = known.field if known else re.sub(r"\W", "_", attribute)
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


def _attribute(name: str, stated: Any) -> AttributeSchema:
    described = stated if isinstance(stated, dict) else {}
    kind = str(described.get("type") or "any")
    inner = described.get("elements") or {}
    if kind == "set":
        kinds = {"number": "number_set", "binary": "binary_set"}
        type_ = kinds.get(str(inner.get("type")), "string_set")
    else:
        type_ = _TYPES.get(kind, "any")
    values = tuple(str(v) for v in described.get("enum") or () if kind == "string")
    return AttributeSchema(
        str(described.get("savedAs") or name),
        name if name.isidentifier() else re.sub(r"\W", "_", name),
        type_,
        optional=described.get("required") == "never",
        mutable=not described.get("key") and described.get("required") != "always",
        values=values if all("," not in v for v in values) else (),
    )
