"""The tables of both sides: keys of every type, indexes of both kinds, three views of streams."""

from __future__ import annotations

from typing import Any

from tests.reference.values import Wire


def _keys(*schema: str) -> list[Wire]:
    kinds = ("HASH", "RANGE")
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(schema, kinds, strict=False)
    ]


def _index(name: str, schema: list[str], projection: str, *named: str) -> Wire:
    shape: Wire = {"ProjectionType": projection}
    if named:
        shape["NonKeyAttributes"] = [*named]
    return {"IndexName": name, "KeySchema": _keys(*schema), "Projection": shape}


def _table(name: str, schema: list[str], types: str, view: str = "", **indexes: Any) -> Wire:
    definitions = dict(pair.split(":") for pair in types.split())
    table: Wire = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _keys(*schema),
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": kind} for each, kind in definitions.items()
        ],
        **indexes,
    }
    if view:
        table["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    return table


TABLES = [
    _table("Plain", ["pk"], "pk:S"),
    _table(
        "Pairs", ["pk", "sk"], "pk:S sk:N kind:S score:N tag:S", "NEW_AND_OLD_IMAGES",
        LocalSecondaryIndexes=[
            _index("by-score", ["pk", "score"], "ALL"),
            _index("by-tag", ["pk", "tag"], "INCLUDE", "a"),
        ],
        GlobalSecondaryIndexes=[
            _index("kinds", ["kind", "score"], "ALL"),
            _index("tags", ["tag"], "INCLUDE", "a", "m"),
        ],
    ),
    _table(
        "Bytes", ["pk", "sk"], "pk:B sk:S score:N", "KEYS_ONLY",
        GlobalSecondaryIndexes=[_index("scores", ["score", "sk"], "KEYS_ONLY")],
    ),
    _table("Numbers", ["pk", "sk"], "pk:N sk:B", "NEW_IMAGE"),
]  # fmt: skip
ADDED = _index("added", ["kind", "sk"], "ALL")
