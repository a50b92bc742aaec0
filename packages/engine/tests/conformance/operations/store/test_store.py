"""What a store of DynamoDB's items owes, whatever it is made of.

Of the criteria that ExtendDB asks of its backends (its RFC 3), those that no test of a single
operation shows; docs/reliability.md has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import pytest
from tests.conformance.operations.conftest import definition

from keyfold_engine.errors import ConditionFailed, TransactionCanceled, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

IMAGES = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def _key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}}


def _everything(call: Call, operation: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of all pages."""
    found: list[dict[str, Any]] = []
    start: dict[str, Any] | None = {}
    while start is not None:
        answer = call(operation, {**request, **({"ExclusiveStartKey": start} if start else {})})
        found += answer["Items"]
        start = answer.get("LastEvaluatedKey")
    return found


def _records(call: Call, stream: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for shard in call("DescribeStream", {"StreamArn": stream})["StreamDescription"]["Shards"]:
        wanted = {"StreamArn": stream, "ShardId": shard["ShardId"]}
        begin = call("GetShardIterator", {**wanted, "ShardIteratorType": "TRIM_HORIZON"})
        found += call("GetRecords", {"ShardIterator": begin["ShardIterator"]})["Records"]
    return found


def _enable(call: Call, table: str) -> str:
    call("UpdateTable", {"TableName": table, "StreamSpecification": IMAGES})
    stream: str = call("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
    return stream


@pytest.fixture
def pairs(call: Call, name: str) -> Callable[[str], str]:
    """A table whose partition and sort key have one type."""

    def create(kind: str) -> str:
        call(
            "CreateTable",
            {
                "TableName": name,
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [
                    {"AttributeName": "a", "KeyType": "HASH"},
                    {"AttributeName": "b", "KeyType": "RANGE"},
                ],
                "AttributeDefinitions": [
                    {"AttributeName": "a", "AttributeType": kind},
                    {"AttributeName": "b", "AttributeType": kind},
                ],
            },
        )
        return name

    return create


TEXTS = ["#", "##", "a", "a#", "#a", "a#a", "\0", "a\0", "\0a", "\x01", "|", "\uffff", "é", "1"]
BYTES = ["AA==", "AAA=", "AQ==", "AAE=", "/w==", "//8=", "/wA=", "Lw==", "L/8=", "MA=="]


@pytest.mark.parametrize(("kind", "values"), [("S", TEXTS), ("B", BYTES)])
def test_no_two_keys_are_one_item(
    call: Call, pairs: Callable[[str], str], kind: str, values: list[str]
) -> None:
    table = pairs(kind)
    keys = [{"a": {kind: one}, "b": {kind: two}} for one, two in product(values, repeat=2)]
    for number, key in enumerate(keys):
        call("PutItem", {"TableName": table, "Item": {**key, "n": {"N": str(number)}}})
    found = [call("GetItem", {"TableName": table, "Key": key})["Item"]["n"]["N"] for key in keys]
    assert found == [str(number) for number in range(len(keys))]


def test_binaries_begin_with_bytes_up_to_the_last_one(
    call: Call, pairs: Callable[[str], str]
) -> None:
    table = pairs("B")
    for value in BYTES:
        call("PutItem", {"TableName": table, "Item": {"a": {"B": "AA=="}, "b": {"B": value}}})

    def beginning(prefix: str) -> list[str]:
        request = {
            "TableName": table,
            "KeyConditionExpression": "a = :a AND begins_with(b, :b)",
            "ExpressionAttributeValues": {":a": {"B": "AA=="}, ":b": {"B": prefix}},
        }
        return [item["b"]["B"] for item in call("Query", request)["Items"]]

    assert beginning("/w==") == ["/w==", "/wA=", "//8="]
    assert beginning("L/8=") == ["L/8="]
    assert beginning("AA==") == ["AA==", "AAA=", "AAE="]


def _deleted(call: Call, table: str) -> None:
    call("DeleteItem", {"TableName": table, "Key": _key(1)})


def _replaced(call: Call, table: str) -> None:
    call("PutItem", {"TableName": table, "Item": _key(1)})


def _updated(call: Call, table: str) -> None:
    call("UpdateItem", {"TableName": table, "Key": _key(1), "UpdateExpression": "REMOVE g"})


def _batch_put(call: Call, table: str) -> None:
    call("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": _key(1)}}]}})


def _batch_deleted(call: Call, table: str) -> None:
    call("BatchWriteItem", {"RequestItems": {table: [{"DeleteRequest": {"Key": _key(1)}}]}})


def _put_together(call: Call, table: str) -> None:
    put = {"Put": {"TableName": table, "Item": _key(1)}}
    call("TransactWriteItems", {"TransactItems": [put]})


def _updated_together(call: Call, table: str) -> None:
    update = {"TableName": table, "Key": _key(1), "UpdateExpression": "REMOVE g"}
    call("TransactWriteItems", {"TransactItems": [{"Update": update}]})


def _deleted_together(call: Call, table: str) -> None:
    delete = {"Delete": {"TableName": table, "Key": _key(1)}}
    call("TransactWriteItems", {"TransactItems": [delete]})


@pytest.mark.parametrize(
    "write",
    [
        _deleted,
        _replaced,
        _updated,
        _batch_put,
        _batch_deleted,
        _put_together,
        _updated_together,
        _deleted_together,
    ],
)
def test_no_way_to_write_leaves_an_old_entry(
    call: Call, table: str, put: Any, write: Callable[[Call, str], None]
) -> None:
    put("a", 1, g="x")
    index = {"TableName": table, "IndexName": "everything"}
    assert len(call("Scan", index)["Items"]) == 1
    write(call, table)
    assert call("Scan", index)["Items"] == []


