"""Rebuild: a structure made anew while the application goes on.

It verifies and repairs in rounds until nothing differs. Writers are never held up; what they change
meanwhile is refused by the fix's condition and met in the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from keyfold.errors import VerifyFailed
from keyfold.maintain.drift import REPAIRABLE, Report
from keyfold.maintain.repair import OnFix, repair
from keyfold.maintain.survey import Progress
from keyfold.maintain.verify import verify
from keyfold.runtime.db import Db

ROUNDS: Final = 10


def rebuild(
    db: Db,
    structures: Iterable[str] = (),
    *,
    settle: Callable[[], object] | None = None,
    per_second: float | None = None,
    progress: Progress | None = None,
    on_fix: OnFix | None = None,
) -> Report:
    """Make structures right, all of them or those with these labels; gives the last report.

    `settle` reads the streams to their end before each look, as `Consumer(db).drain` does:
    structures that follow a stream need it.
    """
    wanted = tuple(structures)
    report = Report()
    for _ in range(ROUNDS):
        if settle is not None:
            settle()
        report = verify(db, only=wanted, progress=progress)
        if not report.counts.keys() & REPAIRABLE:
            return report
        repair(db, report, per_second=per_second, on_fix=on_fix)
    raise VerifyFailed(
        f"after {ROUNDS} rounds there still is drift ({report}); the structures change faster than "
        "they are rebuilt, or need a decision: `keyfold verify` shows them"
    )
