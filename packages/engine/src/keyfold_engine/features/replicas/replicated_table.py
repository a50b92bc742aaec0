"""A table of several regions: its replicas, and how it is described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from keyfold_engine.engine.describe import warm
from keyfold_engine.engine.tables import TableDefinition

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database
    from keyfold_engine.features.replicas.regions import Regions


def replicas_of(table: TableDefinition) -> dict[str, dict[str, Any]]:
    """The other regions of a global table."""
    found: dict[str, dict[str, Any]] = table.definition.get("Replicas", {})
    return found


def regions_of(database: Database) -> Regions:
    """The regions that a database is one of."""
    assert database.regions is not None, "a table with replicas is one of several regions"
    return cast("Regions", database.regions)


def described(database: Database, table: TableDefinition) -> dict[str, Any]:
    """The other regions of a global table."""
    shown = []
    for region, replica in replicas_of(table).items():
        overrides = replica.get("Overrides", {})
        creating = database.delays.phase("creating replica", replica.get("Since"))
        told = {
            "RegionName": region,
            "ReplicaArn": table.arn.replace(f":{database.region}:", f":{region}:", 1),
            "ReplicaStatus": "CREATING" if creating else "ACTIVE",
            "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
            **{name: value for name, value in overrides.items() if name != "TableClassOverride"},
        }
        if not creating:
            told.update(warm(table, table.definition, "ACTIVE"))
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
