"""The operations, by the name they have on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold.engine.database import Database
from keyfold.engine.operations.backups import (
    create_backup,
    delete_backup,
    describe_backup,
    describe_continuous_backups,
    list_backups,
    restore_table_from_backup,
    restore_table_to_point_in_time,
    update_continuous_backups,
)
from keyfold.engine.operations.batch_execute_statement import batch_execute_statement
from keyfold.engine.operations.batch_get_item import batch_get_item
from keyfold.engine.operations.batch_write_item import batch_write_item
from keyfold.engine.operations.create_table import create_table
from keyfold.engine.operations.delete_item import delete_item
from keyfold.engine.operations.delete_table import delete_table
from keyfold.engine.operations.describe_table import describe_table, list_tables
from keyfold.engine.operations.execute_statement import execute_statement
from keyfold.engine.operations.execute_transaction import execute_transaction
from keyfold.engine.operations.exports import (
    describe_export,
    export_table_to_point_in_time,
    list_exports,
)
from keyfold.engine.operations.get_item import get_item
from keyfold.engine.operations.imports import describe_import, import_table, list_imports
from keyfold.engine.operations.put_item import put_item
from keyfold.engine.operations.query import query
from keyfold.engine.operations.scan import scan
from keyfold.engine.operations.service import describe_endpoints, describe_limits
from keyfold.engine.operations.streams import (
    describe_stream,
    get_records,
    get_shard_iterator,
    list_streams,
)
from keyfold.engine.operations.tags import list_tags_of_resource, tag_resource, untag_resource
from keyfold.engine.operations.time_to_live import describe_time_to_live, update_time_to_live
from keyfold.engine.operations.transact_get_items import transact_get_items
from keyfold.engine.operations.transact_write_items import transact_write_items
from keyfold.engine.operations.update_item import update_item
from keyfold.engine.operations.update_table import update_table

Operation = Callable[[Database, dict[str, Any]], dict[str, Any]]

OPERATIONS: dict[str, Operation] = {
    "BatchExecuteStatement": batch_execute_statement,
    "BatchGetItem": batch_get_item,
    "BatchWriteItem": batch_write_item,
    "CreateBackup": create_backup,
    "CreateTable": create_table,
    "DeleteBackup": delete_backup,
    "DeleteItem": delete_item,
    "DeleteTable": delete_table,
    "DescribeBackup": describe_backup,
    "DescribeContinuousBackups": describe_continuous_backups,
    "DescribeEndpoints": describe_endpoints,
    "DescribeExport": describe_export,
    "DescribeImport": describe_import,
    "DescribeLimits": describe_limits,
    "DescribeStream": describe_stream,
    "DescribeTable": describe_table,
    "DescribeTimeToLive": describe_time_to_live,
    "ExecuteStatement": execute_statement,
    "ExecuteTransaction": execute_transaction,
    "ExportTableToPointInTime": export_table_to_point_in_time,
    "GetItem": get_item,
    "GetRecords": get_records,
    "GetShardIterator": get_shard_iterator,
    "ImportTable": import_table,
    "ListBackups": list_backups,
    "ListExports": list_exports,
    "ListImports": list_imports,
    "ListStreams": list_streams,
    "ListTables": list_tables,
    "ListTagsOfResource": list_tags_of_resource,
    "PutItem": put_item,
    "Query": query,
    "RestoreTableFromBackup": restore_table_from_backup,
    "RestoreTableToPointInTime": restore_table_to_point_in_time,
    "Scan": scan,
    "TagResource": tag_resource,
    "TransactGetItems": transact_get_items,
    "TransactWriteItems": transact_write_items,
    "UntagResource": untag_resource,
    "UpdateContinuousBackups": update_continuous_backups,
    "UpdateItem": update_item,
    "UpdateTable": update_table,
    "UpdateTimeToLive": update_time_to_live,
}
