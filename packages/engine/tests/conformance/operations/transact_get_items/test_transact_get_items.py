"""TransactGetItems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import TransactionCanceled, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _get(table: str, number: int, **more: Any) -> dict[str, Any]:
    key = {"pk": {"S": "a"}, "sk": {"N": str(number)}}
    return {"Get": {"TableName": table, "Key": key, **more}}


def test_items_come_in_the_order_asked_for(call: Call, table: str, put: Any) -> None:
    first, second = put("a", 1, v="x"), put("a", 2)
    asked = [_get(table, 2), _get(table, 9), _get(table, 1, ProjectionExpression="v")]
    answer = call("TransactGetItems", {"TransactItems": asked})
    assert answer["Responses"] == [{"Item": second}, {}, {"Item": {"v": first["v"]}}]


def test_a_wrong_key_cancels_with_its_reason(call: Call, table: str) -> None:
    wrong = {"Get": {"TableName": table, "Key": {"pk": {"S": "a"}}}}
    with pytest.raises(TransactionCanceled) as caught:
        call("TransactGetItems", {"TransactItems": [_get(table, 1), wrong]})
    codes = [(reason.code, reason.message) for reason in caught.value.reasons]
    assert codes == [
        ("None", None),
        ("ValidationError", "The provided key element does not match the schema"),
    ]


def test_a_projection_that_finds_nothing_answers_no_item(call: Call, table: str, put: Any) -> None:
    put("a", 1)
    get = {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}}
    projected = {"Get": {**get, "ProjectionExpression": "nothing"}}
    assert call("TransactGetItems", {"TransactItems": [projected]})["Responses"] == [{}]


def test_an_empty_key_is_refused_before_the_transaction(call: Call, table: str) -> None:
    get = {"TableName": table, "Key": {"pk": {"S": ""}, "sk": {"N": "1"}}}
    with pytest.raises(ValidationError, match="cannot contain an empty string value"):
        call("TransactGetItems", {"TransactItems": [{"Get": get}]})
