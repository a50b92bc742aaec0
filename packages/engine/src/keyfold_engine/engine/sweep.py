"""Deletes what has expired: items, stream records, finished backups and leftovers."""

from __future__ import annotations

from functools import partial

from keyfold_engine.engine import backups, leftovers, steps, streams, transactions, ttl
from keyfold_engine.engine.database import Database


def all_of(database: Database) -> int:
    """Delete all of it; returns the number of items."""
    steps.finish(database, partial(streams.trim, database))
    steps.finish(database, partial(backups.trim, database))
    database.write(lambda session: transactions.correct(database, session))
    deleted = ttl.sweep(database)
    steps.finish(database, leftovers.clear_some)
    return deleted
