"""BatchWriteItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}}


def _put(number: int, **more: Any) -> dict[str, Any]:
    return {"PutRequest": {"Item": {**_key(number), **more}}}


def test_puts_and_deletes_are_done(call: Call, table: str, put: Any) -> None:
    put("a", 1, g="group")
    wishes = [_put(2, g={"S": "group"}), {"DeleteRequest": {"Key": _key(1)}}]
    assert call("BatchWriteItem", {"RequestItems": {table: wishes}}) == {"UnprocessedItems": {}}
    for index in ({}, {"IndexName": "everything"}):
        (item,) = call("Scan", {"TableName": table, **index})["Items"]
        assert item["sk"] == {"N": "2"}


def test_nothing_is_done_if_one_entry_is_wrong(call: Call, table: str) -> None:
    with pytest.raises(ValidationError):
        call("BatchWriteItem", {"RequestItems": {table: [_put(1), _put(2, g={"N": "1"})]}})
    assert call("Scan", {"TableName": table})["Count"] == 0


def test_the_same_key_twice_is_refused(call: Call, table: str) -> None:
    wishes = [_put(1), {"DeleteRequest": {"Key": _key(1)}}]
    with pytest.raises(ValidationError) as caught:
        call("BatchWriteItem", {"RequestItems": {table: wishes}})
    assert caught.value.message == "Provided list of item keys contains duplicates"
