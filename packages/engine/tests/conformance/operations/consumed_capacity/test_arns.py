"""A table that was asked for by its ARN is told by its ARN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def _requests(table: str) -> dict[str, dict[str, Any]]:
    get = {"TableName": table, "Key": KEY}
    put = {"TableName": table, "Item": KEY}
    return {
        "PutItem": put,
        "GetItem": get,
        "DeleteItem": get,
        "UpdateItem": get,
        "Scan": {"TableName": table},
        "Query": {
            "TableName": table,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "a"}},
        },
        "BatchGetItem": {"RequestItems": {table: {"Keys": [KEY]}}},
        "BatchWriteItem": {"RequestItems": {table: [{"PutRequest": {"Item": KEY}}]}},
        "TransactGetItems": {"TransactItems": [{"Get": get}]},
        "TransactWriteItems": {"TransactItems": [{"Put": put}]},
    }


@pytest.mark.parametrize("operation", list(_requests("")))
def test_consumed_capacity_names_the_table_as_the_caller_did(
    call: Call, table: str, operation: str
) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    for name in (table, arn):
        request = {**_requests(name)[operation], "ReturnConsumedCapacity": "TOTAL"}
        consumed = call(operation, request)["ConsumedCapacity"]
        [told] = consumed if isinstance(consumed, list) else [consumed]
        assert told["TableName"] == name
