from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import TableNotFound, ValidationError

KEY = {"id": {"S": "ada"}}
ADA = {
    **KEY,
    "name": {"S": "Ada"},
    "tags": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]},
    "home": {"M": {"city": {"S": "London"}, "zip": {"S": "W1"}}},
}


@pytest.fixture
def ada(call: Any, people: str) -> str:
    call("PutItem", TableName=people, Item=ADA)
    return people


def test_the_item_or_nothing(call: Any, ada: str) -> None:
    assert call("GetItem", TableName=ada, Key=KEY) == {"Item": ADA}
    assert call("GetItem", TableName=ada, Key={"id": {"S": "bob"}}) == {}


def test_a_projection(call: Any, ada: str) -> None:
    answer = call(
        "GetItem",
        TableName=ada,
        Key=KEY,
        ProjectionExpression="#n, tags[2], tags[0], home.city, nothing",
        ExpressionAttributeNames={"#n": "name"},
    )
    assert answer["Item"] == {
        "name": {"S": "Ada"},
        "tags": {"L": [{"S": "a"}, {"S": "c"}]},
        "home": {"M": {"city": {"S": "London"}}},
    }


def test_a_projection_of_nothing_finds_an_empty_item(call: Any, ada: str) -> None:
    assert call("GetItem", TableName=ada, Key=KEY, ProjectionExpression="nothing") == {"Item": {}}


def test_attributes_to_get(call: Any, ada: str) -> None:
    answer = call("GetItem", TableName=ada, Key=KEY, AttributesToGet=["name", "nothing"])
    assert answer["Item"] == {"name": {"S": "Ada"}}


@pytest.mark.parametrize(("consistent", "units"), [(False, 0.5), (True, 1.0)])
def test_consumed_capacity(call: Any, ada: str, consistent: bool, units: float) -> None:
    for key in (KEY, {"id": {"S": "absent"}}):
        answer = call(
            "GetItem",
            TableName=ada,
            Key=key,
            ConsistentRead=consistent,
            ReturnConsumedCapacity="INDEXES",
        )
        assert answer["ConsumedCapacity"] == {
            "TableName": ada,
            "CapacityUnits": units,
            "Table": {"CapacityUnits": units},
        }


@pytest.mark.parametrize(
    "key", [{}, {"id": {"N": "1"}}, {"other": {"S": "x"}}, {**KEY, "more": {"S": "x"}}]
)
def test_keys_that_do_not_fit(refusal: Any, people: str, key: dict[str, Any]) -> None:
    assert refusal(ValidationError, "GetItem", TableName=people, Key=key) == (
        "The provided key element does not match the schema"
    )


def test_a_projection_that_cannot_be_read(refusal: Any, people: str) -> None:
    request = {"TableName": people, "Key": KEY, "ProjectionExpression": "a, a.b"}
    assert refusal(ValidationError, "GetItem", **request) == (
        "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
        "rewrite one of these paths; path one: [a], path two: [a, b]"
    )


def test_a_table_that_is_not_there(refusal: Any) -> None:
    message = refusal(TableNotFound, "GetItem", TableName="nowhere", Key=KEY)
    assert message == "Requested resource not found"
