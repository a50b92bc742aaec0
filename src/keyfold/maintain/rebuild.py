"""Rebuild: a structure made anew while the application goes on.

It looks and repairs in rounds until nothing differs. Writers are never held up; what they change
meanwhile is refused by the fix's condition and met in the next round.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from keyfold.errors import VerifyFailed
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.maintain.repair import LEFT, OVERTAKEN, OnFix, fix
from keyfold.maintain.survey import Progress, Structures
from keyfold.maintain.verify import Settle, examine, structures_of, verify
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow

ROUNDS: Final = 10


def rebuild(
    db: Db,
    structures: Iterable[str] = (),
    *,
    settle: Settle | None = None,
    per_second: float | None = None,
    progress: Progress | None = None,
    on_fix: OnFix | None = None,
) -> DriftReport:
    """Make structures right, all of them or those with these labels; gives what is left.

    `settle` waits until the streams are read up to now, as `Consumer(db).catch_up` does:
    structures that follow a stream need it.
    """
    structures = (structures,) if isinstance(structures, str) else tuple(structures)
    chosen = structures_of(db.context, structures)
    for _ in range(ROUNDS):
        flow = _round(db.context, chosen, per_second, progress, on_fix, settle)
        unsettled, left = db.run(flow, "rebuild")
        if not unsettled:
            break
    else:
        # The last round wrote what it had seen, and writers went on: look once more.
        left = verify(db, only=structures, settle=settle)
    if left.moving or any(drift.repairable or drift.decision for drift in left.drifts):
        raise VerifyFailed(
            f"after all rounds there still is drift ({left}); it changes faster than it is "
            "rebuilt, or needs a decision: `keyfold verify` shows it"
        )
    return left


def _round(
    context: Context,
    structures: Structures,
    per_second: float | None,
    progress: Progress | None,
    on_fix: OnFix | None,
    settle: Settle | None,
) -> Flow[tuple[int, DriftReport]]:
    """Repair whatever differs, as it is found; gives how much is to be looked at again, because
    it was written or somebody else wrote it meanwhile, and what stays."""
    left, unsettled = DriftReport(), 0

    def on_drift(drift: Drift) -> Flow[None]:
        nonlocal unsettled
        outcome = yield from fix(context, drift, per_second, on_fix)
        if outcome.startswith(LEFT):
            left.add(drift)
        unsettled += outcome == OVERTAKEN or not outcome.startswith(LEFT)

    yield from examine(context, structures, left, on_drift, progress, settle)
    return unsettled + left.moving, left
