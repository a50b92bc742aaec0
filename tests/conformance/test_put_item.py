from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import ConditionFailed, TableNotFound, ValidationError

ADA = {"id": {"S": "ada"}, "born": {"N": "1815"}}


def test_a_put_item_is_read_back(call: Any, people: str) -> None:
    item = {
        "id": {"S": "all"},
        "text": {"S": "grüß 😀"},
        "empty": {"S": ""},
        "number": {"N": "-1.5"},
        "binary": {"B": "AP8="},
        "flag": {"BOOL": False},
        "nothing": {"NULL": True},
        "texts": {"SS": ["b", "a"]},
        "numbers": {"NS": ["2", "1"]},
        "binaries": {"BS": ["AQ=="]},
        "list": {"L": [{"S": "x"}, {"L": []}]},
        "map": {"M": {"k": {"M": {}}}},
    }
    assert call("PutItem", TableName=people, Item=item) == {}
    found = call("GetItem", TableName=people, Key={"id": {"S": "all"}})["Item"]
    for name in ("texts", "numbers", "binaries"):
        (kind,) = item[name]
        assert sorted(found[name][kind]) == sorted(item[name][kind])  # type: ignore[type-var]
        del found[name], item[name]
    assert found == item


def test_a_put_replaces_the_whole_item(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item=ADA)
    answer = call(
        "PutItem",
        TableName=people,
        Item={"id": {"S": "ada"}, "name": {"S": "Ada"}},
        ReturnValues="ALL_OLD",
    )
    assert answer == {"Attributes": ADA}
    found = call("GetItem", TableName=people, Key={"id": {"S": "ada"}})["Item"]
    assert found == {"id": {"S": "ada"}, "name": {"S": "Ada"}}


def test_numbers_are_stored_in_canonical_form(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item={"id": {"S": "n"}, "n": {"N": "+0012.3400E1"}})
    assert call("GetItem", TableName=people, Key={"id": {"S": "n"}})["Item"]["n"] == {"N": "123.4"}


def test_a_condition_guards_the_put(call: Any, people: str) -> None:
    guarded: dict[str, Any] = {
        "TableName": people,
        "Item": ADA,
        "ConditionExpression": "attribute_not_exists(id)",
    }
    call("PutItem", **guarded)
    with pytest.raises(ConditionFailed) as caught:
        call("PutItem", **guarded, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert caught.value.message == "The conditional request failed"
    assert caught.value.item == ADA
    with pytest.raises(ConditionFailed) as caught:
        call("PutItem", **guarded)
    assert caught.value.item is None


def test_expected_guards_the_put(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item=ADA, Expected={"id": {"Exists": False}})
    with pytest.raises(ConditionFailed):
        call("PutItem", TableName=people, Item=ADA, Expected={"id": {"Exists": False}})


def test_consumed_capacity(call: Any, people: str) -> None:
    item = {"id": {"S": "big"}, "text": {"S": "x" * 2000}}
    answer = call("PutItem", TableName=people, Item=item, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == {"TableName": people, "CapacityUnits": 2.0}


def test_item_collection_metrics(call: Any, orders: str) -> None:
    answer = call(
        "PutItem",
        TableName=orders,
        Item={"customer": {"S": "Ada"}, "number": {"N": "1"}},
        ReturnItemCollectionMetrics="SIZE",
    )
    assert answer["ItemCollectionMetrics"] == {
        "ItemCollectionKey": {"customer": {"S": "Ada"}},
        "SizeEstimateRangeGB": [0.0, 1.0],
    }


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({}, "One or more parameter values were invalid: Missing the key id in the item"),
        (
            {"id": {"N": "1"}},
            "One or more parameter values were invalid: Type mismatch for key id expected: S "
            "actual: N",
        ),
        (
            {"id": {"S": ""}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: id",
        ),
        (
            {"id": {"S": "x"}, "a": {"SS": []}},
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
        (
            {"id": {"S": "x"}, "a": {"N": "1E126"}},
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range",
        ),
        (
            {"id": {"S": "x"}, "a": {"S": "x" * 409600}},
            "Item size has exceeded the maximum allowed size",
        ),
    ],
)
def test_items_that_are_refused(
    refusal: Any, people: str, item: dict[str, Any], message: str
) -> None:
    assert refusal(ValidationError, "PutItem", TableName=people, Item=item) == message


def test_index_keys_must_be_of_their_type(refusal: Any, orders: str) -> None:
    item = {"customer": {"S": "Ada"}, "number": {"N": "1"}, "state": {"N": "1"}}
    assert refusal(ValidationError, "PutItem", TableName=orders, Item=item) == (
        "One or more parameter values were invalid: Type mismatch for Index Key state Expected: S "
        "Actual: N IndexName: byState"
    )


def test_only_the_old_item_can_be_returned(refusal: Any, people: str) -> None:
    request = {"TableName": people, "Item": ADA, "ReturnValues": "ALL_NEW"}
    assert refusal(ValidationError, "PutItem", **request) == (
        "ReturnValues can only be ALL_OLD or NONE"
    )


def test_a_table_that_is_not_there(refusal: Any) -> None:
    assert refusal(TableNotFound, "PutItem", TableName="nowhere", Item=ADA) == (
        "Requested resource not found"
    )
