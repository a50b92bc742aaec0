"""A design as a NoSQL Workbench model: a facet per entity, its keys as aliases."""

from __future__ import annotations

import json
from typing import Any

from keyfold.design.schema import AttributeSchema, EntitySchema, Index, Schema, TableSchema
from keyfold.errors import KeyfoldError

_TYPES = {
    "number": "N",
    "decimal": "N",
    "duration": "N",
    "boolean": "BOOL",
    "binary": "B",
    "list": "L",
    "map": "M",
    "model": "M",
    "string_set": "SS",
    "number_set": "NS",
    "binary_set": "BS",
}


def render(schema: Schema) -> str:
    return json.dumps(model(schema), indent=2, ensure_ascii=False) + "\n"


def model(schema: Schema) -> dict[str, Any]:
    """The model as data."""
    return {
        "ModelName": schema.name,
        "ModelMetadata": {
            "Author": "",
            "DateCreated": "",
            "DateLastModified": "",
            "Description": schema.description,
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [_table(table, schema) for table in schema.tables],
    }


def _table(table: TableSchema, schema: Schema) -> dict[str, Any]:
    entities = schema.entities_of(table.name)
    keys = {table.partition, table.sort}
    held = {a.name: a for e in entities for a in e.attributes if a.is_stored and a.name not in keys}
    made: dict[str, Any] = {
        "TableName": table.name,
        "KeyAttributes": _keys(table),
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": _type(attribute)}
            for name, attribute in held.items()
        ],
        "TableFacets": [_facet(entity, keys) for entity in entities],
        "DataAccess": {"MySql": {}},
        "BillingMode": table.billing,
    }
    for local, member in ((False, "GlobalSecondaryIndexes"), (True, "LocalSecondaryIndexes")):
        found = [index for index in table.indexes if index.local is local]
        if found:
            made[member] = [_index(index) for index in found]
    return made


def _type(attribute: AttributeSchema) -> str:
    return "N" if attribute.stored.startswith("epoch") else _TYPES.get(attribute.type, "S")


def _keys(owner: TableSchema | Index) -> dict[str, Any]:
    if isinstance(owner, Index) and owner.has_several:
        raise KeyfoldError(
            f"{owner.name} is keyed by {owner.key_text}; a model of NoSQL Workbench has one "
            "attribute for each key"
        )
    words = ("PartitionKey", "SortKey")
    return {
        word: {"AttributeName": name, "AttributeType": kind}
        for word, (name, kind) in zip(words, owner.key_types.items(), strict=False)
    }


def _index(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    return {"IndexName": index.name, "KeyAttributes": _keys(index), "Projection": projection}


def _facet(entity: EntitySchema, keys: set[str | None]) -> dict[str, Any]:
    alias = {}
    if entity.key is not None:
        alias["PartitionKeyAlias"] = entity.key.partition.text
        if entity.key.sort is not None:
            alias["SortKeyAlias"] = entity.key.sort.text
    return {
        "FacetName": entity.name,
        "KeyAttributeAlias": alias,
        "TableData": [],
        "NonKeyAttributes": [
            a.name for a in entity.attributes if a.is_stored and a.name not in keys
        ],
        "DataAccess": {"MySql": {}},
    }
