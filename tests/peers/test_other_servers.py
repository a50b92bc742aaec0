"""Our clients against other people's servers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from keyfold.errors import (
    ConditionFailed,
    OperationError,
    TableNotFound,
    TransactionCanceled,
    ValidationError,
)
from keyfold_engine.clients import connect, connect_async
from keyfold_engine.clients.protocol import Client

TABLE: dict[str, Any] = {
    "TableName": "Things",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owner")
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-owner",
            "KeySchema": [
                {"AttributeName": "owner", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
WITHOUT_TRANSACTIONS = {"dynalite"}


def item(number: int, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": f"{number:03}"}, "owner": {"S": "ada"}, **more}


@pytest.fixture
def client(other_server: tuple[str, str]) -> Any:
    client = connect(other_server[1])
    client.call("CreateTable", TABLE)
    deadline = time.monotonic() + 20
    while status(client) != "ACTIVE":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield client
    client.call("DeleteTable", {"TableName": "Things"})
    while status(client) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    client.close()


def status(client: Client) -> str | None:
    try:
        found = client.call("DescribeTable", {"TableName": "Things"})
    except TableNotFound:
        return None
    return str(found["Table"]["TableStatus"])


def test_items_go_and_come_back(client: Client) -> None:
    rich = item(
        1, n={"N": "-1.5"}, b={"B": "AP8="}, s={"SS": ["x", "y"]}, m={"M": {"é✓": {"NULL": True}}}
    )
    client.call("PutItem", {"TableName": "Things", "Item": rich})
    key = {"pk": rich["pk"], "sk": rich["sk"]}
    found = client.call("GetItem", {"TableName": "Things", "Key": key, "ConsistentRead": True})
    found["Item"]["s"]["SS"].sort()
    assert found["Item"] == rich
    missing = {"pk": {"S": "p"}, "sk": {"S": "none"}}
    assert "Item" not in client.call("GetItem", {"TableName": "Things", "Key": missing})


def test_queries_page_through_table_and_index(client: Client) -> None:
    for first in (0, 25):
        puts = [{"PutRequest": {"Item": item(number)}} for number in range(first, first + 25)]
        answer = client.call("BatchWriteItem", {"RequestItems": {"Things": puts}})
        assert not answer.get("UnprocessedItems")
    for index, name, value in ((None, "pk", "p"), ("by-owner", "owner", "ada")):
        request: dict[str, Any] = {
            "TableName": "Things",
            "KeyConditionExpression": "#k = :v",
            "ExpressionAttributeNames": {"#k": name},
            "ExpressionAttributeValues": {":v": {"S": value}},
            "Limit": 20,
        }
        if index:
            request["IndexName"] = index
            until_all_are_there(client, request)
        numbers: list[int] = []
        while True:
            page = client.call("Query", request)
            numbers += [int(found["sk"]["S"]) for found in page["Items"]]
            if "LastEvaluatedKey" not in page:
                break
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        assert numbers == list(range(50))


def until_all_are_there(client: Client, request: dict[str, Any]) -> None:
    """An index follows its table: at once, or a moment later."""
    deadline = time.monotonic() + 20
    counted = {name: value for name, value in request.items() if name != "Limit"}
    while client.call("Query", {**counted, "Select": "COUNT"})["Count"] < 50:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_errors_are_the_same_classes_everywhere(client: Client) -> None:
    put = {"TableName": "Things", "Item": item(1)}
    client.call("PutItem", put)
    with pytest.raises(ConditionFailed):
        client.call("PutItem", {**put, "ConditionExpression": "attribute_not_exists(pk)"})
    with pytest.raises(TableNotFound):
        client.call("GetItem", {"TableName": "Nowhere", "Key": {"pk": {"S": "1"}}})
    with pytest.raises(ValidationError):
        client.call("PutItem", {"TableName": "Things", "Item": {"other": {"S": "1"}}})


def test_a_transaction_is_all_or_nothing(client: Client, other_server: tuple[str, str]) -> None:
    def put(number: int, **more: Any) -> dict[str, Any]:
        return {"Put": {"TableName": "Things", "Item": item(number), **more}}

    if other_server[0] in WITHOUT_TRANSACTIONS:
        with pytest.raises(OperationError) as refused:
            client.call("TransactWriteItems", {"TransactItems": [put(1)]})
        assert refused.value.wire_name == "UnknownOperationException"
        return
    client.call("TransactWriteItems", {"TransactItems": [put(1), put(2)]})
    with pytest.raises(TransactionCanceled) as caught:
        client.call(
            "TransactWriteItems",
            {"TransactItems": [put(3), put(1, ConditionExpression="attribute_not_exists(pk)")]},
        )
    assert [reason.code for reason in caught.value.reasons] == ["None", "ConditionalCheckFailed"]
    assert client.call("Scan", {"TableName": "Things", "Select": "COUNT"})["Count"] == 2


async def test_many_calls_at_a_time(client: Client, other_server: tuple[str, str]) -> None:
    asynchronous = connect_async(other_server[1])
    await asyncio.gather(
        *(
            asynchronous.call("PutItem", {"TableName": "Things", "Item": item(number)})
            for number in range(60)
        )
    )
    answer = await asynchronous.call("Scan", {"TableName": "Things", "Select": "COUNT"})
    assert answer["Count"] == 60
    await asynchronous.close()
