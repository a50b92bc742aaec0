"""Models of NoSQL Workbench: tables, facets and their sample data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.adopt.described import table_schema
from keyfold.adopt.sources.imported import (
    Imported,
    expect_list,
    expect_mapping,
    expect_text,
    refuse,
)
from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates
from keyfold.design.shorthand import template
from keyfold.design.source import Place
from keyfold.errors import DeclarationError

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
    place = Place(source, 1)
    found = Imported("NoSQL Workbench", source, name=str(data.get("ModelName") or ""))
    for stated in expect_list(data["DataModel"], "DataModel as a list of tables", place):
        table = expect_mapping(stated, "a table", place)
        name = expect_text(table.get("TableName"), "TableName", place)
        found.tables.append(table_schema(_described(table, name, place)))
        for facet in table.get("TableFacets") or ():
            _facet(found, name, expect_mapping(facet, "a facet", place), _types(table))
        if not found.items.get(name):
            rows = [row for row in table.get("TableData") or () if isinstance(row, dict)]
            found.items.setdefault(name, []).extend(rows)
            found.labels.setdefault(name, []).extend([""] * len(rows))
    return found


def _by_alias(
    title: str, table: str, facet: Mapping[str, Any], types: Mapping[str, str]
) -> EntitySchema | None:
    """An entity whose keys are written out as templates, where its aliases are some: A#{id}."""
    alias = facet.get("KeyAttributeAlias") or {}
    texts = [alias.get(name) for name in ("PartitionKeyAlias", "SortKeyAlias")]
    stated = [text for text in texts if isinstance(text, str)]
    if not stated or "{" not in "".join(stated):
        return None
    try:
        key = KeyTemplates(*(template(text) for text in stated))
    except DeclarationError:
        return None
    held = [str(name) for name in facet.get("NonKeyAttributes") or ()]
    only = [f for f in dict.fromkeys(key.fields) if f not in held]
    return EntitySchema(
        title,
        table,
        key,
        (
            *(AttributeSchema(f, f, "id", mutable=False, in_key=True) for f in only),
            *(
                AttributeSchema(n, n, types.get(n, "string"), optional=n not in key.fields)
                for n in held
            ),
        ),
    )


def _facet(found: Imported, table: str, facet: Mapping[str, Any], types: Mapping[str, str]) -> None:
    title = str(facet.get("FacetName") or "")
    rows = [row for row in facet.get("TableData") or () if isinstance(row, dict)]
    entity = _by_alias(title, table, facet, types)
    if not rows and entity is not None:
        found.entities.append(entity)
    elif not rows:
        found.questions.append(
            f"The facet {title} of {table} has no sample data. What do its keys look like?"
        )
    found.items.setdefault(table, []).extend(rows)
    found.labels.setdefault(table, []).extend([title] * len(rows))


def _types(table: Mapping[str, Any]) -> dict[str, str]:
    """The types of attributes that are no keys."""
    stated = [a for a in table.get("NonKeyAttributes") or () if isinstance(a, dict)]
    return {
        str(a.get("AttributeName")): _TYPES.get(str(a.get("AttributeType")), "string")
        for a in stated
    }


def _described(table: Mapping[str, Any], name: str, place: Place) -> dict[str, Any]:
    types: dict[str, str] = {}
    described: dict[str, Any] = {
        "TableName": name,
        "KeySchema": _keys(table, name, types, place),
        "BillingMode": table.get("BillingMode") or "PROVISIONED",
    }
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        described[member] = [
            {**index, "KeySchema": _keys(index, f"an index of {name}", types, place)}
            for index in table.get(member) or ()
        ]
    described["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
    ]
    return described


def _keys(
    owner: Mapping[str, Any], what: str, types: dict[str, str], place: Place
) -> list[dict[str, str]]:
    stated = owner.get("KeyAttributes")
    if not isinstance(stated, dict) or "PartitionKey" not in stated:
        refuse(owner, place, f"{what} needs KeyAttributes with a PartitionKey")
    parts = []
    for member, kind in (("PartitionKey", "HASH"), ("SortKey", "RANGE")):
        part = stated.get(member)
        if part is None:
            continue
        attribute = expect_text(part.get("AttributeName"), "AttributeName", place)
        types[attribute] = str(part.get("AttributeType") or "S")
        parts.append({"AttributeName": attribute, "KeyType": kind})
    return parts
