"""Backups, and the history for point-in-time recovery."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import BackupNotFound, InvalidRestoreTime, RecoveryUnavailable
from keyfold_engine.features.backups import storage

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

RECOVERY_DAYS = 35
_DAY = 86_400
_KIND = "backup"
# Items may be large.
_ITEMS_PER_PART = 20
_TRIMMED_AT_ONCE = 100


def kept_by(table: TableDefinition) -> list[int]:
    """The numbers of a table's copies in progress."""
    numbers: list[int] = table.definition.get("Backups", [])
    return numbers


def keeps_history(table: TableDefinition) -> bool:
    """Whether changes are kept for point-in-time recovery."""
    return "Recovery" in table.definition


def check_history(table: TableDefinition) -> None:
    if not keeps_history(table):
        raise RecoveryUnavailable(f"Point in time recovery is not enabled for table '{table.name}'")


def begin(
    database: Database, session: Session, table: TableDefinition, name: str
) -> dict[str, Any]:
    """Begin a backup of the table as it is now; `advance` copies its items. Returns its document.

    Until it is complete, writes save the items they replace in it.
    """
    now = database.clock.now()
    number = begin_to_keep(database, session, table)
    document: dict[str, Any] = {
        "Number": number,
        "Arn": f"{table.arn}/backup/{int(now * 1000):014d}-{number:08x}",
        "Name": name,
        "Created": now,
        "Size": 0,
        "Count": 0,
        "After": "",
        "Definition": {k: v for k, v in table.definition.items() if k != "Backups"},
    }
    _keep(session, document)
    return document


def begin_to_keep(database: Database, session: Session, table: TableDefinition) -> int:
    """From here until `end_to_keep`, writes save the items they replace; returns the copy's
    number.
    """
    number = storage.next_backup(session)
    storage.create_backup(session, number)
    _set_backups(database, session, table, (*kept_by(table), number))
    return number


def end_to_keep(database: Database, session: Session, table: TableDefinition, number: int) -> None:
    _set_backups(database, session, table, [each for each in kept_by(table) if each != number])


def advance(database: Database, arn: str, session: Session) -> bool:
    """Copy the next items; False when the backup is complete or its table was deleted."""
    document = find(session, arn)
    if not is_unfinished(document):
        return False
    source = document["Definition"]
    table = database.catalog.load(session, source["TableName"])
    if table is None or table.definition["TableId"] != source["TableId"]:
        delete(session, document)
        return False
    number, after = document["Number"], b64decode(document["After"])
    copied = storage.back_up_after(session, table.id, number, after, _ITEMS_PER_PART)
    if copied is None:
        count, size = storage.back_up_rest(session, number, after)
        del document["After"]
        end_to_keep(database, session, table, number)
    else:
        last, count, size = copied
        document["After"] = b64encode(last).decode()
    document["Count"] += count
    document["Size"] += size
    _keep(session, document)
    return copied is not None


def is_unfinished(document: dict[str, Any]) -> bool:
    return "After" in document


def _set_backups(
    database: Database, session: Session, table: TableDefinition, numbers: Sequence[int]
) -> None:
    database.catalog.store(session, table, Backups=list(numbers) or None)


def _keep(session: Session, document: dict[str, Any]) -> None:
    session.keep_document(_KIND, document["Arn"], document)


def find(session: Session, arn: str) -> dict[str, Any]:
    found: dict[str, Any] | None = session.document(_KIND, arn)
    if found is None:
        raise BackupNotFound(f"Backup not found: {arn}")
    return found


def exists(session: Session, arn: str) -> bool:
    return session.document(_KIND, arn) is not None


def every(session: Session) -> list[dict[str, Any]]:
    """All backups, by ARN."""
    return [document for _, document in session.documents(_KIND)]


def delete(session: Session, document: dict[str, Any]) -> None:
    storage.drop_backup(session, document["Number"])
    session.drop_document(_KIND, document["Arn"])


def earliest_moment(database: Database, table: TableDefinition) -> float:
    """The earliest time that the table can be restored to."""
    recovery = table.definition["Recovery"]
    since: float = recovery["Since"]
    oldest: float = database.horizon.now() - recovery["Days"] * _DAY
    return max(since, oldest)


def check_moment(database: Database, table: TableDefinition, moment: float) -> None:
    if not earliest_moment(database, table) <= moment <= database.clock.now():
        raise InvalidRestoreTime(
            "The RestoreDateTime is not between EarliestRestorableDateTime and "
            "LatestRestorableDateTime"
        )


def trim(database: Database, session: Session, table: TableDefinition) -> bool:
    """Delete some changes too old for recovery; False when none is left."""
    # A copy in progress may still need changes that are otherwise too old.
    if not keeps_history(table) or kept_by(table):
        return False
    earliest = earliest_moment(database, table)
    return storage.trim_history(session, table.id, earliest, _TRIMMED_AT_ONCE) > 0
