"""The 2017 global table operations, which refuse, as on Amazon today.

Global tables of 2019 are created by UpdateTable; these operations do not apply to them.
"""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.errors import GlobalTableNotFound, ValidationError

_INVALID = "One or more parameter values were invalid"
_OLD = (
    f"{_INVALID}: DynamoDB global tables version 2017.11.29 is not supported. We recommend using "
    "DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
)


def create_global_table(_database: Database, _request: dict[str, Any]) -> dict[str, Any]:
    raise ValidationError(_OLD)


def describe_global_table(_database: Database, request: dict[str, Any]) -> dict[str, Any]:
    name = request["GlobalTableName"]
    raise GlobalTableNotFound(
        f"Global table not found: Global table with name: '{name}' does not exist."
    )


def update_global_table(_database: Database, request: dict[str, Any]) -> dict[str, Any]:
    updates = request["ReplicaUpdates"]
    if not updates:
        raise ValidationError(_INVALID)
    if any(update.get("Create") is not None for update in updates):
        raise ValidationError(_OLD)
    raise missing(request["GlobalTableName"])


def list_global_tables(_database: Database, _request: dict[str, Any]) -> dict[str, Any]:
    return {"GlobalTables": []}


def describe_global_table_settings(_database: Database, request: dict[str, Any]) -> dict[str, Any]:
    raise missing(request["GlobalTableName"])


def update_global_table_settings(_database: Database, request: dict[str, Any]) -> dict[str, Any]:
    raise missing(request["GlobalTableName"])


def missing(name: str) -> GlobalTableNotFound:
    return GlobalTableNotFound(f"Global table with name: '{name}' does not exist.")
