"""Every operation on a table takes its ARN; an ARN of anything else is invalid.

After what ExtendDB's authors saw on Amazon in July 2026 (their pull request 200); the words are
those of the operations on tags.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
REQUESTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "PutItem": lambda name: {"TableName": name, "Item": KEY},
    "GetItem": lambda name: {"TableName": name, "Key": KEY},
    "UpdateItem": lambda name: {"TableName": name, "Key": KEY},
    "DeleteItem": lambda name: {"TableName": name, "Key": KEY},
    "Scan": lambda name: {"TableName": name},
    "Query": lambda name: {
        "TableName": name,
        "KeyConditionExpression": "pk = :a",
        "ExpressionAttributeValues": {":a": {"S": "a"}},
    },
    "BatchGetItem": lambda name: {"RequestItems": {name: {"Keys": [KEY]}}},
    "BatchWriteItem": lambda name: {"RequestItems": {name: [{"PutRequest": {"Item": KEY}}]}},
    "TransactGetItems": lambda name: {"TransactItems": [{"Get": {"TableName": name, "Key": KEY}}]},
    "TransactWriteItems": lambda name: {
        "TransactItems": [{"Put": {"TableName": name, "Item": KEY}}]
    },
    "DescribeTable": lambda name: {"TableName": name},
    "UpdateTable": lambda name: {"TableName": name, "DeletionProtectionEnabled": True},
    "DescribeTimeToLive": lambda name: {"TableName": name},
    "DescribeContinuousBackups": lambda name: {"TableName": name},
    "CreateBackup": lambda name: {"TableName": name, "BackupName": "first"},
}


@pytest.mark.parametrize("operation", REQUESTS)
def test_a_tables_arn_stands_for_its_name(call: Call, table: str, operation: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    call(operation, REQUESTS[operation](arn))


@pytest.mark.parametrize("operation", REQUESTS)
def test_an_arn_of_something_else_is_invalid(call: Call, table: str, operation: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    for wrong in (
        f"{arn}/index/some",
        f"{arn}/stream/2026-11-19T00:00:00.000",
        arn.replace("table/", "stream/"),
        "arn:aws:s3:::bucket",
        "arn:aws:dynamodb:us-east-1:123456789012:table/arn:aws:s3:::bucket",
    ):
        with pytest.raises(ValidationError):
            call(operation, REQUESTS[operation](wrong))


def test_a_table_is_created_by_its_own_arn_alone(call: Call, name: str) -> None:
    request = {
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{name}"
    for wrong in (arn.replace("us-east-1", "eu-west-1"), f"{arn}/index/a", "arn:aws:s3:::bucket"):
        with pytest.raises(ValidationError):
            call("CreateTable", {**request, "TableName": wrong})
    made = call("CreateTable", {**request, "TableName": arn})["TableDescription"]
    assert (made["TableName"], made["TableArn"]) == (name, arn)
