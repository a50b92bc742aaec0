"""Which regions a table is in: UpdateTable's members about replicas, their rules and their work."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn
from uuid import uuid4

import orjson

from keyfold.engine import catalog, describe, leftovers, snapshot, streams
from keyfold.engine.database import Database
from keyfold.engine.replication import changes
from keyfold.engine.replication.regions import KNOWN
from keyfold.engine.storage import Session
from keyfold.engine.tables import TableDefinition
from keyfold.errors import TableInUse, ValidationError

_INVALID = "One or more parameter values were invalid: "
MEMBERS = (
    "ReplicaUpdates",
    "MultiRegionConsistency",
    "GlobalTableWitnessUpdates",
    "GlobalTableSettingsReplicationMode",
    "DisassociationProtectionEnabled",
)
_STRONG_ELSEWHERE = frozenset(("us-west-1", "ca-central-1", "sa-east-1"))
_LEFT_BEHIND = frozenset(
    ("Tags", "Recovery", "Backups", "Insights", "Destinations", "Stream", "LatestStream",
     "RestoreSummary", "DeletionProtectionEnabled", "SourceSince", "Scaling")
)  # fmt: skip
_UNCHANGED = (
    "AttributeDefinitions",
    "TableName",
)


def asks(request: dict[str, Any]) -> bool:
    """Whether a request is about replicas."""
    return any(request.get(member) is not None for member in MEMBERS)


def update(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out an UpdateTable request about replicas."""
    _check_alone(request)
    if database.regions is None:
        _refuse(
            "keyfold needs several regions for a global table: open them with "
            "keyfold.engine.replication.Regions"
        )
    with database.read() as session:
        table = database.catalog.changeable(session, request["TableName"])
    updates = request.get("ReplicaUpdates") or []
    if not updates and not request.get("GlobalTableWitnessUpdates"):
        return _changed_settings(database, table, request)
    kinds = [_kind(each) for each in updates]
    _check_state(database, table, updates)
    if request.get("MultiRegionConsistency") == "STRONG" or request.get(
        "GlobalTableWitnessUpdates"
    ):
        return _strong(database, table, request, kinds)
    if table.definition.get("Consistency") == "STRONG":
        return _strong_later(database, table, request, kinds)
    regions = list(
        dict.fromkeys(each[kind]["RegionName"] for each, kind in zip(updates, kinds, strict=True))
    )
    if len(regions) > 1 and any(kind in ("Create", "Delete") for kind in kinds):
        _refuse(
            "Update table operation with more than one create or delete replica actions not allowed"
        )
    for each, kind in zip(updates, kinds, strict=True):
        _CHANGES[kind](database, table, each[kind])
    return _answer(database, table)


def _refuse(message: str) -> NoReturn:
    raise ValidationError(message)


def _check_alone(request: dict[str, Any]) -> None:
    others = [
        name
        for name, value in request.items()
        if value is not None and name not in MEMBERS and name not in _UNCHANGED
    ]
    if others and (
        request.get("MultiRegionConsistency") or request.get("GlobalTableWitnessUpdates")
    ):
        _refuse(
            f"{_INVALID}Requests that modify replicas or witnesses must not also modify other "
            "fields"
        )
    if others:
        _refuse(f"{_INVALID}Replica modification must be the only operation in the request")


def _kind(update: dict[str, Any]) -> str:
    if len(update) > 1:
        _refuse("Update table operation with more than one type of replica actions not allowed.")
    if not update:
        _refuse("There are no actions specified in the Replica Update Action of the request.")
    return next(iter(update))


def _check_state(database: Database, table: TableDefinition, updates: list[dict[str, Any]]) -> None:
    for region, replica in table.replicas.items():
        if database.delays.phase("creating replica", replica.get("Since")) is None:
            continue
        if any(each.get("Create", {}).get("RegionName") == region for each in updates):
            _refuse(
                f"Global table with name: '{table.name}' already exists with replicas in regions: "
                f"{', '.join([database.region, *table.replicas])}"
            )
        raise TableInUse("The resource which you are attempting to change is in use.")


