"""What transactions and batches tell first, as seen on DynamoDB in October 2026."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import TransactionCanceled, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit"
)
CAPACITY = (
    "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy "
    "enum value set: [INDEXES, TOTAL, NONE]"
)


def _refusal(call: Call, operation: str, request: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        call(operation, request)
    return caught.value.message


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "leaf"}
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def test_a_token_that_is_too_long_is_told_first(call: Call, table: str) -> None:
    token = "x" * 37
    request = {
        "TransactItems": [{"Put": {"TableName": table, "Item": KEY}}],
        "ClientRequestToken": token,
        "ReturnConsumedCapacity": "BOGUS",
    }
    assert _refusal(call, "TransactWriteItems", request) == (
        f"2 validation errors detected: Value '{token}' at 'clientRequestToken' failed to satisfy "
        f"constraint: Member must have length less than or equal to 36; {CAPACITY}"
    )
    assert call("Scan", {"TableName": table})["Count"] == 0


def test_an_update_that_is_too_long_is_not_told_its_length(call: Call, table: str) -> None:
    update = {"TableName": table, "Key": KEY, "UpdateExpression": "SET " + "a" * 4096 + " = b"}
    assert _refusal(call, "TransactWriteItems", {"TransactItems": [{"Update": update}]}) == (
        "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;"
    )
    long = "a" * 4096 + " = b"
    check = {"TableName": table, "Key": KEY, "ConditionExpression": long}
    assert _refusal(call, "TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]}) == (
        "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; "
        f"expression size: {len(long)}"
    )


def test_parts_are_looked_at_one_after_the_other(call: Call, table: str) -> None:
    nameless = {"Put": {"TableName": table, "Item": {**KEY, "": {"S": "x"}}}}
    deep = {"Put": {"TableName": table, "Item": {**KEY, "d": _nested(40)}}}
    assert _refusal(call, "TransactWriteItems", {"TransactItems": [deep, nameless]}) == DEEP
    assert _refusal(call, "TransactWriteItems", {"TransactItems": [nameless, deep]}) == (
        "Empty attribute name"
    )


@pytest.mark.parametrize("levels", [33, 40, 61])
def test_values_deeper_than_a_transaction_takes_are_told_with_their_placeholder(
    call: Call, table: str, levels: int
) -> None:
    check = {
        "TableName": table,
        "Key": KEY,
        "ConditionExpression": "d = :deep",
        "ExpressionAttributeValues": {":deep": _nested(levels)},
    }
    assert _refusal(call, "TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]}) == (
        f"ExpressionAttributeValues contains invalid value: {DEEP} for key :deep"
    )


def test_of_several_indexes_the_first_by_the_alphabet_is_told(call: Call, name: str) -> None:
    def index(title: str, partition: str) -> dict[str, Any]:
        return {
            "IndexName": title,
            "KeySchema": [
                {"AttributeName": partition, "KeyType": "HASH"},
                {"AttributeName": "shared_key", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }

    call(
        "CreateTable",
        {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": each, "AttributeType": "S"}
                for each in ("pk", "sk", "shared_key", "g")
            ],
            "LocalSecondaryIndexes": [index("of-the-partition", "pk")],
            "GlobalSecondaryIndexes": [index("across", "g")],
        },
    )
    key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    put = {"Put": {"TableName": name, "Item": {**key, "shared_key": {"N": "5"}}}}
    update = {
        "Update": {
            "TableName": name,
            "Key": key,
            "UpdateExpression": "SET shared_key = :n",
            "ExpressionAttributeValues": {":n": {"N": "5"}},
        }
    }
    for part in (put, update):
        with pytest.raises(TransactionCanceled) as caught:
            call("TransactWriteItems", {"TransactItems": [part]})
        [reason] = caught.value.reasons
        assert reason.message == (
            "One or more parameter values were invalid: Type mismatch for Index Key shared_key "
            "Expected: S Actual: N IndexName: across"
        )


def test_batch_get_item_tells_of_wrong_names_and_of_what_else_is_wrong(call: Call) -> None:
    request = {
        "RequestItems": {"a!": {"Keys": [{"pk": {"S": "a"}}]}},
        "ReturnConsumedCapacity": "BOGUS",
    }
    told = _refusal(call, "BatchGetItem", request)
    assert told.startswith(
        '2 validation errors detected: Value \'{"a!":{"Keys":[{"pk":{"S":"a"}}]}}\' at '
        "'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: ["
    )
    assert told.endswith(f"; {CAPACITY}")
    write = {
        "RequestItems": {"a!": [{"PutRequest": {"Item": KEY}}]},
        "ReturnConsumedCapacity": "BOGUS",
    }
    assert _refusal(call, "BatchWriteItem", write) == f"1 validation error detected: {CAPACITY}"


def test_a_conditional_operator_that_is_none_is_told_before_all_else_of_a_query(
    call: Call,
) -> None:
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}
    request = {
        "TableName": "nowhere",
        "KeyConditions": {"pk": condition},
        "QueryFilter": {"a": condition, "b": condition},
        "ConditionalOperator": "XOR",
        "Select": "BOGUS",
    }
    assert _refusal(call, "Query", request) == (
        "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
    )


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("0e126", "Number overflow"),
        ("0e-131", "Number underflow"),
        ("1e99999999999", "Number overflow"),
        ("1e9223372036854775808", "The parameter cannot be converted to a numeric value"),
    ],
)
def test_numbers_are_measured_by_the_exponent_they_are_written_with(
    call: Call, table: str, number: str, reason: str
) -> None:
    item = {**KEY, "n": {"N": number}}
    assert reason in _refusal(call, "PutItem", {"TableName": table, "Item": item})
    call("PutItem", {"TableName": table, "Item": {**KEY, "n": {"N": "0e125"}}})
    [stored] = call("Scan", {"TableName": table})["Items"]
    assert stored["n"] == {"N": "0"}
