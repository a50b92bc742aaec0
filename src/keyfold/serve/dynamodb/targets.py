"""The operations a request can ask for in `X-Amz-Target`, and how each is run."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Run(Enum):
    """Where the work of an operation is done."""

    INLINE = "on the event loop: a read of microseconds"
    COMMIT = "with the other writes of the moment, sharing their commit"
    THREAD = "in a thread: may take long, or changes tables"


class Target(NamedTuple):
    """One operation of the API."""

    operation: str
    run: Run
    slot: int
    """Its place in the metrics."""


_INLINE = ("GetItem", "Query", "BatchGetItem", "TransactGetItems", "DescribeTable", "ListTables")
_COMMIT = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
_THREAD = (
    "Scan",
    "ExecuteStatement",
    "BatchExecuteStatement",
    "ExecuteTransaction",
    "CreateTable",
    "UpdateTable",
    "DeleteTable",
    "DescribeLimits",
    "DescribeEndpoints",
    "DescribeTimeToLive",
    "UpdateTimeToLive",
    "TagResource",
    "UntagResource",
    "ListTagsOfResource",
    "CreateBackup",
    "DescribeBackup",
    "ListBackups",
    "DeleteBackup",
    "RestoreTableFromBackup",
    "DescribeContinuousBackups",
    "UpdateContinuousBackups",
    "RestoreTableToPointInTime",
    "ExportTableToPointInTime",
    "DescribeExport",
    "ListExports",
    "ImportTable",
    "DescribeImport",
    "ListImports",
    "CreateGlobalTable",
    "DescribeGlobalTable",
    "DescribeGlobalTableSettings",
    "ListGlobalTables",
    "UpdateGlobalTable",
    "UpdateGlobalTableSettings",
    "DescribeContributorInsights",
    "ListContributorInsights",
    "UpdateContributorInsights",
    "DescribeKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "DisableKinesisStreamingDestination",
    "UpdateKinesisStreamingDestination",
    "DescribeTableReplicaAutoScaling",
    "UpdateTableReplicaAutoScaling",
    "DeleteResourcePolicy",
    "GetResourcePolicy",
    "PutResourcePolicy",
)
_STREAMS = ("ListStreams", "DescribeStream", "GetShardIterator", "GetRecords")


def _targets() -> dict[bytes, Target]:
    groups = (
        ("DynamoDB_20120810", _INLINE, Run.INLINE),
        ("DynamoDB_20120810", _COMMIT, Run.COMMIT),
        ("DynamoDB_20120810", _THREAD, Run.THREAD),
        ("DynamoDBStreams_20120810", _STREAMS, Run.INLINE),
    )
    named = [(api, name, run) for api, names, run in groups for name in names]
    return {
        f"{api}.{name}".encode(): Target(name, run, slot)
        for slot, (api, name, run) in enumerate(named)
    }


TARGETS: Final = _targets()
