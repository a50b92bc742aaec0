from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import ConditionFailed, TableNotFound, ValidationError

KEY = {"id": {"S": "ada"}}
ADA = {**KEY, "born": {"N": "1815"}}


def test_a_deleted_item_is_gone(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item=ADA)
    answer = call("DeleteItem", TableName=people, Key=KEY, ReturnValues="ALL_OLD")
    assert answer == {"Attributes": ADA}
    assert call("GetItem", TableName=people, Key=KEY) == {}


def test_deleting_what_is_not_there_succeeds(call: Any, people: str) -> None:
    assert call("DeleteItem", TableName=people, Key=KEY, ReturnValues="ALL_OLD") == {}


def test_a_condition_guards_the_delete(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item=ADA)
    with pytest.raises(ConditionFailed) as caught:
        call(
            "DeleteItem",
            TableName=people,
            Key=KEY,
            ConditionExpression="born > :year",
            ExpressionAttributeValues={":year": {"N": "1900"}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.item == ADA
    assert call("GetItem", TableName=people, Key=KEY) == {"Item": ADA}


def test_consumed_capacity_counts_what_was_there(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item={**KEY, "t": {"S": "x" * 3000}})
    answer = call("DeleteItem", TableName=people, Key=KEY, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 3.0


def test_refusals(refusal: Any, people: str) -> None:
    wrong = {"TableName": people, "Key": {"other": {"S": "x"}}}
    assert refusal(ValidationError, "DeleteItem", **wrong) == (
        "The provided key element does not match the schema"
    )
    returning = {"TableName": people, "Key": KEY, "ReturnValues": "UPDATED_OLD"}
    assert refusal(ValidationError, "DeleteItem", **returning) == (
        "ReturnValues can only be ALL_OLD or NONE"
    )
    nowhere = {"TableName": "nowhere", "Key": KEY}
    assert refusal(TableNotFound, "DeleteItem", **nowhere) == "Requested resource not found"
