"""The regions of a table: UpdateTable's replica members."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import TableInUse, parameter_invalid
from keyfold_engine.features.replicas import consistency
from keyfold_engine.features.replicas.membership import add, answer, part, remove, set_replicas
from keyfold_engine.features.replicas.replicated_table import regions_of, replicas_of
from keyfold_engine.features.replicas.rules import (
    check_region,
    check_source,
    check_writes,
    refuse,
)
from keyfold_engine.features.transfer import bulk

MEMBERS = (
    "ReplicaUpdates",
    "MultiRegionConsistency",
    "GlobalTableWitnessUpdates",
    "GlobalTableSettingsReplicationMode",
    "DisassociationProtectionEnabled",
)
_UNCHANGED = (
    "AttributeDefinitions",
    "TableName",
)


def update(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    """Execute an UpdateTable request about replicas."""
    _check_alone(request)
    if database.regions is None:
        refuse(
            "keyfold needs several regions for a global table: open them with "
            "keyfold_engine.features.replicas.Regions"
        )
    with database.read() as session:
        table = database.catalog.changeable(session, request["TableName"])
    updates = request.get("ReplicaUpdates") or []
    if not updates and not request.get("GlobalTableWitnessUpdates"):
        return _changed_settings(database, table, request)
    kinds = [_kind(each) for each in updates]
    _check_state(database, table, updates)
    if "Create" in kinds:
        with database.read() as session:
            bulk.refuse_running(session, table.name)
    if request.get("MultiRegionConsistency") == "STRONG" or request.get(
        "GlobalTableWitnessUpdates"
    ):
        return consistency.begin(database, table, request, kinds)
    if table.definition.get("Consistency") == "STRONG" and set(kinds) != {"Update"}:
        return consistency.change(database, table, request, kinds)
    regions = list(
        dict.fromkeys(each[kind]["RegionName"] for each, kind in zip(updates, kinds, strict=True))
    )
    if len(regions) > 1 and any(kind in ("Create", "Delete") for kind in kinds):
        refuse(
            "Update table operation with more than one create or delete replica actions not allowed"
        )
    for each, kind in zip(updates, kinds, strict=True):
        _CHANGES[kind](database, table, each[kind])
    return answer(database, table)


def _check_alone(request: dict[str, Any]) -> None:
    others = [
        name
        for name, value in request.items()
        if value is not None and name not in MEMBERS and name not in _UNCHANGED
    ]
    if others and (
        request.get("MultiRegionConsistency") or request.get("GlobalTableWitnessUpdates")
    ):
        raise parameter_invalid(
            "Requests that modify replicas or witnesses must not also modify other fields"
        )
    if others:
        raise parameter_invalid("Replica modification must be the only operation in the request")


def _kind(update: dict[str, Any]) -> str:
    if len(update) > 1:
        refuse("Update table operation with more than one type of replica actions not allowed.")
    if not update:
        refuse("There are no actions specified in the Replica Update Action of the request.")
    return next(iter(update))


def _check_state(database: Database, table: TableDefinition, updates: list[dict[str, Any]]) -> None:
    for region, replica in replicas_of(table).items():
        if database.delays.phase("creating replica", replica.get("Since")) is None:
            continue
        if any(each.get("Create", {}).get("RegionName") == region for each in updates):
            refuse(
                f"Global table with name: '{table.name}' already exists with replicas in regions: "
                f"{', '.join([database.region, *replicas_of(table)])}"
            )
        raise TableInUse("The resource which you are attempting to change is in use.")


def _create(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    check_region(database, table, region, there=False)
    check_writes(database, table)
    add(database, table, {region: wish}, {})


def _update(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    overrides = {name: value for name, value in wish.items() if name != "RegionName"}
    if not overrides:
        refuse("There are no actions specified in the Replica Update Action of the request.")
    check_region(database, table, region, there=True)
    replica = replicas_of(table)[region]
    merged = {**replica, "Overrides": {**replica.get("Overrides", {}), **overrides}}
    set_replicas(database, table.name, {**replicas_of(table), region: merged})


def _disassociate(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    if region != database.region:
        raise parameter_invalid(
            f"Disassociate names the region that it is asked in: {database.region}"
        )
    if table.definition.get("DisassociationProtection", True):
        raise parameter_invalid(
            f"Replica {region} is protected against disassociation. Set "
            "DisassociationProtectionEnabled to false first."
        )
    regions_of(database).release()
    part(database, table, region)


_CHANGES = {
    "Create": _create,
    "Update": _update,
    "Delete": remove,
    "Disassociate": _disassociate,
}


def leave(database: Database, name: str) -> None:
    """Remove a region's table from its group before it is deleted."""
    with database.read() as session:
        table = database.catalog.load(session, name)
    if table is None or not replicas_of(table):
        return
    if table.definition.get("Consistency") == "STRONG":
        refuse(
            "Deletion of only one table replica is not supported for global tables with "
            "MultiRegionConsistency set to STRONG."
        )
    check_source(database, table)
    if not table.definition["DeletionProtectionEnabled"] and database.regions is not None:
        regions_of(database).release()
        part(database, table, database.region)


def _changed_settings(
    database: Database, table: TableDefinition, request: dict[str, Any]
) -> dict[str, Any]:
    mode = request.get("GlobalTableSettingsReplicationMode")
    if mode == "ENABLED_WITH_OVERRIDES" and not replicas_of(table):
        refuse(
            "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to "
            "satisfy constraint: Only ENABLED and DISABLED settings replication are supported for "
            "a Regional Table."
        )
    protected = request.get("DisassociationProtectionEnabled")
    if protected is None and mode is None:
        refuse(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, "
            "MultiAccountReplicaReady, ReplicaTransitRoleArn, DeletionProtectionEnabled, "
            "OnDemandThroughput, WarmThroughput or TableClass is required"
        )

    def work(session: Session) -> None:
        current = database.catalog.named(session, table.name)
        wanted: dict[str, Any] = {}
        if protected is not None:
            wanted["DisassociationProtection"] = protected
        if mode is not None:
            wanted["SettingsReplication"] = mode
        database.catalog.store(session, current, **wanted)

    database.write(work)
    return answer(database, table)
