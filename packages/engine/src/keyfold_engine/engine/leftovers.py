"""Leftovers of deletions: renamed trees and free pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from keyfold_engine.engine import steps
from keyfold_engine.engine.storage import Session

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

_STEPS_AT_ONCE = 10
_ROWS = 50
_PAGES = 100


def clear(database: Database) -> None:
    """Clear what a deletion left: small amounts at once, the rest in the background."""
    for _ in range(_STEPS_AT_ONCE):
        if not steps.take(database, clear_some):
            return
    database.backfills.run("leftovers", partial(steps.take, database, clear_some))


def clear_some(session: Session) -> bool:
    """Clear a part of what is left; False when nothing is."""
    return session.clear_some(_ROWS) or session.give_back(_PAGES) > 0
