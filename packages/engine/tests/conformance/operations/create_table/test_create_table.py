"""CreateTable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import TableInUse, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _request(name: str, **changes: Any) -> dict[str, Any]:
    request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        **changes,
    }
    return {member: value for member, value in request.items() if value is not None}


def _index(name: str, *keys: str, **changes: Any) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": key, "KeyType": kind}
            for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        "Projection": {"ProjectionType": "ALL"},
        **changes,
    }


def _types(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def test_a_new_table_is_creating_and_then_active(call: Call, name: str) -> None:
    created = call("CreateTable", _request(name))["TableDescription"]
    assert created["TableStatus"] == "CREATING"
    found = call("DescribeTable", {"TableName": name})["Table"]
    assert found["TableStatus"] == "ACTIVE"
    assert found["TableArn"].endswith(f":table/{name}")
    assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert found["ItemCount"] == 0


def test_a_table_exists_once(call: Call, name: str) -> None:
    call("CreateTable", _request(name))
    with pytest.raises(TableInUse, match=f"Table already exists: {name}"):
        call("CreateTable", _request(name))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
            "One or more parameter values were invalid: Table is being created with a stream "
            "disabled, UpdateViewType should not be specified",
        ),
        (
            {
                "BillingMode": None,
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                "OnDemandThroughput": {"MaxWriteRequestUnits": 5},
            },
            "One or more parameter values were invalid: MaxWriteRequestUnits for "
            "OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.",
        ),
        (
            {"OnDemandThroughput": {"MaxReadRequestUnits": -1}},
            "One or more parameter values were invalid: Requested MaxReadRequestUnits for "
            "OnDemandThroughput for table is outside of valid range",
        ),
        (
            {"AttributeDefinitions": _types("pk", "pk")},
            "Attribute Name is duplicated: pk",
        ),
        (
            {
                "AttributeDefinitions": _types("pk", "g"),
                "GlobalSecondaryIndexes": [
                    _index(
                        "idx",
                        "g",
                        Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "a"]},
                    )
                ],
            },
            "One or more parameter values were invalid: Duplicate element in NonKeyAttributes: a",
        ),
        (
            {"BillingMode": None},
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
            "PROVISIONED",
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "
            "is PAY_PER_REQUEST",
        ),
        (
            {"AttributeDefinitions": _types("other")},
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], "
            "AttributeDefinitions: [other]",
        ),
        (
            {
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "pk", "KeyType": "RANGE"},
                ],
                "AttributeDefinitions": _types("pk", "sk"),
            },
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ),
        (
            {
                "BillingMode": None,
                "ProvisionedThroughput": {
                    "ReadCapacityUnits": 1_000_000_000_001,
                    "WriteCapacityUnits": 1,
                },
            },
            "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        ),
        (
            {"KeySchema": [{"AttributeName": "pk", "KeyType": "RANGE"}]},
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            {"AttributeDefinitions": _types("pk", "extra")},
            "Number of attributes in KeySchema does not exactly match number of attributes defined "
            "in AttributeDefinitions",
        ),
        (
            {"LocalSecondaryIndexes": [_index("local", "pk", "pk")]},
            "Table KeySchema does not have a range key, which is required when specifying a "
            "LocalSecondaryIndex",
        ),
        (
            {
                "AttributeDefinitions": _types("pk", "g"),
                "GlobalSecondaryIndexes": [_index("twice", "g"), _index("twice", "g")],
            },
            "Duplicate index name: twice",
        ),
        (
            {"GlobalSecondaryIndexes": [_index("by_g", "g")]},
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [g], "
            "AttributeDefinitions: [pk]",
        ),
        (
            {
                "AttributeDefinitions": _types("pk", "g"),
                "GlobalSecondaryIndexes": [
                    _index("by_g", "g", Projection={"ProjectionType": "INCLUDE"})
                ],
            },
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            {
                "AttributeDefinitions": _types("pk", "g", "unused"),
                "GlobalSecondaryIndexes": [_index("by_g", "g")],
            },
            "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, g, unused], keys "
            "used: [pk, g]",
        ),
    ],
)
def test_a_wrong_definition_is_refused_in_dynamodbs_words(
    call: Call, name: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        call("CreateTable", _request(name, **changes))
    assert caught.value.message.endswith(message)


def test_a_protected_table_is_not_deleted(call: Call, name: str) -> None:
    call("CreateTable", _request(name, DeletionProtectionEnabled=True))
    with pytest.raises(
        ValidationError, match=r"protected against deletion\. Disable deletion protection first\.$"
    ):
        call("DeleteTable", {"TableName": name})
    call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
    answer = call("DeleteTable", {"TableName": name})["TableDescription"]
    assert answer["TableStatus"] == "DELETING"
