"""PutItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ConditionFailed, TableNotFound, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def _get(call: Call, table: str) -> dict[str, Any]:
    item: dict[str, Any] = call("GetItem", {"TableName": table, "Key": KEY})["Item"]
    return item


def test_every_type_comes_back_as_it_was_put(call: Call, table: str) -> None:
    item: dict[str, Any] = {
        **KEY,
        "text": {"S": "ü€😀"},
        "number": {"N": "-12345678901234567890123456789.012345678"},
        "binary": {"B": "AAEC"},
        "yes": {"BOOL": True},
        "nothing": {"NULL": True},
        "texts": {"SS": ["a", "b"]},
        "numbers": {"NS": ["1", "2"]},
        "binaries": {"BS": ["AA==", "AQ=="]},
        "list": {"L": [{"S": ""}, {"M": {"deep": {"L": []}}}]},
        "map": {"M": {"": {"N": "0"}}},
    }
    call("PutItem", {"TableName": table, "Item": item})
    found = _get(call, table)
    for sets in ("texts", "numbers", "binaries"):
        ((kind, members),) = found[sets].items()
        assert sorted(members) == sorted(item[sets][kind])
        found[sets] = item[sets]
    assert found == item


@pytest.mark.parametrize(
    ("written", "kept"),
    [("1.50", "1.5"), ("1e2", "100"), ("-0", "0"), ("007", "7"), (".5", "0.5"), ("1E-3", "0.001")],
)
def test_numbers_are_kept_in_their_shortest_form(
    call: Call, table: str, written: str, kept: str
) -> None:
    call("PutItem", {"TableName": table, "Item": {**KEY, "n": {"N": written}}})
    assert _get(call, table)["n"] == {"N": kept}


def test_all_old_answers_with_the_replaced_item(call: Call, table: str, put: Any) -> None:
    request = {"TableName": table, "Item": {**KEY, "v": {"S": "new"}}, "ReturnValues": "ALL_OLD"}
    assert call("PutItem", request) == {}
    old = put("a", 1, v="old")
    assert call("PutItem", request) == {"Attributes": old}


def test_a_failed_condition_changes_nothing_and_shows_the_item_if_asked(
    call: Call, table: str, put: Any
) -> None:
    old = put("a", 1, v="old")
    request = {
        "TableName": table,
        "Item": {**KEY, "v": {"S": "new"}},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    with pytest.raises(ConditionFailed) as caught:
        call("PutItem", request)
    assert caught.value.message == "The conditional request failed"
    assert caught.value.item is None
    with pytest.raises(ConditionFailed) as caught:
        call("PutItem", {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    assert caught.value.item == old
    assert _get(call, table) == old


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sk": None},
            "One or more parameter values were invalid: Missing the key sk in the item",
        ),
        (
            {"sk": {"S": "1"}},
            "One or more parameter values were invalid: Type mismatch for key sk expected: N "
            "actual: S",
        ),
        (
            {"pk": {"S": ""}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
        ),
        (
            {"pk": {"S": "p" * 2049}},
            "One or more parameter values were invalid: Size of hashkey has exceeded the maximum "
            "size limit of2048 bytes",
        ),
        (
            {"g": {"N": "1"}},
            "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
            "Actual: N IndexName: everything",
        ),
        ({"data": {"S": "d" * 409_600}}, "Item size has exceeded the maximum allowed size"),
    ],
)
def test_a_wrong_item_is_refused_in_dynamodbs_words(
    call: Call, table: str, changes: dict[str, Any], message: str
) -> None:
    item = {n: v for n, v in {**KEY, **changes}.items() if v is not None}
    with pytest.raises(ValidationError) as caught:
        call("PutItem", {"TableName": table, "Item": item})
    assert caught.value.message == message


def test_an_item_of_exactly_the_largest_size_is_taken(call: Call, table: str) -> None:
    room = 400 * 1024 - len("pka") - len("sk") - 2 - len("data")
    item = {**KEY, "data": {"S": "d" * room}}
    call("PutItem", {"TableName": table, "Item": item})
    with pytest.raises(ValidationError):
        call("PutItem", {"TableName": table, "Item": {**item, "data": {"S": "d" * (room + 1)}}})


def test_an_expression_is_checked_before_the_table_is_looked_for(call: Call) -> None:
    request = {"TableName": "Nowhere", "Item": KEY, "ConditionExpression": "not a condition"}
    with pytest.raises(ValidationError, match="Invalid ConditionExpression: Syntax error"):
        call("PutItem", request)
    with pytest.raises(TableNotFound):
        call("PutItem", {"TableName": "Nowhere", "Item": KEY})


def test_legacy_expectations_work(call: Call, table: str, put: Any) -> None:
    put("a", 1, v="old")
    request = {"TableName": table, "Item": KEY, "Expected": {"v": {"Value": {"S": "other"}}}}
    with pytest.raises(ConditionFailed):
        call("PutItem", request)
    call("PutItem", {**request, "Expected": {"v": {"Value": {"S": "old"}}}})
    assert _get(call, table) == KEY
