"""Backups, and what point-in-time recovery keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from keyfold.engine.storage import Session
from keyfold.engine.tables import TableDefinition
from keyfold.errors import BackupNotFound, InvalidRestoreTime

if TYPE_CHECKING:
    from keyfold.engine.database import Database

RECOVERY_DAYS = 35
_DAY = 86_400
_KIND = "backup"


def create(
    database: Database, session: Session, table: TableDefinition, name: str
) -> dict[str, Any]:
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


def exists(session: Session, arn: str) -> bool:
    return session.document(_KIND, arn) is not None


def every(session: Session) -> list[dict[str, Any]]:
    """All backups, in order of their ARN."""
    return [orjson.loads(body) for _, body in session.documents(_KIND)]


def delete(session: Session, document: dict[str, Any]) -> None:
    session.drop_backup(document["Number"])
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


def trim(database: Database, session: Session) -> None:
    """Forget changes that are too old to be recovered."""
    for row in session.tables():
        table = TableDefinition.load(*row)
        if table.keeps_history:
            session.trim_history(table.id, earliest_moment(database, table))
