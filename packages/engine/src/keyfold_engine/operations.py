"""The operations of DynamoDB's API: where each is, what it does, and where a server may run it."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class OperationEffect(Enum):
    """What an operation does to items."""

    READS = "reads items"
    WRITES = "writes items"
    EITHER = "reads or writes items, by its statement"
    LOOKS = "reads descriptions, settings or streams"
    CHANGES = "changes tables or settings"


class Runner(Enum):
    """Where a server runs an operation."""

    INLINE = "on the event loop: a read of microseconds"
    COMMIT = "with the other writes of the moment, sharing their commit"
    THREAD = "in a thread: may take long, or changes tables"


class DynamoOperation(NamedTuple):
    """One operation: its module, the module of its request shape, its effect and its runner."""

    name: str
    module: str
    shapes: str
    effect: OperationEffect
    runner: Runner


_READS, _WRITES, _EITHER, _LOOKS, _CHANGES = OperationEffect
_INLINE, _COMMIT, _THREAD = Runner
_LOOKING = ("Describe", "Get", "List")


def _rows() -> list[DynamoOperation]:
    rows: list[DynamoOperation] = []

    def add(
        module: str, shapes: str, names: str, effect: OperationEffect | None, runner: Runner
    ) -> None:
        for name in names.split():
            usual = _LOOKS if name.startswith(_LOOKING) else _CHANGES
            rows.append(DynamoOperation(name, module, shapes, effect or usual, runner))

    def core(
        module: str, shapes: str, names: str, runner: Runner, effect: OperationEffect | None = None
    ) -> None:
        add(f"engine.operations.{module}", f"engine.shapes.{shapes}", names, effect, runner)

    def feature(
        folder: str, modules: str, names: str, effect: OperationEffect | None = None
    ) -> None:
        module, shapes = (f"features.{folder}.{each}" for each in modules.split())
        add(module, shapes, names, effect, _THREAD)

    core("get_item", "items", "GetItem", _INLINE, _READS)
    core("query", "items", "Query", _INLINE, _READS)
    core("scan", "items", "Scan", _THREAD, _READS)
    core("batch_get_item", "batches", "BatchGetItem", _INLINE, _READS)
    core("transact_get_items", "batches", "TransactGetItems", _INLINE, _READS)
    core("item_writes", "items", "DeleteItem PutItem UpdateItem", _COMMIT, _WRITES)
    core("batch_write_item", "batches", "BatchWriteItem", _COMMIT, _WRITES)
    core("transact_write_items", "batches", "TransactWriteItems", _COMMIT, _WRITES)
    core("create_table", "tables", "CreateTable", _THREAD)
    core("delete_table", "tables", "DeleteTable", _THREAD)
    core("descriptions", "tables", "DescribeEndpoints DescribeLimits DescribeTable", _THREAD)
    core("descriptions", "tables", "ListTables", _INLINE)
    core("update_table", "tables", "UpdateTable", _THREAD)
    core("tags", "tables", "ListTagsOfResource TagResource UntagResource", _THREAD)
    core("time_to_live", "tables", "DescribeTimeToLive UpdateTimeToLive", _THREAD)
    streams = "DescribeStream GetRecords GetShardIterator ListStreams"
    core("streams", "streams", streams, _INLINE)

    feature("partiql", "execute_statement shapes", "ExecuteStatement", _EITHER)
    feature("partiql", "batch_execute_statement shapes", "BatchExecuteStatement", _EITHER)
    feature("partiql", "execute_transaction shapes", "ExecuteTransaction", _EITHER)
    feature(
        "backups",
        "operations shapes",
        "CreateBackup DeleteBackup DescribeBackup DescribeContinuousBackups ListBackups "
        "RestoreTableFromBackup RestoreTableToPointInTime UpdateContinuousBackups",
    )
    feature(
        "transfer",
        "bulk_operations shapes",
        "CancelBulkOperation DescribeBulkOperation ListBulkOperations StartBulkPutItems",
    )
    exports = "DescribeExport ExportTableToPointInTime ListExports"
    feature("transfer", "export_operations shapes", exports)
    feature("transfer", "import_operations shapes", "DescribeImport ImportTable ListImports")
    policies = "DeleteResourcePolicy GetResourcePolicy PutResourcePolicy"
    feature("policies", "operations shapes", policies)
    feature(
        "replicas",
        "global_tables shapes",
        "CreateGlobalTable DescribeGlobalTable DescribeGlobalTableSettings ListGlobalTables "
        "UpdateGlobalTable UpdateGlobalTableSettings",
    )
    scaling = "DescribeTableReplicaAutoScaling UpdateTableReplicaAutoScaling"
    feature("replicas", "replica_scaling shapes", scaling)
    feature(
        "kinesis",
        "operations shapes",
        "DescribeKinesisStreamingDestination DisableKinesisStreamingDestination "
        "EnableKinesisStreamingDestination UpdateKinesisStreamingDestination",
    )
    feature(
        "insights",
        "operations shapes",
        "DescribeContributorInsights ListContributorInsights UpdateContributorInsights",
    )
    feature("vectors", "operations shapes", "SearchVectors", _READS)
    return rows


OPERATIONS: Final = {row.name: row for row in sorted(_rows(), key=lambda row: row.name)}


def _with(*effects: OperationEffect) -> frozenset[str]:
    return frozenset(row.name for row in OPERATIONS.values() if row.effect in effects)


READS: Final = _with(OperationEffect.READS)
"""The operations that read items."""
WRITES: Final = _with(OperationEffect.WRITES)
"""The operations that do nothing but write items."""
SINGLE_WRITES: Final = frozenset(("PutItem", "UpdateItem", "DeleteItem"))
"""Those that write one item."""
HARMLESS: Final = _with(OperationEffect.READS, OperationEffect.LOOKS)
"""The operations that change nothing."""
STREAMS: Final = frozenset(
    row.name for row in OPERATIONS.values() if row.module == "engine.operations.streams"
)
"""The operations of DynamoDB Streams, which clients address apart."""


def target(operation: str) -> str:
    """The value of `X-Amz-Target`, which names one of Amazon's two APIs."""
    api = "DynamoDBStreams" if operation in STREAMS else "DynamoDB"
    return f"{api}_20120810.{operation}"
