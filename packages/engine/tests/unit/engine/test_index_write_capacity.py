"""What a write to a table with indexes consumes, as measured on DynamoDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyfold_engine.engine import Engine

FULL = {"gsiPk": "g", "lsiSk": "l", "proj": "p", "other": "o"}


@pytest.fixture
def engine() -> Iterator[Engine]:
    names = ("pk", "sk", "gsiPk", "lsiSk")
    with Engine.open() as opened:
        opened.call(
            "CreateTable",
            {
                "TableName": "tab",
                "AttributeDefinitions": [
                    {"AttributeName": name, "AttributeType": "S"} for name in names
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "gsi",
                        "KeySchema": [{"AttributeName": "gsiPk", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["proj"]},
                    }
                ],
                "LocalSecondaryIndexes": [
                    {
                        "IndexName": "lsi",
                        "KeySchema": [
                            {"AttributeName": "pk", "KeyType": "HASH"},
                            {"AttributeName": "lsiSk", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        yield opened


def _units(answer: dict[str, Any]) -> dict[str, float]:
    consumed = answer["ConsumedCapacity"]
    arms = {
        **consumed.get("GlobalSecondaryIndexes", {}),
        **consumed.get("LocalSecondaryIndexes", {}),
    }
    return {
        "total": consumed["CapacityUnits"],
        "table": consumed["Table"]["CapacityUnits"],
        **{name: units["CapacityUnits"] for name, units in arms.items()},
    }


def _put(engine: Engine, **attributes: str) -> dict[str, float]:
    item = {name: {"S": text} for name, text in {"pk": "a", "sk": "1", **attributes}.items()}
    request = {"TableName": "tab", "Item": item, "ReturnConsumedCapacity": "INDEXES"}
    return _units(engine.call("PutItem", request))


@pytest.mark.parametrize(
    ("attributes", "units"),
    [
        ({"other": "o"}, {"total": 1, "table": 1}),
        ({"gsiPk": "g"}, {"total": 2, "table": 1, "gsi": 1}),
        ({"lsiSk": "l"}, {"total": 2, "table": 1, "lsi": 1}),
        (FULL, {"total": 3, "table": 1, "gsi": 1, "lsi": 1}),
    ],
)
def test_puts(engine: Engine, attributes: dict[str, str], units: dict[str, float]) -> None:
    assert _put(engine, **attributes) == units


def test_putting_the_same_again_costs_indexes_nothing(engine: Engine) -> None:
    _put(engine, **FULL)
    assert _put(engine, **FULL) == {"total": 1, "table": 1}


@pytest.mark.parametrize(
    ("expression", "units"),
    [
        ("SET #o = :v", {"total": 2, "table": 1, "lsi": 1}),
        ("SET proj = :v", {"total": 3, "table": 1, "gsi": 1, "lsi": 1}),
        ("SET gsiPk = :v", {"total": 4, "table": 1, "gsi": 2, "lsi": 1}),
        ("SET lsiSk = :v", {"total": 3, "table": 1, "lsi": 2}),
        ("REMOVE gsiPk", {"total": 3, "table": 1, "gsi": 1, "lsi": 1}),
    ],
)
def test_updates(engine: Engine, expression: str, units: dict[str, float]) -> None:
    _put(engine, **FULL)
    request: dict[str, Any] = {
        "TableName": "tab",
        "Key": {"pk": {"S": "a"}, "sk": {"S": "1"}},
        "UpdateExpression": expression,
        "ReturnConsumedCapacity": "INDEXES",
    }
    if ":v" in expression:
        request["ExpressionAttributeValues"] = {":v": {"S": "new"}}
    if "#o" in expression:
        request["ExpressionAttributeNames"] = {"#o": "other"}
    assert _units(engine.call("UpdateItem", request)) == units


def test_a_delete_costs_every_index_the_item_was_in(engine: Engine) -> None:
    _put(engine, **FULL)
    request = {
        "TableName": "tab",
        "Key": {"pk": {"S": "a"}, "sk": {"S": "1"}},
        "ReturnConsumedCapacity": "INDEXES",
    }
    units = {"total": 3, "table": 1, "gsi": 1, "lsi": 1}
    assert _units(engine.call("DeleteItem", request)) == units
