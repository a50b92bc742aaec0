"""Repairs drift; each fix is refused if the item changed meanwhile.

A fix reads the current state before it writes, so an interrupted repair can simply be restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import (
    ConditionFailed,
    ItemError,
    NotFound,
    PlanError,
    Undecodable,
    VersionConflict,
)
from keyfold.maintain.address import WireRef, raw
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.maintain.structure import Audited, KeptStructure
from keyfold.maintain.verify_scan import wrong_attributes
from keyfold.runtime.arguments import several
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.expression import Clauses, Expressions
from keyfold.runtime.flow import Call, Flow, Pause
from keyfold.runtime.handle import checked_handle

FIXED: Final = "fixed"
RIGHT: Final = "already correct"
LEFT: Final = "left: "
OVERTAKEN: Final = f"{LEFT}it was changed in the meantime; verify again"
MOST_COMPARED: Final = 250
_WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem")

Quarantine = Callable[[str, dict[str, Any]], None]
"""Stores an undecodable item, with its table's name, before it is deleted there."""
OnFix = Callable[[Drift, str], None]
"""Called with each drift and its result: `fixed`, `already correct`, or `left: ` and the reason."""


@dataclass
class Repaired:
    """The result of a repair."""

    fixed: int = 0
    right: int = 0
    """Drift that was already gone: another fix or writer had corrected it."""
    left: list[tuple[Drift, str]] = field(default_factory=list)
    """Remaining drift, with the reason."""


def repair(
    db: Db,
    report: DriftReport,
    *,
    per_second: float | None = None,
    on_fix: OnFix | None = None,
    quarantine: Quarantine | None = None,
) -> Repaired:
    """Repair the drift of a report.

    `quarantine` stores undecodable items, which are then deleted; without it they stay.
    """
    if not isinstance(report, DriftReport):
        raise PlanError(f"{report!r} is not a report; pass the result of verify(db)")
    checked_handle(db, Db, "await db.run(repairing(db.context, report.drifts))")
    flow = repairing(db.context, report.drifts, per_second, on_fix, quarantine)
    return db.run(flow, "repair")


def repairing(
    context: Context,
    drifts: Iterable[Drift],
    per_second: float | None = None,
    on_fix: OnFix | None = None,
    quarantine: Quarantine | None = None,
) -> Flow[Repaired]:
    """`repair` as a flow, for any handle."""
    done = Repaired()
    for drift in map(checked_drift, several(drifts, "repairing", "drifts")):
        outcome = yield from fix(context, drift, per_second, on_fix, quarantine)
        if outcome.startswith(LEFT):
            done.left.append((drift, outcome.removeprefix(LEFT)))
        elif outcome == FIXED:
            done.fixed += 1
        else:
            done.right += 1
    return done


def fix(
    context: Context,
    drift: Drift,
    per_second: float | None = None,
    on_fix: OnFix | None = None,
    quarantine: Quarantine | None = None,
) -> Flow[str]:
    """Repair one drift; returns the result."""
    if per_second is not None and per_second <= 0:
        raise PlanError(f"per_second must be greater than 0, not {per_second}")
    try:
        if drift.kind == "undecodable" and quarantine is not None:
            written = yield from _quarantine(context, drift, quarantine)
        else:
            written = yield from _fix(context, drift)
        outcome = FIXED if written else RIGHT
    except (VersionConflict, ConditionFailed, NotFound):
        outcome = OVERTAKEN
    except (ItemError, PlanError) as problem:
        outcome = f"{LEFT}{problem}"
    if on_fix is not None:
        on_fix(drift, outcome)
    if per_second is not None:
        yield Pause(1.0 / per_second)
    return outcome


def checked_drift(given: Drift) -> Drift:
    """The argument, checked to be a drift."""
    if isinstance(given, Drift):
        return given
    raise PlanError(f"{given!r} is not a drift; pass one of verify(db).drifts")


def plan(drift: Drift) -> str:
    """What a repair would do, in words."""
    if not checked_drift(drift).repairable:
        if drift.kind == "undecodable":
            return (
                "needs a decision: fix the item or the design, "
                "or move the item to a file (--quarantine)"
            )
        why = f": {drift.decision}" if drift.decision else ""
        return f"needs a decision: the correct value is unknown{why}"
    if drift.remedy:
        return drift.remedy
    if drift.expected is None:
        return "delete it"
    return "write it again" if drift.found is None else "overwrite it with the expected values"


def _fix(context: Context, drift: Drift) -> Flow[bool]:
    """Write what corrects a drift; returns whether a write was needed."""
    if not drift.repairable:
        raise PlanError(plan(drift))
    flow = (
        _fix_index(context, drift)
        if drift.kind == "index"
        else _structure(context, drift).fix(context, drift)
    )
    written = False
    step: Callable[[], Any] = partial(next, flow)
    while True:
        try:
            effect = step()
        except StopIteration:
            return written
        written |= isinstance(effect, Call) and effect.operation in _WRITES
        try:
            step = partial(flow.send, (yield effect))
        except Exception as problem:
            step = partial(flow.throw, problem)


def _quarantine(context: Context, drift: Drift, quarantine: Quarantine) -> Flow[bool]:
    """Delete an item that still cannot be decoded, after storing it elsewhere."""
    spec = context.design.entities[drift.structure].__spec__
    ref = WireRef(spec.entity, drift.key)
    item = yield from raw(context, ref)
    if item is None or _is_readable(spec, item):
        return False
    if len(item) > MOST_COMPARED:
        raise PlanError(
            f"it has {len(item)} attributes; no condition can hold more than {MOST_COMPARED}"
        )
    quarantine(drift.table, item)
    expressions = Expressions()
    same = expressions.unchanged(item, item)
    yield Call(
        "DeleteItem",
        {
            "TableName": context.physical(spec.table.schema),
            "Key": ref.wire(),
            "ConditionExpression": " AND ".join(same),
            **expressions.placeholders(),
        },
    )
    return True


def _is_readable(spec: EntitySpec, item: dict[str, Any]) -> bool:
    try:
        spec.decode(item)
    except Undecodable:
        return False
    return True


def _structure(context: Context, drift: Drift) -> KeptStructure | Audited:
    for one in context.design.maintainers:
        if one.owner == drift.structure and isinstance(one, KeptStructure | Audited):
            return one
    raise PlanError(f"the design no longer has {drift.structure}")


def _fix_index(context: Context, drift: Drift) -> Flow[None]:
    assert drift.subject is not None, "an index drift knows its item"
    item = yield from raw(context, drift.subject)
    if item is None:
        return
    spec = drift.subject.entity.__spec__
    wrong = wrong_attributes(spec, spec.decode(item), item)
    if wrong is None:
        return
    expressions = Expressions()
    clauses = Clauses(expressions)
    for name, value in wrong.expected.items():
        clauses.attribute(name, value)
    concerned = {spec.fields[f].attribute for p in spec.placements.values() for f in p.fields}
    concerned |= wrong.expected.keys()
    tests = expressions.unchanged(
        sorted(concerned.difference(spec.table.schema.key_attributes)), item
    )
    yield Call(
        "UpdateItem",
        {
            "TableName": context.physical(spec.table.schema),
            "Key": drift.subject.wire(),
            "UpdateExpression": clauses.text(),
            "ConditionExpression": " AND ".join(tests),
            **expressions.placeholders(),
        },
    )
