"""Models of NoSQL Workbench: tables, facets and their sample data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, TableSchema
from keyfold.design.source import Place
from keyfold.design.template import template
from keyfold.errors import DeclarationError
from keyfold.runtime.table_description import table_schema
from keyfold_workbench.adopt.sources.material import (
    Imported,
    PlacedMapping,
    known_type,
    projection,
    wire_item,
    with_place,
)

_TYPES = {
    "N": "decimal",
    "B": "binary",
    "BOOL": "boolean",
    "M": "map",
    "L": "list",
    "SS": "string_set",
    "NS": "number_set",
    "BS": "binary_set",
}


def is_model(data: Any) -> bool:
    return isinstance(data, dict) and "DataModel" in data


def read(data: Any, source: str) -> Imported:
    model = with_place(data, Place(source, 1))
    found = Imported("NoSQL Workbench", source, name=model.text("ModelName", ""))
    for table in model.mappings("DataModel"):
        name = table.text("TableName")
        made = table_schema(_description(table, name))
        found.tables.append(made)
        for facet in table.mappings("TableFacets"):
            _facet(found, made, facet, _types(table))
        if not found.items.get(name):
            rows = [wire_item(row, made.key_attributes) for row in table.mappings("TableData")]
            found.items.setdefault(name, []).extend(rows)
            found.labels.setdefault(name, []).extend([""] * len(rows))
    return found


def _by_alias(
    title: str, table: TableSchema, facet: PlacedMapping, types: Mapping[str, str]
) -> EntitySchema | None:
    """An entity whose key aliases are templates: A#{id}."""
    alias = facet.mapping("KeyAttributeAlias")
    texts = [alias.text(name, "") for name in ("PartitionKeyAlias", "SortKeyAlias")]
    stated = [text for text in texts if text][: len(table.key_attributes)]
    if len(stated) < len(table.key_attributes) or "{" not in "".join(stated):
        return None
    try:
        key = KeyTemplates(*(template(text) for text in stated))
    except DeclarationError:
        return None
    held = facet.texts("NonKeyAttributes")
    only = [f for f in dict.fromkeys(key.fields) if f not in held]
    return EntitySchema(
        title,
        table.name,
        key,
        (
            *(AttributeSchema(f, f, "id", mutable=False, in_key=True) for f in only),
            *(
                AttributeSchema(n, n, types.get(n, "string"), optional=n not in key.fields)
                for n in held
            ),
        ),
    )


def _facet(
    found: Imported, table: TableSchema, facet: PlacedMapping, types: Mapping[str, str]
) -> None:
    title = facet.text("FacetName")
    rows = [wire_item(row, table.key_attributes) for row in facet.mappings("TableData")]
    entity = _by_alias(title, table, facet, types)
    if not rows and entity is not None:
        found.entities.append(entity)
    elif not rows:
        found.questions.append(
            f"The facet {title} of {table.name} has no sample data. What do its keys look like?"
        )
    found.items.setdefault(table.name, []).extend(rows)
    found.labels.setdefault(table.name, []).extend([title] * len(rows))


def _types(table: PlacedMapping) -> dict[str, str]:
    """The types of non-key attributes."""
    return {
        stated.text("AttributeName"): _TYPES.get(stated.text("AttributeType", "S"), "string")
        for stated in table.mappings("NonKeyAttributes")
    }


def _description(table: PlacedMapping, name: str) -> dict[str, Any]:
    types: dict[str, str] = {}
    described: dict[str, Any] = {
        "TableName": name,
        "KeySchema": _keys(table, name, types),
        "BillingMode": table.text("BillingMode", "PROVISIONED"),
    }
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        described[member] = [
            {
                "IndexName": index.text("IndexName"),
                "KeySchema": _keys(index, f"an index of {name}", types),
                "Projection": projection(index),
            }
            for index in table.mappings(member)
        ]
    described["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
    ]
    return described


def _keys(owner: PlacedMapping, what: str, types: dict[str, str]) -> list[dict[str, str]]:
    stated = owner.mapping("KeyAttributes")
    if stated.get("PartitionKey") is None:
        owner.refuse(f"{what} needs KeyAttributes with a PartitionKey")
    parts = []
    for member, kind in (("PartitionKey", "HASH"), ("SortKey", "RANGE")):
        if stated.get(member) is None:
            continue
        part = stated.mapping(member)
        attribute = part.text("AttributeName")
        types[attribute] = known_type(part.text("AttributeType", "S"), part)
        parts.append({"AttributeName": attribute, "KeyType": kind})
    return parts
