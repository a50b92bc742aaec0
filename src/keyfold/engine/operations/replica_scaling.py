"""DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling."""

from __future__ import annotations

from typing import Any

from keyfold.engine.database import Database
from keyfold.errors import TableNotFound


def describe_table_replica_auto_scaling(
    _database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    raise _missing(request)


def update_table_replica_auto_scaling(
    _database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    raise _missing(request)


def _missing(request: dict[str, Any]) -> TableNotFound:
    """Only tables with replicas have it."""
    return TableNotFound(f"Global table with name: '{request['TableName']}' does not exist.")
