"""Where the ways to write differ in what they refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.errors import TransactionCanceled, ValidationError
from keyfold_engine.limits import ITEM_BYTES, READ_UNIT_BYTES
from keyfold_engine.values.size import item_size

PUT = "Item size has exceeded the maximum allowed size"
UPDATE = "Item size to update has exceeded the maximum allowed size"
EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
    "contain an empty string value. Key: pk"
)
MISMATCH = "The provided key element does not match the schema"
KEY = {"pk": {"S": "k"}}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call(
            "CreateTable",
            {
                "TableName": "tab",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        yield opened


def _item(size: int) -> dict[str, Any]:
    """An item that counts for exactly so many bytes: `pk`, its value, `b` and a text."""
    return {**KEY, "b": {"S": "x" * (size - len("pk") - len("k") - len("b"))}}


def _set(size: int) -> dict[str, Any]:
    return {
        "TableName": "tab",
        "Key": KEY,
        "UpdateExpression": "SET b = :b",
        "ExpressionAttributeValues": {":b": _item(size)["b"]},
    }


def _refusal(engine: Engine, operation: str, request: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        engine.call(operation, request)
    return caught.value.message


def _reason(engine: Engine, part: dict[str, Any]) -> str | None:
    with pytest.raises(TransactionCanceled) as caught:
        engine.call("TransactWriteItems", {"TransactItems": [part]})
    (reason,) = caught.value.reasons
    assert reason.code == "ValidationError"
    return reason.message


@pytest.mark.parametrize(
    ("operation", "request_of"),
    [
        ("PutItem", lambda item: {"TableName": "tab", "Item": item}),
        (
            "BatchWriteItem",
            lambda item: {"RequestItems": {"tab": [{"PutRequest": {"Item": item}}]}},
        ),
        (
            "TransactWriteItems",
            lambda item: {"TransactItems": [{"Put": {"TableName": "tab", "Item": item}}]},
        ),
        (
            "ExecuteStatement",
            lambda item: {"Statement": "INSERT INTO tab VALUE ?", "Parameters": [{"M": item}]},
        ),
    ],
)
def test_puts_take_items_of_exactly_400_kilobytes(
    engine: Engine, operation: str, request_of: Any
) -> None:
    assert PUT in _refusal(engine, operation, request_of(_item(ITEM_BYTES + 1)))
    engine.call(operation, request_of(_item(ITEM_BYTES)))


def test_update_item_counts_what_it_writes_and_its_actions(engine: Engine) -> None:
    # The key (3 bytes) is not written; the update costs 3 and its one SET 19.
    largest = ITEM_BYTES + 3 - 3 - 19
    engine.call("UpdateItem", _set(largest))
    assert _refusal(engine, "UpdateItem", _set(largest + 1)) == UPDATE


def test_updates_in_transactions_and_statements_count_the_item_alone(engine: Engine) -> None:
    engine.call("TransactWriteItems", {"TransactItems": [{"Update": _set(ITEM_BYTES)}]})
    assert _reason(engine, {"Update": _set(ITEM_BYTES + 1)}) == UPDATE
    statement = {"Statement": "UPDATE tab SET b = ? WHERE pk = 'k'"}
    engine.call("ExecuteStatement", {**statement, "Parameters": [_item(ITEM_BYTES)["b"]]})
    too_large = {**statement, "Parameters": [_item(ITEM_BYTES + 1)["b"]]}
    assert _refusal(engine, "ExecuteStatement", too_large) == UPDATE


@pytest.mark.parametrize(
    "part",
    [
        {"Put": {"TableName": "tab", "Item": {"pk": {"S": ""}}}},
        {"Delete": {"TableName": "tab", "Key": {"pk": {"S": ""}}}},
        {
            "ConditionCheck": {
                "TableName": "tab",
                "Key": {"pk": {"S": ""}},
                "ConditionExpression": "attribute_exists(pk)",
            }
        },
    ],
)
def test_an_empty_key_fails_a_transaction_whole(engine: Engine, part: dict[str, Any]) -> None:
    assert _refusal(engine, "TransactWriteItems", {"TransactItems": [part]}) == EMPTY


def test_a_key_of_the_wrong_type_cancels_a_transaction(engine: Engine) -> None:
    assert _reason(engine, {"Put": {"TableName": "tab", "Item": {"pk": {"N": "1"}}}}) == (
        "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"
    )
    assert _reason(engine, {"Delete": {"TableName": "tab", "Key": {"pk": {"N": "1"}}}}) == MISMATCH


def test_a_batch_does_not_say_what_is_wrong_with_a_key(engine: Engine) -> None:
    put = {"PutRequest": {"Item": {"pk": {"N": "1"}}}}
    assert _refusal(engine, "BatchWriteItem", {"RequestItems": {"tab": [put]}}) == MISMATCH


def test_a_transaction_item_without_an_operation(engine: Engine) -> None:
    assert _refusal(engine, "TransactWriteItems", {"TransactItems": [{}]}) == (
        "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "SET b = :text",
        "SET b = :text, n = n + :one",
        "SET m.x = :text",
        "SET l[9] = :text REMOVE l[0]",
        "SET c = m REMOVE b",
        "REMOVE m.deep, gone",
        "ADD n :one, s :set",
        "DELETE s :set",
    ],
)
def test_an_updated_item_is_counted_as_if_it_were_put(engine: Engine, expression: str) -> None:
    item = {
        **KEY,
        "b": {"S": "é"},
        "n": {"N": "99.5"},
        "s": {"SS": ["a", "bc"]},
        "l": {"L": [{"NULL": True}, {"B": "AAAA"}]},
        "m": {"M": {"deep": {"S": "x" * 2000}}},
    }
    values = {":text": {"S": "löng" * 400}, ":one": {"N": "1"}, ":set": {"SS": ["a"]}}
    request = {
        "TableName": "tab",
        "Key": KEY,
        "UpdateExpression": expression,
        "ReturnValues": "ALL_NEW",
    }
    if used := {name: value for name, value in values.items() if name in expression}:
        request["ExpressionAttributeValues"] = used
    engine.call("PutItem", {"TableName": "tab", "Item": item})
    updated = engine.call("UpdateItem", request)["Attributes"]
    assert _units(engine) == -(-item_size(updated) // READ_UNIT_BYTES)
    assert _total_size(engine) == item_size(updated)


def _units(engine: Engine) -> float:
    read = {"TableName": "tab", "Key": KEY, "ConsistentRead": True}
    answer = engine.call("GetItem", {**read, "ReturnConsumedCapacity": "TOTAL"})
    units: float = answer["ConsumedCapacity"]["CapacityUnits"]
    return units


def _total_size(engine: Engine) -> int:
    size: int = engine.call("DescribeTable", {"TableName": "tab"})["Table"]["TableSizeBytes"]
    return size
