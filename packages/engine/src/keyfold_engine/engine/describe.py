"""The TableDescription of a table."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import statistics, throughput
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.statistics import Statistics
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.engine.vectors import rules
from keyfold_engine.engine.vectors import updates as vectors
from keyfold_engine.engine.vectors.index import VectorIndex

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
    whole, held = statistics.of(session, table)
    answer: dict[str, Any] = {name: definition[name] for name in _COPIED if name in definition}
    if any(index.status != "ACTIVE" for index in table.global_indexes):
        status = "UPDATING"
    if vectors.phase(database, table) == "allocating":
        status = "UPDATING"
    if table.restored_from is not None:
        status = "CREATING"
    answer["TableStatus"] = status
    answer["TableSizeBytes"] = whole.size
    answer["ItemCount"] = whole.items
    now = database.clock.now()
    answer["ProvisionedThroughput"] = throughput.described(definition, now)
    if definition["BillingMode"] == "PAY_PER_REQUEST":
        answer["BillingModeSummary"] = {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": definition["BillingChanged"],
        }
    elif "BillingChanged" in definition:
        answer["BillingModeSummary"] = {
            "BillingMode": "PROVISIONED",
            "LastUpdateToPayPerRequestDateTime": definition["BillingChanged"],
        }
    if table.local_indexes:
        answer["LocalSecondaryIndexes"] = [
            _index(table, index, held[index.name], status, now) for index in table.local_indexes
        ]
    if table.global_indexes:
        answer["GlobalSecondaryIndexes"] = [
            _index(table, index, held[index.name], status, now) for index in table.global_indexes
        ]
    if table.vector_indexes:
        answer["VectorIndexes"] = [
            _vector_index(database, table, index, held[index.name], status)
            for index in table.vector_indexes
        ]
    if table.replicas:
        answer.update(_replicas(database, table))
    answer.update(_warm(table, definition, status))
    answer.update(_stream(definition))
    if "TableClass" in definition:
        answer["TableClassSummary"] = {"TableClass": definition["TableClass"]}
        if "TableClassChanged" in definition:
            answer["TableClassSummary"]["LastUpdateDateTime"] = definition["TableClassChanged"]
    if "SSE" in definition:
        answer["SSEDescription"] = definition["SSE"]
    return answer


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
        answer.update(_warm(table, definition, status))
        if index.status == "CREATING":
            answer["Backfilling"] = True
        if "OnDemandThroughput" in definition:
            answer["OnDemandThroughput"] = definition["OnDemandThroughput"]
    return answer


def _vector_index(
    database: Database,
    table: TableDefinition,
    index: VectorIndex,
    held: Statistics,
    table_status: str,
) -> dict[str, Any]:
    answer = {
        **rules.description(index.definition),
        "IndexStatus": "ACTIVE",
        "IndexSizeBytes": held.size,
        "ItemCount": held.items,
        "IndexArn": f"{table.arn}/index/{index.name}",
    }
    phase = database.delays.phase("vector index", index.since)
    if table_status == "CREATING":
        answer["IndexStatus"] = "CREATING"
    elif phase in ("allocating", "backfilling") or not index.is_filled:
        answer["IndexStatus"] = "CREATING"
        answer["Backfilling"] = phase != "allocating" and table_status == "ACTIVE"
    return answer


def _replicas(database: Database, table: TableDefinition) -> dict[str, Any]:
    """The other regions of a global table."""
    shown = []
    for region, replica in table.replicas.items():
        overrides = replica.get("Overrides", {})
        creating = database.delays.phase("creating replica", replica.get("Since"))
        told = {
            "RegionName": region,
            "ReplicaStatus": "CREATING" if creating else "ACTIVE",
            "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
            **{name: value for name, value in overrides.items() if name != "TableClassOverride"},
        }
        if not creating:
            told.update(_warm(table, table.definition, "ACTIVE"))
        if "TableClassOverride" in overrides:
            told["ReplicaTableClassSummary"] = {"TableClass": overrides["TableClassOverride"]}
        shown.append(told)
    answer: dict[str, Any] = {
        "GlobalTableVersion": "2019.11.21",
        "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
        "Replicas": shown,
    }
    if table.definition.get("Consistency") == "STRONG":
        answer["MultiRegionConsistency"] = "STRONG"
        if (witness := table.definition.get("Witness")) is not None:
            creating = database.delays.phase("creating witness", witness["Since"])
            status = "CREATING" if creating else "ACTIVE"
            answer["GlobalTableWitnesses"] = [
                {"RegionName": witness["RegionName"], "WitnessStatus": status}
            ]
    else:
        protected = table.definition.get("DisassociationProtection", True)
        answer["DisassociationProtectionEnabled"] = protected
    return answer


def _warm(table: TableDefinition, definition: Any, status: str) -> dict[str, Any]:
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
