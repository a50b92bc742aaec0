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
from keyfold.design.source import Place


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
            _facet(found, name, expect_mapping(facet, "a facet", place))
        if not found.items.get(name):
            rows = [row for row in table.get("TableData") or () if isinstance(row, dict)]
            found.items.setdefault(name, []).extend(rows)
            found.labels.setdefault(name, []).extend([""] * len(rows))
    return found


def _facet(found: Imported, table: str, facet: Mapping[str, Any]) -> None:
    title = str(facet.get("FacetName") or "")
    rows = [row for row in facet.get("TableData") or () if isinstance(row, dict)]
    if not rows:
        found.questions.append(
            f"The facet {title} of {table} has no sample data. What do its keys look like?"
        )
    found.items.setdefault(table, []).extend(rows)
    found.labels.setdefault(table, []).extend([title] * len(rows))


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
