"""The TableDescription of a table."""

from __future__ import annotations

from typing import Any

from keyfold.engine import statistics
from keyfold.engine.statistics import Figures
from keyfold.engine.storage import Session
from keyfold.engine.tables import Index, Table

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
_NO_THROUGHPUT = {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}


def table(session: Session, table: Table, status: str = "ACTIVE") -> dict[str, Any]:
    """What DescribeTable answers; `status` overrides the table's for operations that change it."""
    definition = table.definition
    whole, held = statistics.of(session, table)
    answer: dict[str, Any] = {name: definition[name] for name in _COPIED if name in definition}
    if any(index.status != "ACTIVE" for index in table.global_indexes):
        status = "UPDATING"
    if table.restored_from is not None:
        status = "CREATING"
    answer["TableStatus"] = status
    answer["TableSizeBytes"] = whole.size
    answer["ItemCount"] = whole.items
    answer["ProvisionedThroughput"] = _throughput(definition)
    if definition["BillingMode"] == "PAY_PER_REQUEST":
        answer["BillingModeSummary"] = {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": definition["BillingChanged"],
        }
    elif "BillingChanged" in definition:
        answer["BillingModeSummary"] = {"BillingMode": "PROVISIONED"}
    if table.local_indexes:
        answer["LocalSecondaryIndexes"] = [
            _index(table, index, held[index.name]) for index in table.local_indexes
        ]
    if table.global_indexes:
        answer["GlobalSecondaryIndexes"] = [
            _index(table, index, held[index.name]) for index in table.global_indexes
        ]
    answer.update(_stream(definition))
    if "TableClass" in definition:
        answer["TableClassSummary"] = {"TableClass": definition["TableClass"]}
    if "SSE" in definition:
        answer["SSEDescription"] = definition["SSE"]
    return answer


def _index(table: Table, index: Index, held: Figures) -> dict[str, Any]:
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
        answer["IndexStatus"] = index.status
        answer["ProvisionedThroughput"] = _throughput(definition)
        if index.status == "CREATING":
            answer["Backfilling"] = True
        if "OnDemandThroughput" in definition:
            answer["OnDemandThroughput"] = definition["OnDemandThroughput"]
    return answer


def _throughput(definition: Any) -> dict[str, Any]:
    return {"NumberOfDecreasesToday": 0, **definition.get("ProvisionedThroughput", _NO_THROUGHPUT)}


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
