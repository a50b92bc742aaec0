"""UpdateContributorInsights, DescribeContributorInsights and ListContributorInsights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import TableNotFound, ValidationError, parameter_invalid

_PER_PAGE = 100
_DEFAULT = "ACCESSED_AND_THROTTLED_KEYS"
_WAITING = {"ENABLED": "ENABLING", "DISABLED": "DISABLING"}


def update_contributor_insights(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    index = request.get("IndexName", "")
    wanted = "ENABLED" if request["ContributorInsightsAction"] == "ENABLE" else "DISABLED"
    mode = request.get("ContributorInsightsMode", _DEFAULT)

    def work(session: Session) -> dict[str, Any]:
        table = _table(database, session, request["TableName"], index)
        if table.restored_from is not None:
            raise ValidationError(_not_active("Table"))
        if index and table.indexes_by_name[index].status != "ACTIVE":
            raise ValidationError(_not_active("Index"))
        known = table.definition.get("Insights", {}).get(index)
        if known is None and wanted == "DISABLED":
            return _answer(table, index, {"Status": "DISABLED"}, "DISABLED")
        if known is not None and (known["Status"], known["Mode"]) == (wanted, mode):
            return _answer(table, index, known, _status(database, known))
        if known is not None and wanted == "DISABLED" == known["Status"]:
            return _answer(table, index, known, "DISABLED")
        entry = {"Status": wanted, "Mode": mode, "Since": database.clock.now()}
        database.catalog.store(
            session, table, Insights={**table.definition.get("Insights", {}), index: entry}
        )
        return _answer(table, index, entry, _WAITING[wanted])

    return database.write(work)


def describe_contributor_insights(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    index = request.get("IndexName", "")
    with database.read() as session:
        table = _table(database, session, request["TableName"], index)
    known = table.definition.get("Insights", {}).get(index)
    if known is None:
        return _with_names(table, index, ContributorInsightsStatus="DISABLED")
    status = _status(database, known)
    answer = {**_answer(table, index, known, status), "LastUpdateDateTime": known["Since"]}
    if status == "ENABLED":
        answer["ContributorInsightsRuleList"] = list(_rules(table, index, known))
    return answer


def list_contributor_insights(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("MaxResults") or _PER_PAGE
    if limit < 1:
        raise parameter_invalid("MaxResults must be at least 1")
    name, after = request.get("TableName"), request.get("NextToken", "")
    with database.read() as session:
        if name is not None:
            tables = [_table(database, session, name, "")]
        else:
            tables = [TableDefinition.load(*row) for row in session.tables()]
    found = [
        (f"{table.name}/{index}", _answer(table, index, known, _status(database, known)))
        for table in sorted(tables, key=lambda table: table.name)
        for index, known in sorted(table.definition.get("Insights", {}).items())
    ]
    shown = [
        (token, summary)
        for token, summary in found
        if summary["ContributorInsightsStatus"] != "DISABLED" and token > after
    ]
    answer: dict[str, Any] = {"ContributorInsightsSummaries": [one for _, one in shown[:limit]]}
    if len(shown) > limit:
        answer["NextToken"] = shown[limit - 1][0]
    return answer


def _not_active(kind: str) -> str:
    return (
        "Table or Index is not in a valid state to update Key Access Insights: "
        f"{kind}Status must be ACTIVE to enable ContributorInsights."
    )


def _table(database: Database, session: Session, name: str, index: str) -> TableDefinition:
    table = database.catalog.named(session, name)
    found = table.indexes_by_name.get(index)
    if index and (found is None or found.is_local):
        raise TableNotFound(
            f"Requested resource not found: Index: {index} not found for table: {table.name}"
        )
    return table


def _status(database: Database, known: dict[str, Any]) -> str:
    status: str = known["Status"]
    waits = database.delays.phase(_WAITING[status].lower() + " insights", known["Since"])
    return status if waits is None else _WAITING[status]


def _with_names(table: TableDefinition, index: str, **members: Any) -> dict[str, Any]:
    named = {"TableName": table.name, **({"IndexName": index} if index else {})}
    return {**named, **members}


def _answer(
    table: TableDefinition, index: str, known: dict[str, Any], status: str
) -> dict[str, Any]:
    answer = _with_names(table, index, ContributorInsightsStatus=status)
    if "Mode" in known:
        answer["ContributorInsightsMode"] = known["Mode"]
    return answer


def _rules(table: TableDefinition, index: str, known: dict[str, Any]) -> Iterator[str]:
    schema = table.indexes_by_name[index].schema if index else table.schema
    of = f"{table.name}-{index}" if index else table.name
    for key in ("PK", "SK") if schema.sort else ("PK",):
        for kind in ("C", "T"):
            if kind == "T" or known["Mode"] == _DEFAULT:
                since = int(known["Since"] * 1000)
                yield f"DynamoDBContributorInsights-{key}{kind}-{of}-{since}"
