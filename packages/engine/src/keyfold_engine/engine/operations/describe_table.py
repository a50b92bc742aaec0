"""DescribeTable."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import describe
from keyfold_engine.engine.database import Database
from keyfold_engine.errors import ValidationError


def describe_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    name = request["TableName"]
    if name.startswith("arn:") and name.split(":")[3:4] != [database.region]:
        raise ValidationError(f"1 validation error detected: Invalid AWS region in '{name}'")
    with database.snapshot() as session:
        table = database.catalog.named(session, name)
        return {"Table": describe.table(database, session, table)}
