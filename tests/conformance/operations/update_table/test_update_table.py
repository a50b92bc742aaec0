"""UpdateTable."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from keyfold.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _described(call: Call, table: str) -> dict[str, Any]:
    found: dict[str, Any] = call("DescribeTable", {"TableName": table})["Table"]
    return found


def _index_names(call: Call, table: str) -> set[str]:
    return {one["IndexName"] for one in _described(call, table)["GlobalSecondaryIndexes"]}


def _until(reached: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if reached():
            return
        time.sleep(0.01)
    raise AssertionError("the table did not get there in ten seconds")


def test_billing_goes_to_provisioned_and_is_told(call: Call, table: str) -> None:
    throughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 3}
    request = {"TableName": table, "BillingMode": "PROVISIONED"}
    call("UpdateTable", {**request, "ProvisionedThroughput": throughput})
    found = _described(call, table)["ProvisionedThroughput"]
    assert (found["ReadCapacityUnits"], found["WriteCapacityUnits"]) == (5, 3)


def test_provisioned_billing_needs_its_throughput(call: Call, table: str) -> None:
    with pytest.raises(ValidationError):
        call("UpdateTable", {"TableName": table, "BillingMode": "PROVISIONED"})


def test_the_table_class_changes(call: Call, table: str) -> None:
    call("UpdateTable", {"TableName": table, "TableClass": "STANDARD_INFREQUENT_ACCESS"})
    summary = _described(call, table)["TableClassSummary"]
    assert summary["TableClass"] == "STANDARD_INFREQUENT_ACCESS"


def test_an_index_is_added_with_the_items_that_are_there_and_taken_away(
    call: Call, table: str, put: Any
) -> None:
    put("a", 1, group="g")
    index = {
        "IndexName": "by_group",
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    call(
        "UpdateTable",
        {
            "TableName": table,
            "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        },
    )
    _until(lambda: _described(call, table)["TableStatus"] == "ACTIVE")
    assert call("Scan", {"TableName": table, "IndexName": "by_group"})["Count"] == 1
    removal = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_group"}}]}
    call("UpdateTable", {"TableName": table, **removal})
    _until(lambda: "by_group" not in _index_names(call, table))
    with pytest.raises(ValidationError):
        call("Scan", {"TableName": table, "IndexName": "by_group"})