def test_pages_of_an_index_keep_both_bounds(call: Call, table: str, put: Any) -> None:
    for number in range(8):
        put("a", number, g="x")
    request = {
        "TableName": table,
        "IndexName": "everything",
        "KeyConditionExpression": "g = :g AND sk BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":g": {"S": "x"}, ":low": {"N": "2"}, ":high": {"N": "5"}},
        "Limit": 1,
    }
    assert set(call("Query", request)["LastEvaluatedKey"]) == {"pk", "sk", "g"}
    for forward, numbers in ((True, ["2", "3", "4", "5"]), (False, ["5", "4", "3", "2"])):
        found = _everything(call, "Query", {**request, "ScanIndexForward": forward})
        assert [item["sk"]["N"] for item in found] == numbers


def test_a_cancelled_transaction_leaves_nothing_behind(call: Call, table: str, name: str) -> None:
    stream = _enable(call, table)
    request = {
        "TransactItems": [
            {"Put": {"TableName": table, "Item": {**_key(1), "g": {"S": "x"}}}},
            {
                "ConditionCheck": {
                    "TableName": table,
                    "Key": _key(2),
                    "ConditionExpression": "attribute_exists(pk)",
                }
            },
        ],
        "ClientRequestToken": f"cancelled-{name}",
    }
    with pytest.raises(TransactionCanceled):
        call("TransactWriteItems", request)
    assert call("Scan", {"TableName": table})["Items"] == []
    assert call("Scan", {"TableName": table, "IndexName": "everything"})["Items"] == []
    assert _records(call, stream) == []
    call("PutItem", {"TableName": table, "Item": _key(2)})
    call("TransactWriteItems", request)
    assert call("Scan", {"TableName": table})["Count"] == 2
    assert len(_records(call, stream)) == 2


def test_reasons_come_in_the_order_of_the_operations(call: Call, table: str, put: Any) -> None:
    there = put("a", 1, v="old")
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    parts = {
        "new": {"Put": {"TableName": table, "Item": _key(2)}},
        "old": {
            "Put": {
                "TableName": table,
                "Item": _key(1),
                **condition,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        },
        "none": {
            "Delete": {
                "TableName": table,
                "Key": _key(3),
                "ConditionExpression": "attribute_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        },
    }
    expected = {
        "new": ("None", None),
        "old": ("ConditionalCheckFailed", there),
        "none": ("ConditionalCheckFailed", None),
    }
    for order in permutations(parts):
        with pytest.raises(TransactionCanceled) as caught:
            call("TransactWriteItems", {"TransactItems": [parts[part] for part in order]})
        told = [(reason.code, reason.item) for reason in caught.value.reasons]
        assert told == [expected[part] for part in order]


def test_segments_read_in_pages_show_each_item_once(call: Call, table: str, put: Any) -> None:
    for number in range(25):
        put(f"partition {number % 7}", number)
    found = [
        item["sk"]["N"]
        for segment in range(4)
        for item in _everything(
            call,
            "Scan",
            {"TableName": table, "Segment": segment, "TotalSegments": 4, "Limit": 1},
        )
    ]
    assert sorted(found, key=int) == [str(number) for number in range(25)]


def test_a_table_made_again_inherits_nothing(call: Call, table: str, put: Any) -> None:
    stream = _enable(call, table)
    described = call("DescribeTable", {"TableName": table})["Table"]
    put("a", 1, g="x", l="y")
    call("DeleteTable", {"TableName": table})
    call("CreateTable", {**definition(table), "StreamSpecification": IMAGES})
    again = call("DescribeTable", {"TableName": table})["Table"]
    assert again["TableId"] != described["TableId"]
    assert again["LatestStreamArn"] != stream
    assert call("Scan", {"TableName": table})["Items"] == []
    assert call("Scan", {"TableName": table, "IndexName": "everything"})["Items"] == []
    assert _records(call, again["LatestStreamArn"]) == []
    assert len(_records(call, stream)) == 1


def test_an_update_of_a_table_said_twice_changes_nothing(call: Call, table: str) -> None:
    stream = _enable(call, table)
    before = call("DescribeTable", {"TableName": table})["Table"]
    shards = call("DescribeStream", {"StreamArn": stream})["StreamDescription"]["Shards"]
    with pytest.raises(ValidationError):
        call("UpdateTable", {"TableName": table, "StreamSpecification": IMAGES})
    index = {
        "IndexName": "everything",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    with pytest.raises(ValidationError):
        call(
            "UpdateTable",
            {"TableName": table, "GlobalSecondaryIndexUpdates": [{"Create": index}]},
        )
    assert call("DescribeTable", {"TableName": table})["Table"] == before
    after = call("DescribeStream", {"StreamArn": stream})["StreamDescription"]["Shards"]
    assert after == shards


def test_conditions_of_other_types_fail_and_match_nothing(call: Call, table: str, put: Any) -> None:
    put("a", 1, v="10")
    for condition in ("v < :n", "v >= :n", "v = :n", "absent < :n", "absent = :n"):
        with pytest.raises(ConditionFailed):
            call(
                "DeleteItem",
                {
                    "TableName": table,
                    "Key": _key(1),
                    "ConditionExpression": condition,
                    "ExpressionAttributeValues": {":n": {"N": "9"}},
                },
            )
    assert call("Scan", {"TableName": table})["Count"] == 1
