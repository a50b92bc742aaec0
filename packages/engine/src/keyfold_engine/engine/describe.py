"""The TableDescription of a table."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import statistics, throughput
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.statistics import Statistics
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition

_COPIED = (
    "TableName",
    "TableId",
    "TableArn",
    "KeySchema",
    "AttributeDefinitions",
    "CreationDateTime",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "RestoreSummary",
)
_OF_DELETED = (
    "TableName",
    "TableId",
    "TableArn",
    "TableStatus",
    "TableSizeBytes",
    "ItemCount",
    "ProvisionedThroughput",
    "BillingModeSummary",
    "DeletionProtectionEnabled",
)


def table(
    database: Database, session: Session, table: TableDefinition, status: str = "ACTIVE"
) -> dict[str, Any]:
    """DescribeTable's answer; `status` overrides the table's for operations that change it."""
    definition = table.definition
    whole, held = statistics.of(database, session, table)
    answer: dict[str, Any] = {name: definition[name] for name in _COPIED if name in definition}
    if any(index.status != "ACTIVE" for index in table.global_indexes):
        status = "UPDATING"
    if making(database, table) == "allocating":
        status = "UPDATING"
    if table.restored_from is not None:
        status = "CREATING"
    answer["TableStatus"] = status
    answer["TableSizeBytes"] = whole.size
    answer["ItemCount"] = whole.items
    now = database.clock.now()
    answer["ProvisionedThroughput"] = throughput.described(definition, now)
    if "BillingChanged" in definition:
        answer["BillingModeSummary"] = {
            "BillingMode": definition["BillingMode"],
            "LastUpdateToPayPerRequestDateTime": definition["BillingChanged"],
        }
    for index in table.indexes:
        member = "LocalSecondaryIndexes" if index.is_local else "GlobalSecondaryIndexes"
        told = _index(table, index, held[index.name], status, now)
        answer.setdefault(member, []).append(told)
    for further in table.further_indexes:
        size, items = held[further.name].size, held[further.name].items
        told = further.described(database, table, size, items, status)
        answer.setdefault(further.member, []).append(told)
    for describer in table.describers:
        answer.update(describer(database, table))
    answer.update(warm(table, definition, status))
    answer.update(_stream(definition))
    if "TableClass" in definition:
        answer["TableClassSummary"] = {"TableClass": definition["TableClass"]}
        if "TableClassChanged" in definition:
            answer["TableClassSummary"]["LastUpdateDateTime"] = definition["TableClassChanged"]
    if "SSE" in definition:
        answer["SSEDescription"] = definition["SSE"]
    return answer


def making(database: Database, table: TableDefinition) -> str | None:
    """The phase of a further index that is being created."""
    phases = (index.phase(database) for index in table.further_indexes)
    return next((phase for phase in phases if phase is not None), None)


def deleted(database: Database, session: Session, deleted: TableDefinition) -> dict[str, Any]:
    """DeleteTable's answer: DynamoDB leaves out the definition."""
    answer = table(database, session, deleted, status="DELETING")
    return {name: answer[name] for name in _OF_DELETED if name in answer}


def _index(
    table: TableDefinition,
    index: IndexDefinition,
    held: Statistics,
    table_status: str,
    now: float,
) -> dict[str, Any]:
    definition = index.definition
    answer: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": definition["KeySchema"],
        "Projection": definition["Projection"],
        "IndexSizeBytes": held.size,
        "ItemCount": held.items,
        "IndexArn": f"{table.arn}/index/{index.name}",
    }
    if not index.is_local:
        status = table_status if table_status == "CREATING" else index.status
        answer["IndexStatus"] = status
        on_demand = table.definition["BillingMode"] == "PAY_PER_REQUEST"
        units = {} if on_demand else definition
        answer["ProvisionedThroughput"] = throughput.described(units, now)
        answer.update(warm(table, definition, status))
        if index.status == "CREATING":
            answer["Backfilling"] = True
        if "OnDemandThroughput" in definition:
            answer["OnDemandThroughput"] = definition["OnDemandThroughput"]
    return answer


def warm(table: TableDefinition, definition: Any, status: str) -> dict[str, Any]:
    """The warm throughput of the table or an index; shown for all once they are active."""
    asked = definition.get("WarmThroughput")
    if status != "ACTIVE":
        return {"WarmThroughput": {**asked, "Status": "UPDATING"}} if asked else {}
    usual = throughput.usual_warmth(definition, table.definition["BillingMode"])
    return {"WarmThroughput": {**usual, **(asked or {}), "Status": "ACTIVE"}}


def _stream(definition: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if "Stream" in definition:
        answer["StreamSpecification"] = {
            "StreamEnabled": True,
            "StreamViewType": definition["Stream"]["View"],
        }
    if "LatestStream" in definition:
        answer["LatestStreamArn"] = definition["LatestStream"]["Arn"]
        answer["LatestStreamLabel"] = definition["LatestStream"]["Label"]
    return answer
