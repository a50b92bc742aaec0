"""ReturnConsumedCapacity: the exact units of every kind of request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def _units(answer: dict[str, Any]) -> Any:
    return answer["ConsumedCapacity"]["CapacityUnits"]


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [(100, False, 0.5), (100, True, 1.0), (4096, True, 2.0), (9000, False, 1.5)],
)
def test_a_read_costs_by_four_kilobytes(
    call: Call, table: str, put: Any, size: int, consistent: bool, units: float
) -> None:
    put("a", 1, d="d" * size)
    more = {"ConsistentRead": consistent, "ReturnConsumedCapacity": "TOTAL"}
    assert _units(call("GetItem", {"TableName": table, "Key": KEY, **more})) == units
    query = {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    assert _units(call("Query", {**query, **more})) == units
    missing = {"pk": {"S": "z"}, "sk": {"N": "1"}}
    nothing = call("GetItem", {"TableName": table, "Key": missing, **more})
    assert _units(nothing) == (1.0 if consistent else 0.5)


def test_a_write_costs_by_the_larger_of_old_and_new(call: Call, table: str, put: Any) -> None:
    put("a", 1, d="d" * 3000)
    request = {"TableName": table, "Item": KEY, "ReturnConsumedCapacity": "TOTAL"}
    assert _units(call("PutItem", request)) == 3.0
    assert _units(call("PutItem", request)) == 1.0


def test_an_index_costs_for_each_entry_that_changes(call: Call, table: str, put: Any) -> None:
    def put_item(**attributes: str) -> dict[str, Any]:
        item = {**KEY, **{name: {"S": value} for name, value in attributes.items()}}
        answer = call(
            "PutItem", {"TableName": table, "Item": item, "ReturnConsumedCapacity": "INDEXES"}
        )
        consumed: dict[str, Any] = answer["ConsumedCapacity"]
        return consumed

    added = put_item(g="one", l="x")
    assert added["Table"] == {"CapacityUnits": 1.0}
    assert added["GlobalSecondaryIndexes"] == {"everything": {"CapacityUnits": 1.0}}
    assert added["LocalSecondaryIndexes"] == {"local": {"CapacityUnits": 1.0}}
    assert added["CapacityUnits"] == 3.0
    moved = put_item(g="two", l="x")
    assert moved["GlobalSecondaryIndexes"] == {"everything": {"CapacityUnits": 2.0}}
    assert moved["CapacityUnits"] == 3.0


def test_a_transaction_costs_double(call: Call, table: str) -> None:
    parts = [{"Put": {"TableName": table, "Item": KEY}}]
    written = call(
        "TransactWriteItems", {"TransactItems": parts, "ReturnConsumedCapacity": "TOTAL"}
    )
    assert written["ConsumedCapacity"][0]["CapacityUnits"] == 2.0
    gets = [{"Get": {"TableName": table, "Key": KEY}}]
    read = call("TransactGetItems", {"TransactItems": gets, "ReturnConsumedCapacity": "TOTAL"})
    assert read["ConsumedCapacity"][0]["CapacityUnits"] == 2.0


def test_a_query_costs_the_index_it_reads(call: Call, table: str, put: Any) -> None:
    put("a", 1, g="group", d="d" * 5000)
    answer = call(
        "Query",
        {
            "TableName": table,
            "IndexName": "everything",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": {"S": "group"}},
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    consumed = answer["ConsumedCapacity"]
    assert consumed["GlobalSecondaryIndexes"] == {"everything": {"CapacityUnits": 1.0}}
    assert consumed["Table"] == {"CapacityUnits": 0.0}


def test_a_local_index_costs_for_what_it_fetches(call: Call, table: str, put: Any) -> None:
    for number in range(3):
        put("a", number, l="x", d="d" * 5000)
    answer = call(
        "Query",
        {
            "TableName": table,
            "IndexName": "local",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "a"}},
            "Select": "ALL_ATTRIBUTES",
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    consumed = answer["ConsumedCapacity"]
    assert consumed["LocalSecondaryIndexes"] == {"local": {"CapacityUnits": 0.5}}
    assert consumed["Table"] == {"CapacityUnits": 3.0}


def test_a_batch_tells_by_table(call: Call, table: str) -> None:
    wishes = [{"PutRequest": {"Item": {**KEY, "sk": {"N": str(n)}}}} for n in range(3)]
    answer = call(
        "BatchWriteItem",
        {"RequestItems": {table: wishes}, "ReturnConsumedCapacity": "TOTAL"},
    )
    assert answer["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 3.0}]


def test_a_transaction_costs_the_table_twice_and_its_indexes_once(call: Call, table: str) -> None:
    item = {"pk": {"S": "a"}, "sk": {"N": "1"}, "l": {"S": "l"}, "g": {"S": "g"}}
    request = {
        "TransactItems": [{"Put": {"TableName": table, "Item": item}}],
        "ReturnConsumedCapacity": "INDEXES",
    }
    (consumed,) = call("TransactWriteItems", request)["ConsumedCapacity"]
    assert consumed["CapacityUnits"] == 4.0
    assert consumed["Table"]["CapacityUnits"] == 2.0
    assert consumed["LocalSecondaryIndexes"]["local"]["CapacityUnits"] == 1.0
    assert consumed["GlobalSecondaryIndexes"]["everything"]["CapacityUnits"] == 1.0


def test_asking_again_costs_the_larger_image_by_the_size_of_reads(
    call: Call, table: str, name: str
) -> None:
    key = {"pk": {"S": "a"}, "sk": {"N": "1"}}
    call("PutItem", {"TableName": table, "Item": {**key, "text": {"S": "x" * 9000}}})
    request = {
        "TransactItems": [{"Delete": {"TableName": table, "Key": key}}],
        "ClientRequestToken": f"delete-{name}",
        "ReturnConsumedCapacity": "TOTAL",
    }
    first = call("TransactWriteItems", request)["ConsumedCapacity"][0]
    again = call("TransactWriteItems", request)["ConsumedCapacity"][0]
    assert first["WriteCapacityUnits"] == 18.0
    assert again["ReadCapacityUnits"] == 6.0
