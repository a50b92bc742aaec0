"""Query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _query(call: Call, table: str, condition: str, **more: Any) -> dict[str, Any]:
    values = {f":{n}": v for n, v in more.pop("values", {}).items()}
    request = {
        "TableName": table,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {":p": {"S": "a"}, **values},
        **more,
    }
    return call("Query", request)


def _numbers(answer: dict[str, Any]) -> list[int]:
    return [int(item["sk"]["N"]) for item in answer["Items"]]


@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        ("pk = :p", {}, [-10, -2, 0, 3, 20]),
        ("pk = :p AND sk = :x", {"x": "3"}, [3]),
        ("pk = :p AND sk < :x", {"x": "0"}, [-10, -2]),
        ("pk = :p AND sk <= :x", {"x": "0"}, [-10, -2, 0]),
        ("pk = :p AND sk > :x", {"x": "-2"}, [0, 3, 20]),
        ("pk = :p AND sk >= :x", {"x": "-2"}, [-2, 0, 3, 20]),
        ("pk = :p AND sk BETWEEN :x AND :y", {"x": "-2", "y": "3"}, [-2, 0, 3]),
        (":x < sk AND :p = pk", {"x": "0"}, [3, 20]),
    ],
)
def test_a_key_condition_selects_a_range_in_order(
    call: Call,
    table: str,
    put: Any,
    condition: str,
    values: dict[str, str],
    expected: list[int],
) -> None:
    for number in (20, -2, 0, 3, -10):
        put("a", number)
    put("ab", 1)
    given = {name: {"N": value} for name, value in values.items()}
    forward = _query(call, table, condition, values=given)
    assert _numbers(forward) == expected
    assert (forward["Count"], forward["ScannedCount"]) == (len(expected), len(expected))
    backward = _query(call, table, condition, values=given, ScanIndexForward=False)
    assert _numbers(backward) == expected[::-1]


@pytest.mark.parametrize("forward", [True, False])
def test_pages_join_without_gaps(call: Call, table: str, put: Any, forward: bool) -> None:
    for number in range(7):
        put("a", number, g="group")
    for index in (None, "everything"):
        request: dict[str, Any] = {"Limit": 3, "ScanIndexForward": forward}
        condition, values = "pk = :p", {}
        if index is not None:
            request["IndexName"] = index
            condition = "g = :p"
            values = {":p": {"S": "group"}}
        seen: list[int] = []
        while True:
            answer = call(
                "Query",
                {
                    "TableName": table,
                    "KeyConditionExpression": condition,
                    "ExpressionAttributeValues": values or {":p": {"S": "a"}},
                    **request,
                },
            )
            seen += _numbers(answer)
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        assert seen == (list(range(7)) if forward else list(range(6, -1, -1)))


def test_a_limit_that_is_reached_says_where_it_was(call: Call, table: str, put: Any) -> None:
    put("a", 1)
    answer = _query(call, table, "pk = :p", Limit=1)
    assert answer["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"N": "1"}}
    rest = _query(call, table, "pk = :p", ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert rest["Items"] == []
    assert "LastEvaluatedKey" not in rest


def test_a_filter_takes_away_but_its_items_were_read(call: Call, table: str, put: Any) -> None:
    for number in range(4):
        put("a", number, even="yes" if number % 2 == 0 else "no")
    answer = _query(
        call, table, "pk = :p", FilterExpression="even = :e", values={"e": {"S": "yes"}}, Limit=3
    )
    assert _numbers(answer) == [0, 2]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)
    assert answer["LastEvaluatedKey"]["sk"] == {"N": "2"}


def test_a_page_ends_at_a_megabyte(call: Call, table: str, put: Any) -> None:
    for number in range(4):
        put("a", number, data="d" * 390_000)
    first = _query(call, table, "pk = :p")
    assert _numbers(first) == [0, 1, 2]
    second = _query(call, table, "pk = :p", ExclusiveStartKey=first["LastEvaluatedKey"])
    assert _numbers(second) == [3]


def test_an_index_answers_with_what_it_projects(call: Call, table: str, put: Any) -> None:
    put("a", 1, l="x", h="h", kept="k", left="z")
    local = _query(
        call, table, "pk = :p AND begins_with(l, :l)", IndexName="local", values={"l": {"S": "x"}}
    )
    assert set(local["Items"][0]) == {"pk", "sk", "l"}
    whole = _query(call, table, "pk = :p", IndexName="local", Select="ALL_ATTRIBUTES")
    assert set(whole["Items"][0]) == {"pk", "sk", "l", "h", "kept", "left"}
    some = call(
        "Query",
        {
            "TableName": table,
            "IndexName": "some",
            "KeyConditionExpression": "h = :h",
            "ExpressionAttributeValues": {":h": {"S": "h"}},
        },
    )
    assert set(some["Items"][0]) == {"pk", "sk", "h", "kept"}


def test_a_count_has_no_items(call: Call, table: str, put: Any) -> None:
    put("a", 1)
    answer = _query(call, table, "pk = :p", Select="COUNT")
    assert answer == {"Count": 1, "ScannedCount": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"KeyConditionExpression": "sk = :p"}, "Query condition missed key schema element: pk"),
        (
            {"KeyConditionExpression": "pk = :p AND unknown_one = :p"},
            "Query condition missed key schema element: sk",
        ),
        ({"KeyConditionExpression": "pk > :p"}, "Query key condition not supported"),
        (
            {"KeyConditionExpression": "pk = :p OR sk = :p"},
            "Invalid operator used in KeyConditionExpression: OR",
        ),
        (
            {"ExpressionAttributeValues": {":p": {"N": "1"}}},
            "One or more parameter values were invalid: Condition parameter type does not match "
            "schema type",
        ),
        ({"IndexName": "none"}, "The table does not have the specified index: none"),
        (
            {
                "IndexName": "everything",
                "KeyConditionExpression": "g = :p",
                "ConsistentRead": True,
            },
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            {"FilterExpression": "sk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
            "sk",
        ),
        (
            {
                "IndexName": "some",
                "KeyConditionExpression": "h = :p",
                "Select": "ALL_ATTRIBUTES",
            },
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not "
            "supported for global secondary index some because its projection type is not ALL",
        ),
        (
            {"ExclusiveStartKey": {"pk": {"S": "elsewhere"}, "sk": {"N": "1"}}},
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
        ({"ExclusiveStartKey": {"pk": {"S": "a"}}}, "The provided starting key is invalid"),
        (
            {"ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"S": "1"}}},
            "The provided key element does not match the schema",
        ),
        (
            {"ExclusiveStartKey": {"pk": {}, "sk": {"N": "1"}}},
            "The provided starting key is invalid: Supplied AttributeValue is empty, must contain "
            "exactly one of the supported datatypes",
        ),
        (
            {
                "KeyConditionExpression": "pk = :p AND sk > :s",
                "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"N": "5"}},
                "ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"N": "1"}},
            },
            "The provided starting key does not match the range key predicate",
        ),
        (
            {
                "KeyConditionExpression": "pk = :p AND sk > :s",
                "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"N": "5"}},
                "ExclusiveStartKey": {"pk": {"S": "elsewhere"}, "sk": {"N": "9"}},
            },
            "The query can return at most one row and cannot be restarted",
        ),
        (
            {"ProjectionExpression": "pk.x"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: Key: pk",
        ),
    ],
)
def test_a_wrong_query_is_refused_in_dynamodbs_words(
    call: Call, table: str, changes: dict[str, Any], message: str
) -> None:
    request = {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
        **changes,
    }
    with pytest.raises(ValidationError) as caught:
        call("Query", request)
    assert caught.value.message == message


def test_legacy_key_conditions_work(call: Call, table: str, put: Any) -> None:
    for number in range(3):
        put("a", number, v=number)
    answer = call(
        "Query",
        {
            "TableName": table,
            "KeyConditions": {
                "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]},
                "sk": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "0"}]},
            },
            "QueryFilter": {"v": {"ComparisonOperator": "NE", "AttributeValueList": [{"N": "1"}]}},
        },
    )
    assert _numbers(answer) == [2]


def test_legacy_conditions_read_an_index_of_several_sort_attributes(call: Call, name: str) -> None:
    kinds = {"g": "HASH", "a": "RANGE", "b": "RANGE"}
    call(
        "CreateTable",
        {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": each, "AttributeType": "S"} for each in ("pk", *kinds)
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "several",
                    "KeySchema": [
                        {"AttributeName": each, "KeyType": kind} for each, kind in kinds.items()
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        },
    )
    for number in "123":
        item = {"pk": number, "g": "g", "a": "a", "b": number}
        wire = {each: {"S": value} for each, value in item.items()}
        call("PutItem", {"TableName": name, "Item": wire})
    conditions = {
        "g": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "g"}]},
        "a": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]},
        "b": {"ComparisonOperator": "GT", "AttributeValueList": [{"S": "1"}]},
    }
    request = {"TableName": name, "IndexName": "several", "KeyConditions": conditions}
    assert call("Query", request)["Count"] == 2