def _check_region(database: Database, table: TableDefinition, region: str, *, there: bool) -> None:
    """A region can be added if it is another and has no such table, else only if it is there."""
    assert database.regions is not None
    if region == database.region:
        _refuse(
            "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, "
            "DeleteTable, or UpdateTable as required."
        )
    if region not in KNOWN:
        _refuse(
            f"Region {region} is not supported. The latest version of global tables are only "
            f"supported in the following regions: [{', '.join(sorted(KNOWN))}]"
        )
    if there and region not in table.replicas:
        _refuse(
            "Update global table operation failed because one or more replicas were not part of "
            f"the global table. Please retry the request without these replicas: [{region}]."
        )
    if not there:
        other = database.regions.database(region)
        with other.read() as session:
            if other.catalog.load(session, table.name) is not None:
                _refuse(
                    f"Failed to create a the new replica of table with name: ‘{table.name}’ "
                    "because one or more replicas already existed as tables."
                )


def _create(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    _check_region(database, table, region, there=False)
    _check_writes(database, table)
    _add(database, table, {region: wish}, {})


def _check_writes(database: Database, table: TableDefinition) -> None:
    """Writes of all regions arrive everywhere: fixed units would be too few."""
    assert database.regions is not None
    if table.definition["BillingMode"] == "PROVISIONED" and not database.regions.scales_writes:
        _refuse("Table write capacity should either be Pay-Per-Request or AutoScaled.")


def _add(
    database: Database,
    table: TableDefinition,
    wishes: dict[str, dict[str, Any]],
    more: dict[str, Any],
) -> None:
    """Make the table in other regions, tell all members of each other, and copy the items."""
    assert database.regions is not None
    regions, now = database.regions, database.clock.now()
    group = {database.region, *table.replicas, *wishes}
    known = {region: dict(replica) for region, replica in table.replicas.items()}
    for region, wish in wishes.items():
        overrides = {name: value for name, value in wish.items() if name != "RegionName"}
        known[region] = {"Since": now, "Overrides": overrides}
    for region in group:
        others = {each: known.get(each, {}) for each in sorted(group - {region})}
        there = regions.database(region)
        there.write(partial(_define, there, table, others, more))
    for region in wishes:
        _copy(database, regions.database(region), table.name)


def _define(
    database: Database,
    source: TableDefinition,
    replicas: dict[str, Any],
    more: dict[str, Any],
    session: Session,
) -> None:
    """Make a region's table a member, or make it."""
    table = database.catalog.load(session, source.name)
    if table is None:
        definition = {k: v for k, v in source.definition.items() if k not in _LEFT_BEHIND}
        definition.update(
            TableId=str(uuid4()),
            TableArn=database.arn(f"table/{source.name}"),
            CreationDateTime=database.clock.now(),
            DeletionProtectionEnabled=False,
        )
        table = catalog.create(session, definition)
    else:
        more = {**more, "SourceSince": database.clock.now()}
    changed = table.with_changes(Replicas=replicas, **more)
    if changed.stream is None:
        changed = streams.start(database, session, changed, "NEW_AND_OLD_IMAGES")
    session.define_table(changed.id, changed.stored())
    database.catalog.remember(changed)


def _copy(source: Database, target: Database, name: str) -> None:
    """The items that were there before, as older than anything that is written from now on."""
    assert source.regions is not None
    with (
        snapshot.take(source, lambda session: source.catalog.named(session, name)) as taken,
        source.regions.following(),
    ):
        for body in taken.bodies():
            item = orjson.loads(body)
            change = {"Table": name, "Key": taken.table.schema.key_of(item), "Item": item}
            changes.apply(target, {**change, "At": 0.0, "Region": source.region})


def _update(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    overrides = {name: value for name, value in wish.items() if name != "RegionName"}
    if not overrides:
        _refuse("There are no actions specified in the Replica Update Action of the request.")
    _check_region(database, table, region, there=True)
    replica = table.replicas[region]
    merged = {**replica, "Overrides": {**replica.get("Overrides", {}), **overrides}}
    _set_replicas(database, table.name, {**table.replicas, region: merged})


def _delete(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    assert database.regions is not None
    region = wish["RegionName"]
    _check_region(database, table, region, there=True)
    there = database.regions.database(region)
    with there.read() as session:
        other = there.catalog.named(session, table.name)
    check_source(there, other)
    if other.definition["DeletionProtectionEnabled"]:
        _refuse(
            f"Cannot delete table {table.name} in region {region} because it has deletion "
            "protection enabled. Disable deletion protection first."
        )
    _part(database, table, region)
    drop(there, table.name)


def check_source(database: Database, table: TableDefinition) -> None:
    """On Amazon a region that a replica was made from stays for a day."""
    if database.delays.phase("source of a replica", table.definition.get("SourceSince")):
        _refuse(
            "Replica cannot be deleted because it has acted as a source region for new replica(s) "
            "being added to the table in the last 24 hours."
        )


def _disassociate(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    if region != database.region:
        _refuse(f"{_INVALID}Disassociate names the region that it is asked in: {database.region}")
    if table.definition.get("DisassociationProtection", True):
        _refuse(
            f"{_INVALID}Replica {region} is protected against disassociation. Set "
            "DisassociationProtectionEnabled to false first."
        )
    assert database.regions is not None
    database.regions.release()
    _part(database, table, region)


_CHANGES = {
    "Create": _create,
    "Update": _update,
    "Delete": _delete,
    "Disassociate": _disassociate,
}


def _part(database: Database, table: TableDefinition, region: str) -> None:
    """Take a region out of a group: its table and the others do not know each other any more."""
    assert database.regions is not None
    for member in (database.region, *table.replicas):
        there = database.regions.database(member)
        with there.read() as session:
            own = there.catalog.named(session, table.name)
        left = {} if member == region else {r: v for r, v in own.replicas.items() if r != region}
        _set_replicas(there, table.name, left)


def _set_replicas(database: Database, name: str, replicas: dict[str, Any]) -> None:
    def work(session: Session) -> None:
        table = database.catalog.named(session, name)
        gone = {} if replicas else {"Consistency": None, "Witness": None}
        changed = table.with_changes(Replicas=replicas or None, **gone)
        session.define_table(table.id, changed.stored())
        database.catalog.remember(changed)

    database.write(work)


def leave(database: Database, name: str) -> None:
    """A region's table is about to be deleted: the others go on without it."""
    with database.read() as session:
        table = database.catalog.load(session, name)
    if table is None or not table.replicas:
        return
    if table.definition.get("Consistency") == "STRONG":
        _refuse(
            "Deletion of only one table replica is not supported for global tables with "
            "MultiRegionConsistency set to STRONG."
        )
    check_source(database, table)
    if not table.definition["DeletionProtectionEnabled"] and database.regions is not None:
        database.regions.release()
        _part(database, table, database.region)


def drop(database: Database, name: str) -> None:
    """Drop a region's table, whatever it is protected against."""

    def work(session: Session) -> None:
        table = database.catalog.named(session, name)
        streams.stop(database, session, table)
        session.drop_table(table.id)
        database.catalog.drop(table)

    database.write(work)
    leftovers.clear(database)


def _strong(
    database: Database, table: TableDefinition, request: dict[str, Any], kinds: list[str]
) -> dict[str, Any]:
    """Make a group of three regions, one of them perhaps a witness, that is always in step."""
    witnesses = request.get("GlobalTableWitnessUpdates") or []
    if request.get("MultiRegionConsistency") != "STRONG":
        if table.definition.get("Consistency") == "STRONG":
            return _strong_later(database, table, request, kinds)
        _refuse(
            "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter "
            "is present."
        )
    if any(kind != "Create" for kind in kinds):
        _refuse(
            "Only Replica Create actions are supported when MultiRegionConsistency parameter is "
            "provided."
        )
    if table.definition.get("Consistency") == "STRONG":
        _refuse("MultiRegionConsistency parameter is unsupported on existing global table")
    wishes = {each["Create"]["RegionName"]: each["Create"] for each in request["ReplicaUpdates"]}
    witness = [each["Create"]["RegionName"] for each in witnesses if each.get("Create")]
    wrong = [region for region in (*wishes, *witness) if region in _STRONG_ELSEWHERE]
    if wrong:
        _refuse(
            "Unsupported Region(s) specified for global tables with MultiRegionConsistency set to "
            f"STRONG: [{', '.join(wrong)}]."
        )
    if set(witness) & wishes.keys():
        _refuse("Cannot target multiple regions with the same action")
    if database.region in witness:
        _refuse(
            "Cannot add a witness in the same region as an existing replica when creating a global "
            "table with MultiRegionConsistency set to STRONG."
        )
    if len(wishes) + len(witness) != 2 or table.replicas:
        _refuse(
            "Unsupported replica count for global tables with MultiRegionConsistency set to STRONG."
        )
    for region in wishes:
        _check_region(database, table, region, there=False)
    _check_can_be_strong(database, table)
    more: dict[str, Any] = {"Consistency": "STRONG"}
    if witness:
        more["Witness"] = {"RegionName": witness[0], "Since": database.clock.now()}
    _add(database, table, wishes, more)
    return _answer(database, table)


def _check_can_be_strong(database: Database, table: TableDefinition) -> None:
    """The words are ours: Amazon's are not known."""
    with database.read() as session:
        count, _size = session.count_items(table.id, 1)
    if count:
        _refuse(f"{_INVALID}A table becomes STRONG only while it is empty: {table.name}")
    if table.ttl is not None or table.local_indexes:
        _refuse(
            f"{_INVALID}Time to live and local secondary indexes are not supported for global "
            "tables with MultiRegionConsistency set to STRONG."
        )


def _strong_later(
    database: Database, table: TableDefinition, request: dict[str, Any], kinds: list[str]
) -> dict[str, Any]:
    """A group that is in step is not changed, only taken apart, all at once."""
    if "Create" in kinds:
        _refuse("Cannot add replicas to a global table with strong MultiRegionConsistency")
    regions = {each["Delete"]["RegionName"] for each in request.get("ReplicaUpdates") or ()}
    witness = table.definition.get("Witness")
    dropped = [each for each in request.get("GlobalTableWitnessUpdates") or () if "Delete" in each]
    if witness and not dropped:
        _refuse("Update table delete operation does not include all witnesses.")
    if regions != set(table.replicas):
        _refuse(
            "Deletion of only one table replica is not supported for global tables with "
            "MultiRegionConsistency set to STRONG."
        )
    for region in regions:
        _delete(database, _now(database, table), {"RegionName": region})
    return _answer(database, table)


def _changed_settings(
    database: Database, table: TableDefinition, request: dict[str, Any]
) -> dict[str, Any]:
    mode = request.get("GlobalTableSettingsReplicationMode")
    if mode == "ENABLED_WITH_OVERRIDES" and not table.replicas:
        _refuse(
            "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to "
            "satisfy constraint: Only ENABLED and DISABLED settings replication are supported for "
            "a Regional Table."
        )
    protected = request.get("DisassociationProtectionEnabled")
    if protected is None and mode is None:
        _refuse(
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
        changed = current.with_changes(**wanted)
        session.define_table(changed.id, changed.stored())
        database.catalog.remember(changed)

    database.write(work)
    return _answer(database, table)


def _now(database: Database, table: TableDefinition) -> TableDefinition:
    with database.read() as session:
        return database.catalog.named(session, table.name)


def _answer(database: Database, table: TableDefinition) -> dict[str, Any]:
    with database.read() as session:
        current = database.catalog.named(session, table.name)
        told = describe.table(database, session, current, status="UPDATING")
    return {"TableDescription": told}
