"""ListTables."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database

NAMES_PER_PAGE = 100


def list_tables(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("Limit") or NAMES_PER_PAGE
    after = request.get("ExclusiveStartTableName") or ""
    with database.read() as session:
        names = session.table_names(after, limit + 1)
    answer: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
