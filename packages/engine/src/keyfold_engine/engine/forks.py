"""Files that are open during a fork: the child must not use them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from weakref import WeakSet

from keyfold_engine.engine.storage import Session

if TYPE_CHECKING:
    from keyfold_engine.engine.commits import Commits

open_here: WeakSet[Commits] = WeakSet()
"""The files of this process."""
left_behind: list[Session] = []
"""A parent's sessions, neither used nor closed."""


def _abandon_connections() -> None:
    for commits in list(open_here):
        commits.abandon_connections()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_connections)
