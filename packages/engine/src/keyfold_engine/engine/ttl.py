"""Time to live: expired items are deleted by the service, with stream records."""

from __future__ import annotations

from functools import partial

import orjson

from keyfold_engine.engine import write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.write import ItemWrite
from keyfold_engine.limits import TTL_MAX_AGE_SECONDS

SERVICE = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}

_ITEMS_PER_COMMIT = 200
# Items may be large, so a step holds few of them in memory.
_ITEMS_PER_READ = 20


def enable(session: Session, table: TableDefinition, attribute: str) -> TableDefinition:
    """Start recording expiry: writes do it from now on, the next sweep for existing items."""
    session.index_expiry(table.id)
    return table.with_changes(TimeToLive=attribute, ExpiryNotedTo=0)


def disable(table: TableDefinition) -> TableDefinition:
    """Stop expiry; recorded values are discarded, and recorded again when it is enabled."""
    return table.with_changes(TimeToLive=None, ExpiryNotedTo=None)


def sweep(database: Database) -> int:
    """Delete every expired item of every table; returns how many."""
    with database.read() as session:
        names = [TableDefinition.load(*row).name for row in session.tables()]
    deleted = 0
    for name in names:
        while database.write(partial(_note, database, name)):
            pass
        while count := database.write(partial(_delete, database, name)):
            deleted += count
    return deleted


def _note(database: Database, name: str, session: Session) -> bool:
    """Record the expiry of the next existing items; False when all have it.

    Each step stores its progress, so a crash needs no cleanup.
    """
    table = database.catalog.find(session, name)
    if table is None or table.expiry_noted_to is None:
        return False
    noted_to: int | None = table.expiry_noted_to
    for _ in range(0, _ITEMS_PER_COMMIT, _ITEMS_PER_READ):
        if noted_to is not None:
            noted_to = _note_some(session, table, noted_to)
    database.catalog.store(session, table, ExpiryNotedTo=noted_to)
    return True


def _note_some(session: Session, table: TableDefinition, after_row: int) -> int | None:
    """The row to continue after; None after the last."""
    items = session.expiries_after(table.id, after_row, _ITEMS_PER_READ)
    for row, noted, body in items:
        expires = table.expiry(orjson.loads(body))
        if expires != noted:
            session.set_expiry(table.id, row, expires)
    return items[-1][0] if items else None


def _delete(database: Database, name: str, session: Session) -> int:
    table = database.catalog.find(session, name)
    if table is None or table.ttl is None or table.expiry_noted_to is not None:
        return 0
    now = int(database.horizon.now())
    # An expiry more than five years ago is considered a mistake and ignored.
    expired = session.expired(table.id, now, now - TTL_MAX_AGE_SECONDS, _ITEMS_PER_COMMIT)
    for place in expired:
        write.execute(database, session, ItemWrite(table, place, write.deletion, identity=SERVICE))
    return len(expired)
