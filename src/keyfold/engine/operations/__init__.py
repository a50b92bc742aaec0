"""The operations, by the name they have on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold.engine.database import Database
from keyfold.engine.operations.batch_get_item import batch_get_item
from keyfold.engine.operations.batch_write_item import batch_write_item
from keyfold.engine.operations.create_table import create_table
from keyfold.engine.operations.delete_item import delete_item
from keyfold.engine.operations.delete_table import delete_table
from keyfold.engine.operations.describe_table import describe_table, list_tables
from keyfold.engine.operations.get_item import get_item
from keyfold.engine.operations.put_item import put_item
from keyfold.engine.operations.query import query
from keyfold.engine.operations.scan import scan
from keyfold.engine.operations.transact_get_items import transact_get_items
from keyfold.engine.operations.transact_write_items import transact_write_items
from keyfold.engine.operations.update_item import update_item

Operation = Callable[[Database, dict[str, Any]], dict[str, Any]]

OPERATIONS: dict[str, Operation] = {
    "BatchGetItem": batch_get_item,
    "BatchWriteItem": batch_write_item,
    "CreateTable": create_table,
    "DeleteItem": delete_item,
    "DeleteTable": delete_table,
    "DescribeTable": describe_table,
    "GetItem": get_item,
    "ListTables": list_tables,
    "PutItem": put_item,
    "Query": query,
    "Scan": scan,
    "TransactGetItems": transact_get_items,
    "TransactWriteItems": transact_write_items,
    "UpdateItem": update_item,
}
