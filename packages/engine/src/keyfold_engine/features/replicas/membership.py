"""The group of a table's regions: how a region joins it, with its items, and leaves it."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

import orjson

from keyfold_engine.engine import catalog, describe, leftovers, streams
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.features.backups import snapshot
from keyfold_engine.features.replicas import changes
from keyfold_engine.features.replicas.replicated_table import regions_of, replicas_of
from keyfold_engine.features.replicas.rules import check_region, check_source, refuse

_LEFT_BEHIND = frozenset(
    ("Tags", "Recovery", "Backups", "Insights", "Destinations", "Stream", "LatestStream",
     "RestoreSummary", "DeletionProtectionEnabled", "SourceSince", "Scaling")
)  # fmt: skip


def add(
    database: Database,
    table: TableDefinition,
    wishes: dict[str, dict[str, Any]],
    more: dict[str, Any],
) -> None:
    """Create the table in other regions, link all members, and copy the items."""
    regions, now = regions_of(database), database.clock.now()
    group = {database.region, *replicas_of(table), *wishes}
    known = {region: dict(replica) for region, replica in replicas_of(table).items()}
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
    """Create a region's table, or make it a member."""
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
    database.catalog.store(session, changed)


def _copy(source: Database, target: Database, name: str) -> None:
    """Copy the existing items, marked as older than any later write."""
    with (
        snapshot.take(source, lambda session: source.catalog.named(session, name)) as taken,
        regions_of(source).following(),
    ):
        for body in taken.bodies():
            item = orjson.loads(body)
            change = {"Table": name, "Key": taken.table.schema.key_of(item), "Item": item}
            changes.apply(target, {**change, "At": 0.0, "Region": source.region})


def remove(database: Database, table: TableDefinition, wish: dict[str, Any]) -> None:
    region = wish["RegionName"]
    check_region(database, table, region, there=True)
    there = regions_of(database).database(region)
    other = there.named(table.name)
    check_source(there, other)
    if other.definition["DeletionProtectionEnabled"]:
        refuse(
            f"Cannot delete table {table.name} in region {region} because it has deletion "
            "protection enabled. Disable deletion protection first."
        )
    part(database, table, region)
    drop(there, table.name)


def part(database: Database, table: TableDefinition, region: str) -> None:
    """Remove a region from a group, and unlink its table from the others."""
    for member in (database.region, *replicas_of(table)):
        there = regions_of(database).database(member)
        own = there.named(table.name)
        left = (
            {} if member == region else {r: v for r, v in replicas_of(own).items() if r != region}
        )
        set_replicas(there, table.name, left)


def drop(database: Database, name: str) -> None:
    """Drop a region's table, even if it is protected."""

    def work(session: Session) -> None:
        table = database.catalog.named(session, name)
        streams.stop(database, session, table)
        catalog.drop(session, table)
        database.catalog.drop(table)

    database.write(work)
    leftovers.clear(database)


def set_replicas(database: Database, name: str, replicas: dict[str, Any]) -> None:
    def work(session: Session) -> None:
        table = database.catalog.named(session, name)
        gone = {} if replicas else {"Consistency": None, "Witness": None}
        database.catalog.store(session, table, Replicas=replicas or None, **gone)

    database.write(work)


def answer(database: Database, table: TableDefinition) -> dict[str, Any]:
    with database.read() as session:
        current = database.catalog.named(session, table.name)
        told = describe.table(database, session, current, status="UPDATING")
    return {"TableDescription": told}
