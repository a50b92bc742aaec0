"""Backups, restores and point-in-time recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import orjson

from keyfold.engine import catalog, definitions, indexes
from keyfold.engine.database import Database
from keyfold.engine.storage import Session
from keyfold.engine.tables import Table, partition_of
from keyfold.errors import BackupNotFound, InvalidRestoreTime, TableAlreadyExists

RECOVERY_DAYS = 35
_DAY = 86_400
_KIND = "backup"
_ITEMS_PER_STEP = 500

# What a restored table does not take over from its source.
_LEFT_BEHIND = (
    "Stream",
    "LatestStream",
    "TimeToLive",
    "ExpiryNotedTo",
    "Recovery",
    "Tags",
    "RestoreSummary",
)


def create(database: Database, session: Session, table: Table, name: str) -> dict[str, Any]:
    """Copy the table's items; returns the backup's document."""
    now = database.clock.now()
    number = session.next_backup()
    session.back_up(table.id, number)
    count, size = session.count_backup(number)
    document: dict[str, Any] = {
        "Number": number,
        "Arn": f"{table.arn}/backup/{int(now * 1000):014d}-{number:08x}",
        "Name": name,
        "Created": now,
        "Size": size,
        "Count": count,
        "Definition": table.definition,
    }
    session.keep_document(_KIND, document["Arn"], orjson.dumps(document))
    return document


def find(session: Session, arn: str) -> dict[str, Any]:
    body = session.document(_KIND, arn)
    if body is None:
        raise BackupNotFound(f"Backup not found: {arn}")
    found: dict[str, Any] = orjson.loads(body)
    return found


def every(session: Session) -> list[dict[str, Any]]:
    """All backups, in order of their ARN."""
    return [orjson.loads(body) for _, body in session.documents(_KIND)]


def delete(session: Session, document: dict[str, Any]) -> None:
    session.drop_backup(document["Number"])
    session.drop_document(_KIND, document["Arn"])


def restore(
    database: Database,
    session: Session,
    request: dict[str, Any],
    source: dict[str, Any],
    fill: Callable[[int], None],
    summary: dict[str, Any],
) -> Table:
    """Make a table from an earlier one's definition; `fill` copies the items into it."""
    name = request["TargetTableName"]
    if database.catalog.find(session, name) is not None:
        raise TableAlreadyExists(f"Table already exists: {name}")
    definition = _restored(database, request, source, summary)
    table = catalog.create(session, definition)
    fill(table.id)
    _index_everything(session, table)
    return table


def _index_everything(session: Session, table: Table) -> None:
    row = 0
    while table.indexes and (items := session.items_after(table.id, row, _ITEMS_PER_STEP)):
        for row, place, size, body in items:
            item = orjson.loads(body)
            collected = size
            for index in table.indexes:
                entry = indexes.entry(index, place, item, size)
                if entry is not None:
                    session.insert_entry(table.id, index.number, entry.place, entry.size, row)
                    collected += entry.size if index.is_local else 0
            if table.local_indexes:
                session.grow_collection(table.id, partition_of(place), collected)


def _restored(
    database: Database, request: dict[str, Any], source: dict[str, Any], summary: dict[str, Any]
) -> dict[str, Any]:
    definition = {name: value for name, value in source.items() if name not in _LEFT_BEHIND}
    now = database.clock.now()
    definition.update(
        TableName=request["TargetTableName"],
        TableId=str(uuid4()),
        TableArn=database.arn(f"table/{request['TargetTableName']}"),
        CreationDateTime=now,
        DeletionProtectionEnabled=False,
        RestoreSummary={**summary, "RestoreInProgress": False},
    )
    billing = request.get("BillingModeOverride")
    if billing is not None:
        definition["BillingMode"] = billing
        definition["BillingChanged"] = now
    if request.get("ProvisionedThroughputOverride") is not None:
        definition["ProvisionedThroughput"] = request["ProvisionedThroughputOverride"]
    elif billing == "PAY_PER_REQUEST":
        definition.pop("ProvisionedThroughput", None)
    for member in ("GlobalSecondaryIndex", "LocalSecondaryIndex"):
        kept = request.get(f"{member}Override")
        if kept is not None:
            names = {index["IndexName"] for index in kept}
            stays = [i for i in definition.get(f"{member}es", ()) if i["IndexName"] in names]
            definition[f"{member}es"] = stays
    definition["AttributeDefinitions"] = definitions.used_attributes(definition)
    return definition


def earliest_moment(database: Database, table: Table) -> float:
    """The earliest time that the table can be restored to."""
    recovery = table.definition["Recovery"]
    since: float = recovery["Since"]
    oldest: float = database.clock.now() - recovery["Days"] * _DAY
    return max(since, oldest)


def check_moment(database: Database, table: Table, moment: float) -> None:
    if not earliest_moment(database, table) <= moment <= database.clock.now():
        raise InvalidRestoreTime(
            "The RestoreDateTime is not between EarliestRestorableDateTime and "
            "LatestRestorableDateTime"
        )


def trim(database: Database, session: Session) -> None:
    """Forget changes that are too old to be recovered."""
    for row in session.tables():
        table = Table.load(*row)
        if table.keeps_history:
            session.trim_history(table.id, earliest_moment(database, table))
