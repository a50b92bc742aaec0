"""Long work in steps, each its own commit, so that others wait for one step at most."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from keyfold_engine.engine.storage import Session

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

STEP_SECONDS = 0.004

Part = Callable[[Session], bool]
"""A small part of the work; False after the last."""


def take(database: Database, part: Part) -> bool:
    """Commit as many parts as fit into a short time; False after the last."""

    def work(session: Session) -> bool:
        end = perf_counter() + STEP_SECONDS
        while part(session):
            if perf_counter() > end:
                return True
        return False

    is_unfinished = database.write(work)
    if is_unfinished:
        database.commits.let_writers_run()
    return is_unfinished


def finish(database: Database, part: Part) -> None:
    """Take steps until the work is done."""
    while take(database, part):
        pass
