"""GetItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def test_a_missing_item_is_no_item(call: Call, table: str) -> None:
    assert call("GetItem", {"TableName": table, "Key": KEY}) == {}


def test_equal_numbers_are_the_same_key(call: Call, table: str, put: Any) -> None:
    item = put("a", 1)
    key = {"pk": {"S": "a"}, "sk": {"N": "1.0e0"}}
    assert call("GetItem", {"TableName": table, "Key": key})["Item"] == item


def test_a_projection_takes_parts_of_the_item(call: Call, table: str, put: Any) -> None:
    put("a", 1, name="n", map={"M": {"x": {"S": "1"}, "y": {"S": "2"}}}, l2={"L": [{"N": "5"}]})
    request = {
        "TableName": table,
        "Key": KEY,
        "ProjectionExpression": "#n, #m.x, l2[0], absent",
        "ExpressionAttributeNames": {"#n": "name", "#m": "map"},
    }
    assert call("GetItem", request)["Item"] == {
        "name": {"S": "n"},
        "map": {"M": {"x": {"S": "1"}}},
        "l2": {"L": [{"N": "5"}]},
    }
    legacy = {"TableName": table, "Key": KEY, "AttributesToGet": ["name"]}
    assert call("GetItem", legacy)["Item"] == {"name": {"S": "n"}}


@pytest.mark.parametrize(
    "key", [{"pk": {"S": "a"}}, {**KEY, "more": {"S": "x"}}, {"pk": {"N": "1"}, "sk": {"N": "1"}}]
)
def test_a_key_that_is_not_the_tables_is_refused(
    call: Call, table: str, key: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as caught:
        call("GetItem", {"TableName": table, "Key": key})
    assert caught.value.message == "The provided key element does not match the schema"
