"""Time to live: expired items are deleted by the service, and the stream says so."""

from __future__ import annotations

from functools import partial

from keyfold.engine import write
from keyfold.engine.database import Database
from keyfold.engine.storage import Session
from keyfold.engine.tables import Table
from keyfold.engine.write import Write
from keyfold.limits import TTL_MAX_AGE_SECONDS

SERVICE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

_ITEMS_PER_COMMIT = 200
_PAGES_GIVEN_BACK = 10_000


def sweep(database: Database) -> int:
    """Delete every expired item of every table; returns how many there were."""
    with database.read() as session:
        names = [Table.load(*row).name for row in session.tables()]
    deleted = 0
    for name in names:
        work = partial(_sweep, database, name)
        while count := database.write(work):
            deleted += count
    database.write(lambda session: session.give_back(_PAGES_GIVEN_BACK))
    return deleted


def _sweep(database: Database, name: str, session: Session) -> int:
    table = database.catalog.find(session, name)
    if table is None or table.ttl is None:
        return 0
    now = int(database.clock.now())
    # An expiry of more than five years ago is taken for a mistake and left alone.
    expired = session.expired(table.id, now, now - TTL_MAX_AGE_SECONDS, _ITEMS_PER_COMMIT)
    for place in expired:
        prepared = write.prepare(session, Write(table, place, write.deletion, identity=SERVICE))
        write.store(database, session, prepared)
    return len(expired)


def enable(session: Session, table: Table, attribute: str) -> Table:
    """Note the expiry of the items that are there; writes note it from now on."""
    enabled = table.with_changes(TimeToLive=attribute)
    session.index_expiry(table.id)
    row = 0
    while items := session.items_after(table.id, row, _ITEMS_PER_COMMIT):
        for row, _place, _size, body in items:
            expires = enabled.expiry_of_body(body)
            if expires is not None:
                session.set_expiry(table.id, row, expires)
    return enabled


def disable(session: Session, table: Table) -> Table:
    session.forget_expiry(table.id)
    return table.with_changes(TimeToLive=None)
