"""Deletes what has expired: items, stream records, what features keep for a time, and leftovers."""

from __future__ import annotations

from functools import partial

from keyfold_engine.engine import leftovers, steps, streams, transactions, ttl
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition


def all_of(database: Database) -> int:
    """Delete all of it; returns the number of items."""
    steps.finish(database, partial(streams.trim, database))
    steps.finish(database, partial(_trim, database))
    database.write(lambda session: transactions.correct(database, session))
    deleted = ttl.sweep(database)
    steps.finish(database, leftovers.clear_some)
    return deleted


def _trim(database: Database, session: Session) -> bool:
    """Delete some of what features keep for a time; False when nothing is left."""
    for row in session.tables():
        table = TableDefinition.load(*row)
        if any(each.trim(database, session, table) for each in table.extensions):
            return True
    return False
