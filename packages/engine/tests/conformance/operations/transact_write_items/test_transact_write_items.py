"""TransactWriteItems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import (
    IdempotentParameterMismatch,
    TableNotFound,
    TransactionCanceled,
    ValidationError,
)

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}}


def _put(table: str, number: int, **more: Any) -> dict[str, Any]:
    return {"Put": {"TableName": table, "Item": _key(number), **more}}


def _count(call: Call, table: str) -> int:
    count: int = call("Scan", {"TableName": table})["Count"]
    return count


def test_all_kinds_of_parts_are_done_together(call: Call, table: str, put: Any) -> None:
    put("a", 1)
    put("a", 2)
    put("a", 3)
    parts = [
        _put(table, 4),
        {"Delete": {"TableName": table, "Key": _key(1)}},
        {
            "Update": {
                "TableName": table,
                "Key": _key(2),
                "UpdateExpression": "SET v = :v",
                "ExpressionAttributeValues": {":v": {"S": "x"}},
            }
        },
        {
            "ConditionCheck": {
                "TableName": table,
                "Key": _key(3),
                "ConditionExpression": "attribute_exists(pk)",
            }
        },
    ]
    assert call("TransactWriteItems", {"TransactItems": parts}) == {}
    items = call("Scan", {"TableName": table})["Items"]
    assert sorted(item["sk"]["N"] for item in items) == ["2", "3", "4"]


def test_one_failed_condition_cancels_everything(call: Call, table: str, put: Any) -> None:
    old = put("a", 2, v="old")
    condition = {
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    with pytest.raises(TransactionCanceled) as caught:
        call(
            "TransactWriteItems",
            {"TransactItems": [_put(table, 1), _put(table, 2, **condition)]},
        )
    innocent, guilty = caught.value.reasons
    assert (innocent.code, innocent.message) == ("None", None)
    assert (guilty.code, guilty.message) == (
        "ConditionalCheckFailed",
        "The conditional request failed",
    )
    assert guilty.item == old
    assert caught.value.message == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed]"
    )
    assert _count(call, table) == 1


def test_a_wrong_part_is_a_reason(call: Call, table: str, put: Any) -> None:
    put("a", 2, v="text")
    update = {
        "Update": {
            "TableName": table,
            "Key": _key(2),
            "UpdateExpression": "ADD v :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }
    with pytest.raises(TransactionCanceled) as caught:
        call("TransactWriteItems", {"TransactItems": [_put(table, 1), update]})
    assert [reason.code for reason in caught.value.reasons] == ["None", "ValidationError"]
    assert _count(call, table) == 1


def test_a_token_makes_repeating_harmless(call: Call, table: str, name: str) -> None:
    add = {
        "Update": {
            "TableName": table,
            "Key": _key(1),
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }
    request = {"TransactItems": [add], "ClientRequestToken": f"token-{name}"}
    for _ in range(3):
        call("TransactWriteItems", request)
    item = call("GetItem", {"TableName": table, "Key": _key(1)})["Item"]
    assert item["n"] == {"N": "1"}
    with pytest.raises(IdempotentParameterMismatch):
        call("TransactWriteItems", {**request, "TransactItems": [_put(table, 2)]})


def test_the_same_item_twice_is_refused(call: Call, table: str) -> None:
    parts = [_put(table, 1), {"Delete": {"TableName": table, "Key": _key(1)}}]
    with pytest.raises(ValidationError) as caught:
        call("TransactWriteItems", {"TransactItems": parts})
    assert caught.value.message == (
        "Transaction request cannot include multiple operations on one item"
    )


def test_a_missing_table_is_refused_and_nothing_done(call: Call, table: str) -> None:
    with pytest.raises(TableNotFound):
        call("TransactWriteItems", {"TransactItems": [_put(table, 1), _put("Nowhere", 1)]})
    assert _count(call, table) == 0


def test_of_several_wrong_keys_the_first_alone_is_told(call: Call, table: str) -> None:
    wrong = {"Put": {"TableName": table, "Item": {"pk": {"N": "1"}, "sk": {"N": "1"}}}}
    checked = {
        "ConditionCheck": {
            "TableName": table,
            "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}},
            "ConditionExpression": "attribute_exists(pk)",
        }
    }
    with pytest.raises(TransactionCanceled) as caught:
        call("TransactWriteItems", {"TransactItems": [checked, wrong, wrong]})
    codes = [reason.code for reason in caught.value.reasons]
    assert codes == ["None", "ValidationError", "None"]


def test_a_part_is_checked_expressions_first(call: Call, table: str) -> None:
    deep: dict[str, Any] = {"S": "leaf"}
    for _ in range(40):
        deep = {"M": {"n": deep}}
    part = {"TableName": table, "Key": {"pk": deep}}
    malformed = {"Delete": {**part, "ConditionExpression": "a = = b"}}
    with pytest.raises(ValidationError, match="Syntax error"):
        call("TransactWriteItems", {"TransactItems": [malformed]})
    with pytest.raises(ValidationError, match="Nesting Levels"):
        call("TransactWriteItems", {"TransactItems": [{"Delete": part}, malformed]})
