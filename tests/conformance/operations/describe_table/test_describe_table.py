"""DescribeTable, ListTables and DeleteTable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold.errors import TableNotFound

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
