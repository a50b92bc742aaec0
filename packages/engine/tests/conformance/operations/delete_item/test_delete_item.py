"""DeleteItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ConditionFailed

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def test_a_deleted_item_is_answered_if_asked_for(call: Call, table: str, put: Any) -> None:
    item = put("a", 1, g="group", l="label")
    request = {"TableName": table, "Key": KEY, "ReturnValues": "ALL_OLD"}
    assert call("DeleteItem", request) == {"Attributes": item}
    assert call("DeleteItem", request) == {}
    for index in (None, "local", "everything"):
        scan = {"TableName": table} if index is None else {"TableName": table, "IndexName": index}
        assert call("Scan", scan)["Count"] == 0


def test_a_condition_guards_the_delete(call: Call, table: str, put: Any) -> None:
    put("a", 1, v="kept")
    request = {
        "TableName": table,
        "Key": KEY,
        "ConditionExpression": "v = :v",
        "ExpressionAttributeValues": {":v": {"S": "other"}},
    }
    with pytest.raises(ConditionFailed):
        call("DeleteItem", request)
    assert "Item" in call("GetItem", {"TableName": table, "Key": KEY})


def test_legacy_expectations_guard_the_delete(call: Call, table: str, put: Any) -> None:
    put("a", 1, v="kept", n=3)
    request: dict[str, Any] = {
        "TableName": table,
        "Key": KEY,
        "ConditionalOperator": "OR",
        "Expected": {
            "v": {"Value": {"S": "other"}},
            "n": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "3"}]},
        },
    }
    with pytest.raises(ConditionFailed):
        call("DeleteItem", request)
    request["Expected"]["n"]["ComparisonOperator"] = "GE"
    call("DeleteItem", request)
    assert "Item" not in call("GetItem", {"TableName": table, "Key": KEY})


def test_deleting_nothing_under_a_condition_fails(call: Call, table: str) -> None:
    request = {
        "TableName": table,
        "Key": KEY,
        "ConditionExpression": "attribute_exists(pk)",
    }
    with pytest.raises(ConditionFailed):
        call("DeleteItem", request)
