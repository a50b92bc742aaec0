"""Members of responses that come only with rare requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.operations.conftest import Call

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults
from keyfold_engine.features.replicas import Regions

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
MOST = {"MaxReadRequestUnits": 9, "MaxWriteRequestUnits": 8}
WARM = {"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_001}
SIZES = {"ReturnItemCollectionMetrics": "SIZE", "ReturnConsumedCapacity": "INDEXES"}
NEAR = {
    "IndexName": "near",
    "VectorAttribute": {"AttributeName": "v"},
    "Dimensions": 2,
    "DistanceFunction": "COSINE",
    "Projection": {"ProjectionType": "ALL"},
    "SearchSchema": [{"AttributeName": "g", "SearchSchemaElementType": "HASH"}],
}
LOCAL = {
    "LocalSecondaryIndexes": [
        {
            "IndexName": "local",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "l", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ]
}


def attributes(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def key(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    found = [{"AttributeName": partition, "KeyType": "HASH"}]
    return found + ([{"AttributeName": sort, "KeyType": "RANGE"}] if sort else [])


def by_group(**more: Any) -> list[dict[str, Any]]:
    return [
        {
            "IndexName": "by-group",
            "KeySchema": key("g"),
            "Projection": {"ProjectionType": "ALL"},
            **more,
        }
    ]


@pytest.mark.parametrize("billing", ["PROVISIONED", "PAY_PER_REQUEST"])
def test_a_replica_is_described_with_its_arn_and_overrides(billing: str) -> None:
    provisioned = billing == "PROVISIONED"
    units = {"ProvisionedThroughput": UNITS} if provisioned else {}
    name, value = (
        ("ProvisionedThroughputOverride", {"ReadCapacityUnits": 7})
        if provisioned
        else ("OnDemandThroughputOverride", {"MaxReadRequestUnits": 9})
    )
    with Regions(scales_writes=True) as regions:
        engine = regions.engine("us-east-1")
        table = {
            "TableName": "Orders",
            "BillingMode": billing,
            "KeySchema": key("pk"),
            "AttributeDefinitions": attributes("pk", "g"),
            "GlobalSecondaryIndexes": by_group(**units),
            **units,
        }
        engine.call("CreateTable", table)
        create = {
            "RegionName": "eu-west-1",
            "KMSMasterKeyId": "alias/aws/dynamodb",
            "TableClassOverride": "STANDARD_INFREQUENT_ACCESS",
            "GlobalSecondaryIndexes": [{"IndexName": "by-group", name: value}],
            name: value,
        }
        engine.call("UpdateTable", {"TableName": "Orders", "ReplicaUpdates": [{"Create": create}]})
        described = engine.call("DescribeTable", {"TableName": "Orders"})["Table"]
        (replica,) = described["Replicas"]
        elsewhere = regions.engine("eu-west-1").call("DescribeTable", {"TableName": "Orders"})
        assert replica["ReplicaArn"] == elsewhere["Table"]["TableArn"]
        assert replica[name] == value
        assert replica["GlobalSecondaryIndexes"] == [{"IndexName": "by-group", name: value}]
        assert replica["ReplicaTableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
        if not provisioned:
            return
        tracking = {"TargetValue": 70.0, "DisableScaleIn": True}
        cooling = {"ScaleInCooldown": 1, "ScaleOutCooldown": 2}
        policy = {"TargetTrackingScalingPolicyConfiguration": {**tracking, **cooling}}
        wish = {"MinimumUnits": 1, "MaximumUnits": 9, "ScalingPolicyUpdate": policy}
        scaled = engine.call(
            "UpdateTableReplicaAutoScaling",
            {"TableName": "Orders", "ProvisionedWriteCapacityAutoScalingUpdate": wish},
        )
        for one in scaled["TableAutoScalingDescription"]["Replicas"]:
            (index,) = one["GlobalSecondaryIndexes"]
            assert index["IndexName"] == "by-group"
            settings = one["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
            (kept,) = settings["ScalingPolicies"]
            assert kept["TargetTrackingScalingPolicyConfiguration"] == {**tracking, **cooling}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:", clock=ManualClock(), stream_shards=2) as engine:
        yield engine


@pytest.fixture
def collections(engine: Engine) -> Call:
    """A table with a local index, and a global one with limits."""
    engine.call(
        "CreateTable",
        {
            "TableName": "Lists",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": key("pk", "sk"),
            "AttributeDefinitions": attributes("pk", "sk", "l", "g"),
            "GlobalSecondaryIndexes": by_group(OnDemandThroughput=MOST),
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
            "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
            **LOCAL,
        },
    )
    return engine.call


def test_each_write_tells_the_size_of_its_collection(collections: Call) -> None:
    item = {name: {"S": name} for name in ("pk", "sk", "l", "g")}
    where = {"TableName": "Lists", "Key": {"pk": {"S": "pk"}, "sk": {"S": "sk"}}}
    update = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"S": "1"}}}
    batch = {"RequestItems": {"Lists": [{"PutRequest": {"Item": item}}]}}
    both = {"TransactItems": [{"Put": {"TableName": "Lists", "Item": item}}]}
    for operation, request in (
        ("PutItem", {"TableName": "Lists", "Item": item}),
        ("UpdateItem", {**where, **update}),
        ("BatchWriteItem", batch),
        ("TransactWriteItems", both),
        ("DeleteItem", where),
    ):
        answer = collections(operation, {**request, **SIZES})
        told = answer["ItemCollectionMetrics"]
        (found,) = told.get("Lists", [told])
        assert found["ItemCollectionKey"] == {"pk": {"S": "pk"}}
        assert found["SizeEstimateRangeGB"] == [0.0, 1.0]


def test_partiql_tells_what_it_cost(collections: Call) -> None:
    statement = "SELECT * FROM Lists WHERE pk = 'a' AND sk = 'b'"
    capacity = {"ReturnConsumedCapacity": "INDEXES"}
    one = collections("ExecuteStatement", {"Statement": statement, **capacity})
    batch = collections(
        "BatchExecuteStatement", {"Statements": [{"Statement": statement}], **capacity}
    )
    both = collections(
        "ExecuteTransaction", {"TransactStatements": [{"Statement": statement}], **capacity}
    )
    assert one["ConsumedCapacity"]["TableName"] == "Lists"
    assert [one["TableName"] for one in batch["ConsumedCapacity"]] == ["Lists"]
    assert [one["Table"]["ReadCapacityUnits"] for one in both["ConsumedCapacity"]] == [2.0]
    insert = {"Statement": "INSERT INTO Lists VALUE {'pk': 'a', 'sk': 'b'}"}
    collections("BatchExecuteStatement", {"Statements": [insert]})
    update = {
        "Statement": "UPDATE Lists SET x = 1 WHERE pk = 'a' AND sk = 'b' AND x = 9",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    (refused,) = collections("BatchExecuteStatement", {"Statements": [update]})["Responses"]
    assert refused["Error"]["Item"] == {"pk": {"S": "a"}, "sk": {"S": "b"}}
    (read,) = collections("BatchExecuteStatement", {"Statements": [{"Statement": statement}]})[
        "Responses"
    ]
    assert read["Item"] == {"pk": {"S": "a"}, "sk": {"S": "b"}}


def test_a_backup_describes_what_its_table_had(collections: Call) -> None:
    expiry = {"Enabled": True, "AttributeName": "ttl"}
    collections("UpdateTimeToLive", {"TableName": "Lists", "TimeToLiveSpecification": expiry})
    arns = [
        collections("CreateBackup", {"TableName": "Lists", "BackupName": name})["BackupDetails"]
        for name in ("first", "second")
    ]
    told = collections("DescribeBackup", {"BackupArn": arns[0]["BackupArn"]})["BackupDescription"]
    features = told["SourceTableFeatureDetails"]
    assert features["StreamDescription"]["StreamViewType"] == "NEW_IMAGE"
    assert features["TimeToLiveDescription"]["AttributeName"] == "ttl"
    assert features["SSEDescription"]["SSEType"] == "KMS"
    assert features["GlobalSecondaryIndexes"][0]["OnDemandThroughput"] == MOST
    assert "LastEvaluatedBackupArn" in collections("ListBackups", {"Limit": 1})


def test_exports_imports_and_streams_have_pages_and_keep_what_was_asked(tmp_path: Path) -> None:
    with Engine.open(":memory:", clock=ManualClock(), buckets=tmp_path) as engine:
        table = {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": UNITS,
            "KeySchema": key("pk"),
            "AttributeDefinitions": attributes("pk", "g"),
            "GlobalSecondaryIndexes": by_group(ProvisionedThroughput=UNITS),
            "SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/x"},
        }
        on_demand = {
            **{name: table[name] for name in ("KeySchema", "AttributeDefinitions")},
            "BillingMode": "PAY_PER_REQUEST",
            "OnDemandThroughput": MOST,
            "GlobalSecondaryIndexes": by_group(OnDemandThroughput=MOST, WarmThroughput=WARM),
            "VectorIndexes": [NEAR],
        }
        source = {"S3BucketOwner": "123456789012", "S3Bucket": "input", "S3KeyPrefix": "a"}
        (tmp_path / "input").mkdir()
        (tmp_path / "input" / "a.csv").write_text("1;2\n")
        csv = {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "g"]}}
        for name, parameters in (("First", table), ("Second", on_demand)):
            request = {
                "S3BucketSource": source,
                "InputFormat": "CSV",
                "InputFormatOptions": csv,
                "ClientToken": name,
                "TableCreationParameters": {"TableName": name, **parameters},
            }
            told = engine.call("ImportTable", request)["ImportTableDescription"]
            assert told["InputFormatOptions"] == csv
            assert told["TableCreationParameters"] == request["TableCreationParameters"]
            assert told["ImportedItemCount"] == 1
            stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
            engine.call("UpdateTable", {"TableName": name, "StreamSpecification": stream})
            assert engine.call("CreateBackup", {"TableName": name, "BackupName": "one"})
        assert "NextToken" in engine.call("ListImports", {"PageSize": 1})
        assert "LastEvaluatedStreamArn" in engine.call("ListStreams", {"Limit": 1})
        sources = []
        for name in ("First", "Second"):
            (backup,) = engine.call("ListBackups", {"TableName": name})["BackupSummaries"]
            told = engine.call("DescribeBackup", {"BackupArn": backup["BackupArn"]})
            sources.append(told["BackupDescription"])
        features, later = (one["SourceTableFeatureDetails"] for one in sources)
        assert features["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == UNITS
        assert later["VectorIndexes"][0]["SearchSchema"] == NEAR["SearchSchema"]
        assert sources[1]["SourceTableDetails"]["OnDemandThroughput"] == MOST

        recovery = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
        engine.call("UpdateContinuousBackups", {"TableName": "First", **recovery})
        arn = engine.call("DescribeTable", {"TableName": "First"})["Table"]["TableArn"]
        for token in ("one", "two"):
            asked = {
                "S3Bucket": "output",
                "S3BucketOwner": "123456789012",
                "S3Prefix": token,
                "S3SseAlgorithm": "KMS",
                "S3SseKmsKeyId": "key",
                "ClientToken": token,
            }
            export = engine.call("ExportTableToPointInTime", {"TableArn": arn, **asked})
            assert export["ExportDescription"].items() >= asked.items()
        assert "NextToken" in engine.call("ListExports", {"MaxResults": 1})


def test_a_bulk_operation_tells_its_places_limits_and_use(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    item: dict[str, Any] = {name: {"S": name} for name in ("pk", "sk", "l", "g")}
    item["v"] = {"L": [{"N": "1"}, {"N": "2"}]}
    (tmp_path / "input" / "orders.json").write_text(json.dumps({"Item": item}))
    place = {"S3BucketOwner": "123456789012", "S3KeyPrefix": "o"}
    request = {
        "TableName": "Lists",
        "MaxWriteRequestUnits": 2_000,
        "InputS3Configuration": {**place, "S3Bucket": "input", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {
            **place,
            "S3Bucket": "output",
            "S3SseAlgorithm": "KMS",
            "S3SseKmsKeyId": "key",
            "OutputType": ["ERROR"],
        },
    }
    with Engine.open(":memory:", buckets=tmp_path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "Lists",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": key("pk", "sk"),
                "AttributeDefinitions": attributes("pk", "sk", "l", "g"),
                "VectorIndexes": [NEAR],
                **LOCAL,
            },
        )
        for _ in range(2):
            started = engine.call("StartBulkPutItems", request)["BulkOperationDescription"]
            which = {"BulkOperationArn": started["BulkOperationArn"]}
            while True:
                told = engine.call("DescribeBulkOperation", which)["BulkOperationDescription"]
                if told["BulkOperationStatus"] != "IN_PROGRESS":
                    break
        assert told["MaxWriteRequestUnits"] == 2_000
        assert told["OutputS3Configuration"] == request["OutputS3Configuration"]
        (use,) = told["BulkOperationUsage"]
        assert use["LocalSecondaryIndexes"]["local"]["BulkPutBytes"] > 0
        assert use["VectorIndexes"]["near"]["BulkPutVectorBytes"] > 0
        assert "NextToken" in engine.call("ListBulkOperations", {"MaxResults": 1})


def test_what_a_batch_did_not_do_comes_back_as_it_was_asked() -> None:
    table = {"KeySchema": key("pk"), "AttributeDefinitions": attributes("pk")}
    wanted: dict[str, Any] = {
        "Keys": [{"pk": {"S": str(number)}} for number in range(20)],
        "ConsistentRead": True,
        "ProjectionExpression": "#p",
        "ExpressionAttributeNames": {"#p": "pk"},
    }
    with Engine.open(":memory:", faults=Faults(seed=6, unprocessed=1.0)) as engine:
        engine.call(
            "CreateTable", {"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST", **table}
        )
        for asked in (wanted, {"Keys": wanted["Keys"], "AttributesToGet": ["pk"]}):
            answer = engine.call("BatchGetItem", {"RequestItems": {"Orders": asked}})
            left = answer["UnprocessedKeys"]["Orders"]
            assert left == {**asked, "Keys": left["Keys"]}
            assert all(one in asked["Keys"] for one in left["Keys"])
        deletes = [{"DeleteRequest": {"Key": one}} for one in wanted["Keys"]]
        puts = [{"PutRequest": {"Item": one}} for one in wanted["Keys"]]
        for writes in (deletes, puts):
            answer = engine.call("BatchWriteItem", {"RequestItems": {"Orders": writes}})
            left = answer["UnprocessedItems"]["Orders"]
            assert left
            assert all(one in writes for one in left)


def test_a_stream_tells_who_removed_an_item_and_where_it_ended(
    engine: Engine, collections: Call
) -> None:
    expiry = {"Enabled": True, "AttributeName": "ttl"}
    collections("UpdateTimeToLive", {"TableName": "Lists", "TimeToLiveSpecification": expiry})
    item = {
        "pk": {"S": "a"},
        "sk": {"S": "b"},
        "ttl": {"N": str(int(engine.database.clock.now()) - 1)},
    }
    collections("PutItem", {"TableName": "Lists", "Item": item})
    engine.sweep()
    (stream,) = collections("ListStreams", {"TableName": "Lists"})["Streams"]
    which = {"StreamArn": stream["StreamArn"]}
    off = {"StreamSpecification": {"StreamEnabled": False}}
    collections("UpdateTable", {"TableName": "Lists", **off})
    first = collections("DescribeStream", {**which, "Limit": 1})["StreamDescription"]
    assert first["LastEvaluatedShardId"] == first["Shards"][0]["ShardId"]
    records = []
    for shard in collections("DescribeStream", which)["StreamDescription"]["Shards"]:
        assert shard["SequenceNumberRange"]["EndingSequenceNumber"]
        from_start = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        place = collections("GetShardIterator", {**which, **from_start})
        records += collections("GetRecords", place)["Records"]
    *_, removal = records
    assert removal["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def test_a_kinesis_destination_has_the_precision_that_was_asked(collections: Call) -> None:
    micro = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
    enabled = collections(
        "EnableKinesisStreamingDestination",
        {"TableName": "Lists", "StreamArn": arn, "EnableKinesisStreamingConfiguration": micro},
    )
    assert enabled["EnableKinesisStreamingConfiguration"] == micro
    told = collections("DescribeKinesisStreamingDestination", {"TableName": "Lists"})
    (destination,) = told["KinesisDataStreamDestinations"]
    assert destination.items() >= micro.items()
