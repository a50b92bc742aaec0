"""Whatever a request looks like, the answer is an answer or one of DynamoDB's errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyfold.errors import OperationError
from keyfold_engine.engine import Engine
from keyfold_engine.operations import OPERATIONS

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
NAMES = {"#v": "v"}
VALUES = {":v": {"N": "1"}}
PUT = {"TableName": "Fuzzed", "Item": {**KEY, "g": {"S": "x"}, "v": {"L": [{"N": "1"}]}}}
UPDATE = {
    "TableName": "Fuzzed",
    "Key": KEY,
    "UpdateExpression": "SET #v = :v",
    "ExpressionAttributeNames": NAMES,
    "ExpressionAttributeValues": VALUES,
}
INDEX = {
    "IndexName": "by_g",
    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["v"]},
}
TABLE = {
    "TableName": "Fuzzed",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [INDEX],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}
EQ = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/Fuzzed"

RIGHT: dict[str, dict[str, Any]] = {
    "PutItem": {**PUT, "ConditionExpression": "attribute_not_exists(pk)"},
    "GetItem": {"TableName": "Fuzzed", "Key": KEY, "ProjectionExpression": "v[0]"},
    "UpdateItem": {**UPDATE, "ReturnValues": "UPDATED_NEW", "ReturnConsumedCapacity": "INDEXES"},
    "DeleteItem": {"TableName": "Fuzzed", "Key": KEY, "Expected": {"v": {"Exists": False}}},
    "Query": {
        "TableName": "Fuzzed",
        "KeyConditionExpression": "pk = :v AND sk BETWEEN :v AND :v",
        "ExpressionAttributeValues": VALUES,
        "ExclusiveStartKey": KEY,
        "Select": "COUNT",
        "Limit": 1,
    },
    "Scan": {
        "TableName": "Fuzzed",
        "IndexName": "by_g",
        "ScanFilter": {"v": EQ},
        "Segment": 0,
        "TotalSegments": 2,
    },
    "BatchGetItem": {"RequestItems": {"Fuzzed": {"Keys": [KEY], "AttributesToGet": ["v"]}}},
    "BatchWriteItem": {"RequestItems": {"Fuzzed": [{"PutRequest": {"Item": PUT["Item"]}}]}},
    "TransactWriteItems": {
        "TransactItems": [{"Update": {**UPDATE, "ConditionExpression": "#v = :v"}}],
        "ClientRequestToken": "token",
    },
    "TransactGetItems": {"TransactItems": [{"Get": {"TableName": "Fuzzed", "Key": KEY}}]},
    "CreateTable": {**TABLE, "TableName": "Another"},
    "UpdateTable": {
        "TableName": "Fuzzed",
        "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "B"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {**INDEX, "IndexName": "by_h"}}],
    },
    "DescribeTable": {"TableName": "Fuzzed"},
    "ListTables": {"Limit": 3, "ExclusiveStartTableName": "Fuzzed"},
    "UpdateTimeToLive": {
        "TableName": "Fuzzed",
        "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True},
    },
    "TagResource": {"ResourceArn": ARN, "Tags": [{"Key": "k", "Value": "v"}]},
    "GetRecords": {"ShardIterator": f"{ARN}/stream/now|1|WzAsIDEsIDFd", "Limit": 5},
    "GetShardIterator": {
        "StreamArn": f"{ARN}/stream/2020-01-01T00:00:00.000",
        "ShardId": "shardId-00000000000000000000-00000000",
        "ShardIteratorType": "AT_SEQUENCE_NUMBER",
        "SequenceNumber": "1" * 21,
    },
    "ExecuteStatement": {
        "Statement": 'SELECT v FROM "Fuzzed" WHERE pk = ? AND sk IN [1, ?]',
        "Parameters": [{"S": "a"}, {"N": "1"}],
    },
    "CreateBackup": {"TableName": "Fuzzed", "BackupName": "nightly"},
    "RestoreTableToPointInTime": {
        "SourceTableName": "Fuzzed",
        "TargetTableName": "Restored",
        "RestoreDateTime": 1.5,
    },
}

anything = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(["", "pk", "#v", ":v", "a.b[0]", "SET a = :v", "1e999", "AA==", "Fuzzed"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["S", "N", "B", "SS", "NS", "L", "M", "NULL", "pk", "sk", "g", "v"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """The value with one part of it replaced, removed or added to."""
    if not isinstance(value, (dict, list)) or not value or draw(st.integers(0, 3)) == 0:
        return draw(anything)
    if isinstance(value, list):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(damaged(value[at])), *value[at + 1 :]]
    name = draw(st.sampled_from(sorted(value)))
    match draw(st.integers(0, 4)):
        case 0:
            return {n: v for n, v in value.items() if n != name}
        case 1:
            return {**value, draw(st.sampled_from(["x", "Limit", "Expected", "S"])): draw(anything)}
        case _:
            return {**value, name: draw(damaged(value[name]))}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine.open() as engine:
        engine.call("CreateTable", TABLE)
        engine.call("PutItem", PUT)
        yield engine


@pytest.mark.parametrize("operation", sorted(RIGHT))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_request_is_answered_or_refused(
    engine: Engine, operation: str, data: st.DataObject
) -> None:
    request = data.draw(damaged(RIGHT[operation]))
    with contextlib.suppress(OperationError):
        engine.call(operation, request)


def test_requests_for_every_kind_of_operation_are_damaged() -> None:
    assert set(RIGHT) <= OPERATIONS.keys()
