from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import ValidationError

ADA = {":c": {"S": "Ada"}}


def _query(call: Any, table: str, **more: Any) -> dict[str, Any]:
    request: dict[str, Any] = {
        "TableName": table,
        "KeyConditionExpression": "customer = :c",
        "ExpressionAttributeValues": ADA,
        **more,
    }
    answer: dict[str, Any] = call("Query", **request)
    return answer


def _numbers(answer: dict[str, Any]) -> list[int]:
    return [int(item["number"]["N"]) for item in answer["Items"]]


def test_a_partition_in_the_order_of_its_sort_key(call: Any, five_orders: str) -> None:
    answer = _query(call, five_orders)
    assert _numbers(answer) == [1, 2, 3, 4, 5]
    assert (answer["Count"], answer["ScannedCount"]) == (5, 5)
    assert "LastEvaluatedKey" not in answer
    assert _numbers(_query(call, five_orders, ScanIndexForward=False)) == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("#n = :a", [2]),
        ("#n < :a", [1]),
        ("#n <= :a", [1, 2]),
        ("#n > :a", [3, 4, 5]),
        ("#n >= :a", [2, 3, 4, 5]),
        (":a >= #n", [1, 2]),
        ("#n BETWEEN :a AND :b", [2, 3, 4]),
    ],
)
def test_conditions_on_the_sort_key(
    call: Any, five_orders: str, condition: str, numbers: list[int]
) -> None:
    values = {**ADA, ":a": {"N": "2"}}
    if ":b" in condition:
        values[":b"] = {"N": "4"}
    answer = _query(
        call,
        five_orders,
        KeyConditionExpression=f"customer = :c AND {condition}",
        ExpressionAttributeNames={"#n": "number"},
        ExpressionAttributeValues=values,
    )
    assert _numbers(answer) == numbers


def test_pages(call: Any, five_orders: str) -> None:
    found: list[int] = []
    more: dict[str, Any] = {}
    while True:
        answer = _query(call, five_orders, Limit=2, **more)
        found += _numbers(answer)
        if "LastEvaluatedKey" not in answer:
            break
        more = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert found == [1, 2, 3, 4, 5]


def test_a_filter_counts_what_it_reads(call: Any, five_orders: str) -> None:
    answer = _query(
        call,
        five_orders,
        FilterExpression="#s = :s",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={**ADA, ":s": {"S": "open"}},
        Limit=4,
    )
    assert _numbers(answer) == [1, 3]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 4)
    assert answer["LastEvaluatedKey"] == {"customer": {"S": "Ada"}, "number": {"N": "4"}}


def test_a_page_is_at_most_a_megabyte(call: Any, orders: str) -> None:
    for number in range(4):
        item = {
            "customer": {"S": "Ada"},
            "number": {"N": str(number)},
            "t": {"S": "x" * 300_000},
        }
        call("PutItem", TableName=orders, Item=item)
    answer = _query(call, orders)
    assert answer["Count"] == 4
    assert "LastEvaluatedKey" in answer
    assert _query(call, orders, ExclusiveStartKey=answer["LastEvaluatedKey"])["Count"] == 0


def test_a_count_has_no_items(call: Any, five_orders: str) -> None:
    answer = _query(call, five_orders, Select="COUNT")
    assert answer == {"Count": 5, "ScannedCount": 5}


def test_a_local_index(call: Any, five_orders: str) -> None:
    answer = _query(call, five_orders, IndexName="byTotal", ConsistentRead=True)
    assert _numbers(answer) == [5, 4, 3, 2, 1]
    assert sorted(answer["Items"][0]) == ["customer", "number", "total"]
    whole = _query(call, five_orders, IndexName="byTotal", Select="ALL_ATTRIBUTES")
    assert "note" in whole["Items"][0]


def test_a_global_index(call: Any, five_orders: str) -> None:
    answer = _query(
        call,
        five_orders,
        IndexName="byState",
        KeyConditionExpression="#s = :s",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={":s": {"S": "open"}},
        Limit=2,
    )
    assert _numbers(answer) == [1, 3]
    assert answer["LastEvaluatedKey"] == {
        "state": {"S": "open"},
        "number": {"N": "3"},
        "customer": {"S": "Ada"},
    }


def test_key_conditions_and_query_filter(call: Any, five_orders: str) -> None:
    answer = call(
        "Query",
        TableName=five_orders,
        KeyConditions={
            "customer": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "Ada"}]},
            "number": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": "2"}]},
        },
        QueryFilter={"state": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "open"}]}},
    )
    assert _numbers(answer) == [3, 5]


def test_consumed_capacity_is_of_the_index_that_was_read(call: Any, five_orders: str) -> None:
    answer = _query(call, five_orders, ReturnConsumedCapacity="INDEXES", IndexName="byTotal")
    assert answer["ConsumedCapacity"] == {
        "TableName": five_orders,
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "LocalSecondaryIndexes": {"byTotal": {"CapacityUnits": 0.5}},
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"KeyConditionExpression": "note = :c"},
            "Query condition missed key schema element: customer",
        ),
        (
            {"KeyConditionExpression": "customer > :c"},
            "Query key condition not supported",
        ),
        (
            {"FilterExpression": "customer = :c"},
            "Filter Expression can only contain non-primary key attributes: Primary key "
            "attribute: customer",
        ),
        (
            {"IndexName": "nope"},
            "The table does not have the specified index: nope",
        ),
        (
            {"IndexName": "byState", "ConsistentRead": True},
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            {"ExclusiveStartKey": {"customer": {"S": "Ada"}}},
            "The provided starting key is invalid: The provided key element does not match the "
            "schema",
        ),
    ],
)
def test_queries_that_are_refused(
    refusal: Any, orders: str, change: dict[str, Any], message: str
) -> None:
    request = {
        "TableName": orders,
        "KeyConditionExpression": "customer = :c",
        "ExpressionAttributeValues": ADA,
        **change,
    }
    assert refusal(ValidationError, "Query", **request) == message


def test_a_query_needs_a_key_condition(refusal: Any, orders: str) -> None:
    assert refusal(ValidationError, "Query", TableName=orders) == (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
        "request."
    )
