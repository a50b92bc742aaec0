"""DescribeTable, ListTables, DescribeLimits and DescribeEndpoints."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import describe
from keyfold_engine.engine.database import Database
from keyfold_engine.errors import ValidationError

NAMES_PER_PAGE = 100
_ACCOUNT_UNITS = 80_000
_TABLE_UNITS = 40_000
_ENDPOINT_MINUTES = 1440


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


def describe_limits(_database: Database, _request: dict[str, Any]) -> dict[str, Any]:
    return {
        "AccountMaxReadCapacityUnits": _ACCOUNT_UNITS,
        "AccountMaxWriteCapacityUnits": _ACCOUNT_UNITS,
        "TableMaxReadCapacityUnits": _TABLE_UNITS,
        "TableMaxWriteCapacityUnits": _TABLE_UNITS,
    }


def describe_endpoints(database: Database, _request: dict[str, Any]) -> dict[str, Any]:
    return {
        "Endpoints": [
            {
                # Amazon's own host would redirect the client's next requests there.
                "Address": (database.regions or database).endpoint,
                "CachePeriodInMinutes": _ENDPOINT_MINUTES,
            }
        ]
    }
