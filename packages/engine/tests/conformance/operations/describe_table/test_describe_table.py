"""DescribeTable, ListTables and DeleteTable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import TableNotFound

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def test_a_description_counts_items_and_bytes(call: Call, table: str, put: Any) -> None:
    put("a", 1, g="group")
    found = call("DescribeTable", {"TableName": table})["Table"]
    assert (found["ItemCount"], found["TableSizeBytes"]) == (1, 13)
    counts = {i["IndexName"]: i["ItemCount"] for i in found["GlobalSecondaryIndexes"]}
    assert counts == {"everything": 1, "some": 0}


def test_a_table_is_found_by_its_arn(call: Call, table: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    assert call("DescribeTable", {"TableName": arn})["Table"]["TableName"] == table
    assert call("Scan", {"TableName": arn})["Count"] == 0


def test_names_are_listed_in_pages(call: Call, table: str) -> None:
    names: list[str] = []
    request: dict[str, Any] = {"Limit": 2}
    while True:
        answer = call("ListTables", request)
        names += answer["TableNames"]
        if "LastEvaluatedTableName" not in answer:
            break
        request["ExclusiveStartTableName"] = answer["LastEvaluatedTableName"]
    assert names == sorted(names)
    assert table in names


@pytest.mark.parametrize("operation", ["DescribeTable", "DeleteTable"])
def test_a_missing_table_is_named(call: Call, operation: str) -> None:
    with pytest.raises(TableNotFound) as caught:
        call(operation, {"TableName": "Nowhere"})
    assert caught.value.message == "Requested resource not found: Table: Nowhere not found"


def test_a_deleted_table_is_gone_with_its_items(call: Call, table: str, put: Any) -> None:
    put("a", 1)
    call("DeleteTable", {"TableName": table})
    with pytest.raises(TableNotFound) as caught:
        put("a", 1)
    assert caught.value.message == "Requested resource not found"


def test_a_deleted_table_is_not_described_by_its_keys(call: Call, table: str) -> None:
    described = call("DescribeTable", {"TableName": table})["Table"]
    told = call("DeleteTable", {"TableName": table})["TableDescription"]
    assert told["TableStatus"] == "DELETING"
    assert told["TableId"] == described["TableId"]
    assert set(described) - set(told) == {
        "AttributeDefinitions",
        "CreationDateTime",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "LocalSecondaryIndexes",
        "WarmThroughput",
    }


def test_warm_throughput_is_told_once_a_table_is_active(call: Call, name: str) -> None:
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
    key = {"AttributeName": "pk", "KeyType": "HASH"}
    request = {
        "TableName": name,
        "ProvisionedThroughput": units,
        "KeySchema": [key],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "index",
                "KeySchema": [key],
                "Projection": {"ProjectionType": "ALL"},
                "ProvisionedThroughput": units,
            }
        ],
    }
    created = call("CreateTable", request)["TableDescription"]
    assert "WarmThroughput" not in created
    assert "WarmThroughput" not in created["GlobalSecondaryIndexes"][0]

    def warm() -> list[tuple[int, int]]:
        found = call("DescribeTable", {"TableName": name})["Table"]
        return [
            (
                each["WarmThroughput"]["ReadUnitsPerSecond"],
                each["WarmThroughput"]["WriteUnitsPerSecond"],
            )
            for each in (found, *found["GlobalSecondaryIndexes"])
        ]

    assert warm() == [(5, 6), (5, 6)]
    call("UpdateTable", {"TableName": name, "BillingMode": "PAY_PER_REQUEST"})
    assert warm() == [(12_000, 4_000), (12_000, 4_000)]
    index = call("DescribeTable", {"TableName": name})["Table"]["GlobalSecondaryIndexes"][0]
    assert index["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    asked = {"ReadUnitsPerSecond": 15_000, "WriteUnitsPerSecond": 5_000}
    answer = call("UpdateTable", {"TableName": name, "WarmThroughput": asked})
    assert answer["TableDescription"]["WarmThroughput"] == {**asked, "Status": "UPDATING"}
    assert warm() == [(15_000, 5_000), (12_000, 4_000)]
