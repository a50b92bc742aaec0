"""TransactGetItems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold.errors import TransactionCanceled

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
