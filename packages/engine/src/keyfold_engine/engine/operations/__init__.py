"""The operations by wire name; each is imported on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.errors import UnknownOperation

Operation = Callable[[Database, dict[str, Any]], dict[str, Any]]

_MODULES: dict[str, tuple[str, ...]] = {
    "backups": (
        "CreateBackup",
        "DeleteBackup",
        "DescribeBackup",
        "DescribeContinuousBackups",
        "ListBackups",
        "RestoreTableFromBackup",
        "RestoreTableToPointInTime",
        "UpdateContinuousBackups",
    ),
    "batch_execute_statement": ("BatchExecuteStatement",),
    "batch_get_item": ("BatchGetItem",),
    "batch_write_item": ("BatchWriteItem",),
    "bulk": (
        "CancelBulkOperation",
        "DescribeBulkOperation",
        "ListBulkOperations",
        "StartBulkPutItems",
    ),
    "contributor_insights": (
        "DescribeContributorInsights",
        "ListContributorInsights",
        "UpdateContributorInsights",
    ),
    "create_table": ("CreateTable",),
    "delete_item": ("DeleteItem",),
    "delete_table": ("DeleteTable",),
    "describe_table": ("DescribeTable",),
    "execute_statement": ("ExecuteStatement",),
    "execute_transaction": ("ExecuteTransaction",),
    "exports": ("DescribeExport", "ExportTableToPointInTime", "ListExports"),
    "get_item": ("GetItem",),
    "global_tables": (
        "CreateGlobalTable",
        "DescribeGlobalTable",
        "DescribeGlobalTableSettings",
        "ListGlobalTables",
        "UpdateGlobalTable",
        "UpdateGlobalTableSettings",
    ),
    "imports": ("DescribeImport", "ImportTable", "ListImports"),
    "kinesis": (
        "DescribeKinesisStreamingDestination",
        "DisableKinesisStreamingDestination",
        "EnableKinesisStreamingDestination",
        "UpdateKinesisStreamingDestination",
    ),
    "list_tables": ("ListTables",),
    "put_item": ("PutItem",),
    "query": ("Query",),
    "replica_scaling": ("DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"),
    "resource_policies": (
        "DeleteResourcePolicy",
        "GetResourcePolicy",
        "PutResourcePolicy",
    ),
    "scan": ("Scan",),
    "search_vectors": ("SearchVectors",),
    "service": ("DescribeEndpoints", "DescribeLimits"),
    "streams": ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"),
    "tags": ("ListTagsOfResource", "TagResource", "UntagResource"),
    "time_to_live": ("DescribeTimeToLive", "UpdateTimeToLive"),
    "transact_get_items": ("TransactGetItems",),
    "transact_write_items": ("TransactWriteItems",),
    "update_item": ("UpdateItem",),
    "update_table": ("UpdateTable",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

NAMES = frozenset(_HOMES)

loaded: dict[str, Operation] = {}
"""Operations imported so far."""


def load(name: str) -> Operation:
    """The operation with this wire name."""
    home = _HOMES.get(name)
    if home is None:
        raise UnknownOperation(f"Unknown operation: {name}")
    function = re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()
    operation: Operation = getattr(import_module(f"{__name__}.{home}"), function)
    loaded[name] = operation
    return operation


def load_all() -> None:
    """Import all operations."""
    for name in NAMES:
        load(name)
