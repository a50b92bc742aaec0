"""Rebuilds structures while the application continues.

It verifies and repairs in rounds until nothing differs. Writers are never blocked; a concurrent
change fails the fix's condition and is handled in the next round.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from keyfold.errors import VerifyFailed
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.maintain.repair import LEFT, OVERTAKEN, fix
from keyfold.maintain.verify import Settle, examine, structures_of, verify
from keyfold.maintain.verify_scan import Progress, Structures
from keyfold.runtime.arguments import several
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow
from keyfold.runtime.handle import checked_handle

ROUNDS: Final = 10


class Unsettled(VerifyFailed):
    """Structures changed faster than they were rebuilt."""


def rebuild(
    db: Db,
    structures: Iterable[str] = (),
    *,
    settle: Settle | None = None,
    per_second: float | None = None,
    progress: Progress | None = None,
) -> DriftReport:
    """Rebuild all structures, or those with these labels; returns what is left.

    `settle` waits until the streams are read up to now, as `Consumer(db).catch_up` does; structures
    that follow a stream need it.
    """
    if not isinstance(structures, str):
        structures = tuple(several(structures, "rebuild", "labels"))
    checked_handle(db, Db, "open the design with design.open(...)")
    chosen = structures_of(db.context, structures)
    doubtful: set[tuple[int, bytes]] | None = None
    late: set[tuple[int, bytes]] = set()
    for _ in range(ROUNDS):
        flow = _round(db.context, chosen, per_second, progress, settle)
        unsettled, left = db.run(flow, "rebuild")
        # A number that was right once only waits for the stream, until it is corrected.
        known = left.differing if doubtful is None else doubtful & left.differing
        late = known & left.late if settle is not None else late
        doubtful = known | (left.differing - left.late)
        if not unsettled and not late:
            break
    else:
        # The last round wrote what it had seen while writers continued: check once more.
        left = verify(db, only=structures, settle=settle)
        late &= left.late
    if any(drift.decision for drift in left.drifts):
        raise VerifyFailed(f"drift remains that needs a decision ({left}); run `keyfold verify`")
    if left.moving or late or any(drift.repairable for drift in left.drifts):
        raise Unsettled(
            f"drift remains after {ROUNDS} rounds ({left}): it changes faster than it is rebuilt. "
            "Try again, or run `keyfold verify` to see it"
        )
    return left


def _round(
    context: Context,
    structures: Structures,
    per_second: float | None,
    progress: Progress | None,
    settle: Settle | None,
) -> Flow[tuple[int, DriftReport]]:
    """Repair whatever differs; returns how much to check again, because it was repaired or
    changed concurrently, and what remains.
    """
    left, unsettled = DriftReport(), 0

    def on_drift(drift: Drift) -> Flow[None]:
        nonlocal unsettled
        outcome = yield from fix(context, drift, per_second)
        if outcome.startswith(LEFT):
            left.add(drift)
        unsettled += outcome == OVERTAKEN or not outcome.startswith(LEFT)

    yield from examine(context, structures, left, on_drift, progress, settle)
    return unsettled + left.moving, left
