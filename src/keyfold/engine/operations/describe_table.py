"""DescribeTable and ListTables."""

from __future__ import annotations

from typing import Any

from keyfold.engine import describe
from keyfold.engine.database import Database
from keyfold.errors import ValidationError

NAMES_PER_PAGE = 100


def describe_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    name = request["TableName"]
    if name.startswith("arn:") and name.split(":")[3:4] != [database.region]:
        raise ValidationError(f"1 validation error detected: Invalid AWS region in '{name}'")
    with database.snapshot() as session:
        table = database.catalog.named(session, name)
        return {"Table": describe.table(database, session, table)}


def list_tables(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("Limit") or NAMES_PER_PAGE
    after = request.get("ExclusiveStartTableName") or ""
    with database.read() as session:
        names = session.table_names(after, limit + 1)
    answer: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
