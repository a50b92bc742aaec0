"""Restores: a table filled from a backup, or from another table's past state.

A restore proceeds in steps. Each is its own commit and stores the progress, so that other writers
wait for one step at most, and an interrupted restore continues when the file is opened again. Until
the last step the table is CREATING, and cannot be used.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from keyfold_engine.engine import catalog, indexes
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import TableAlreadyExists, TableNotFound
from keyfold_engine.features.backups import copies as backups
from keyfold_engine.features.backups import storage
from keyfold_engine.features.backups.restored_definition import restored_definition

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

_READS_PER_STEP = 25
# Items may be large, so a step holds few of them in memory.
_ITEMS_PER_READ = 20


def from_backup(arn: str) -> dict[str, Any]:
    """The source of a restore from a backup."""
    return {"Backup": arn, "After": ""}


def from_past(table: TableDefinition, moment: float) -> dict[str, Any]:
    """The source of a restore from a table's past state."""
    return {"Table": table.name, "Id": table.id, "Moment": moment, "After": ""}


def begin(
    database: Database,
    session: Session,
    request: dict[str, Any],
    source: dict[str, Any],
    origin: dict[str, Any],
    summary: dict[str, Any],
) -> TableDefinition:
    """Create an empty table from an earlier definition; `finish` fills it."""
    name = request["TargetTableName"]
    if database.catalog.find(session, name) is not None:
        raise TableAlreadyExists(f"Table already exists: {name}")
    definition = restored_definition(database, request, source)
    definition["RestoreSummary"] = {**summary, "RestoreInProgress": True}
    definition["RestoredFrom"] = origin
    table = catalog.create(session, definition)
    database.catalog.remember(table)
    return table


def finish(database: Database, name: str) -> None:
    """Fill the table, step by step."""
    while database.write(partial(advance, database, name)):
        database.commits.let_writers_run()
    check_restored(database, name)


def check_restored(database: Database, name: str) -> None:
    with database.read() as session:
        if database.catalog.find(session, name) is None:
            raise TableNotFound(
                f"Table {name} was not restored: what it was restored from has been deleted"
            )


def advance(database: Database, name: str, session: Session) -> bool:
    """Take the next step of a restore; False after the last."""
    table = database.catalog.load(session, name)
    if table is None or table.restored_from is None:
        return False
    further: dict[str, Any] | None = table.restored_from
    if _is_gone(session, table.restored_from):
        catalog.drop(session, table)
        database.catalog.drop(table)
        return False
    for _ in range(_READS_PER_STEP):
        if further is not None:
            further = _copied(session, table, further)
    summary = table.definition["RestoreSummary"]
    database.catalog.store(
        session,
        table,
        RestoredFrom=further,
        RestoreSummary={**summary, "RestoreInProgress": further is not None},
    )
    return further is not None


def _is_gone(session: Session, origin: dict[str, Any]) -> bool:
    """Whether the source was deleted meanwhile."""
    if "Backup" in origin:
        return not backups.exists(session, origin["Backup"])
    source = session.table(origin["Table"])
    return source is None or source[0] != origin["Id"] or "Recovery" not in orjson.loads(source[1])


def _copied(
    session: Session, table: TableDefinition, origin: dict[str, Any]
) -> dict[str, Any] | None:
    """Copy the next items; returns where to continue, or None after the last."""
    if "Backup" in origin:
        return _copy_backup(session, table, origin)
    if "Changes" in origin:
        return _copy_changed(session, table, origin)
    return _copy_past_items(session, table, origin)


def _copy_backup(
    session: Session, table: TableDefinition, origin: dict[str, Any]
) -> dict[str, Any] | None:
    number = backups.find(session, origin["Backup"])["Number"]
    rows = storage.backup_after(session, number, b64decode(origin["After"]), _ITEMS_PER_READ)
    for place, size, body in rows:
        _store(session, table, place, size, body)
    if len(rows) < _ITEMS_PER_READ:
        return None
    return {**origin, "After": b64encode(rows[-1][0]).decode()}


def _copy_past_items(
    session: Session, table: TableDefinition, origin: dict[str, Any]
) -> dict[str, Any]:
    """The items that exist now, each in its past state."""
    source, moment = origin["Id"], origin["Moment"]
    rows = session.items_from(source, b64decode(origin["After"]), _ITEMS_PER_READ)
    for place, size, body in rows:
        past = storage.past_item(session, source, moment, place)
        if past is None:
            _store(session, table, place, size, body)
        elif past[1] is not None:
            _store(session, table, place, *past)
    if len(rows) < _ITEMS_PER_READ:
        return {**origin, "Changes": 0}
    return {**origin, "After": b64encode(rows[-1][0]).decode()}


def _copy_changed(
    session: Session, table: TableDefinition, origin: dict[str, Any]
) -> dict[str, Any] | None:
    """The items that existed then and were deleted since, from the history."""
    source, moment = origin["Id"], origin["Moment"]
    changes = storage.changes_after(session, source, moment, origin["Changes"], _ITEMS_PER_READ)
    for _sequence, place in changes:
        past = storage.past_item(session, source, moment, place)
        if past is not None and past[1] is not None and session.find(table.id, place) is None:
            _store(session, table, place, *past)
    return {**origin, "Changes": changes[-1][0]} if len(changes) == _ITEMS_PER_READ else None


def _store(session: Session, table: TableDefinition, place: bytes, size: int, body: bytes) -> None:
    row = session.insert(table.id, place, size, None, body)
    indexes.enter(session, table, row, place, size, body)
