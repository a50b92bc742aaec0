"""Repair: drift put right, each fix refused if somebody wrote meanwhile.

A fix looks at the present state before it writes, so that a repair that was stopped can simply be
started again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from keyfold.design.keys import Ref
from keyfold.design.predicate import FieldComparison, FieldPath, Predicate, Test
from keyfold.errors import ConditionFailed, ItemError, NotFound, PlanError, VersionConflict
from keyfold.maintain.cascade import CascadeMaintainer
from keyfold.maintain.copied import CopyMaintainer
from keyfold.maintain.counter import CounterMaintainer
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.maintain.fact import HOLDER
from keyfold.maintain.feed.maintainers import Activities
from keyfold.maintain.feed.verifying import fix as fix_feed
from keyfold.maintain.pointer import PointerMaintainer
from keyfold.maintain.reconcile import bring, raw, unchanged
from keyfold.maintain.shards import AMOUNT, shard_ref, total
from keyfold.maintain.survey import wrong_attributes
from keyfold.maintain.unique import Unique
from keyfold.runtime.changes import Add, Set
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.expression import Expressions
from keyfold.runtime.flow import Call, Flow, Pause
from keyfold.runtime.intent import Marker, Update
from keyfold.runtime.writes import commit

OnFix = Callable[[Drift, str], None]


@dataclass
class Repaired:
    """What a repair did."""

    fixed: int = 0
    left: list[tuple[Drift, str]] = field(default_factory=list)
    """Drift that stays, with the reason."""


def repair(
    db: Db, report: DriftReport, *, per_second: float | None = None, on_fix: OnFix | None = None
) -> Repaired:
    """Put the drift of a report right."""
    return db.run(repairing(db.context, report.drifts, per_second, on_fix), "repair")


def repairing(
    context: Context,
    drifts: Iterable[Drift],
    per_second: float | None = None,
    on_fix: OnFix | None = None,
) -> Flow[Repaired]:
    """The same as a flow, for any handle."""
    done = Repaired()
    for drift in drifts:
        reason = yield from fix(context, drift, per_second, on_fix)
        if reason:
            done.left.append((drift, reason))
        else:
            done.fixed += 1
    return done


def fix(
    context: Context, drift: Drift, per_second: float | None = None, on_fix: OnFix | None = None
) -> Flow[str]:
    """Put one drift right; gives the reason where it stays."""
    reason = ""
    try:
        yield from _fix(context, drift)
    except (VersionConflict, ConditionFailed, NotFound):
        reason = "somebody wrote to it meanwhile; verify again"
    except (ItemError, PlanError) as problem:
        reason = str(problem)
    if on_fix is not None:
        on_fix(drift, reason)
    if per_second is not None:
        yield Pause(1.0 / per_second)
    return reason


def plan(drift: Drift) -> str:
    """What a repair would do, in words."""
    if not drift.repairable or (drift.kind == "unique" and drift.expected == "one holder"):
        return "needs a decision: no repair can know what is right"
    if drift.kind == "orphan":
        return f"delete what is left of {drift.subject}"
    if drift.kind in ("counter", "copied", "index"):
        return "set it to what is expected"
    if drift.expected is None:
        return "delete it"
    return "write it anew" if drift.found is None else "overwrite it with what is expected"


def _fix(context: Context, drift: Drift) -> Flow[None]:
    if plan(drift).startswith("needs"):
        raise PlanError(plan(drift))
    if drift.kind == "index":
        return (yield from _fix_index(context, drift))
    maintainer = _maintainer(context, drift)
    if isinstance(maintainer, PointerMaintainer):
        return (yield from _fix_copy(context, drift, maintainer))
    if isinstance(maintainer, Unique):
        return (yield from _fix_marker(context, drift, maintainer))
    if isinstance(maintainer, CounterMaintainer):
        return (yield from _fix_counter(context, drift, maintainer))
    if isinstance(maintainer, Activities):
        return (yield from fix_feed(context, maintainer.feed, drift))
    if isinstance(maintainer, CascadeMaintainer) and drift.subject is not None:
        yield from maintainer.sweep(context, drift.subject)
    elif isinstance(maintainer, CopyMaintainer) and drift.subject is not None:
        item = yield from raw(context, drift.subject)
        if item is not None:
            yield from maintainer.bring(context, drift.subject.entity.__spec__.decode(item))
    return None


def _maintainer(context: Context, drift: Drift) -> Any:
    wanted = f"{drift.structure} new" if drift.kind == "copied" else drift.structure
    for maintainer in context.design.maintainers:
        if maintainer.label == wanted:
            return maintainer
    raise PlanError(f"the design has no {drift.structure} any more")


def _fix_copy(context: Context, drift: Drift, maintainer: PointerMaintainer) -> Flow[None]:
    copy = _ref(maintainer.pointer, drift)
    if drift.subject is not None:
        yield from bring(context, maintainer, drift.subject, [copy])
        return
    # Nothing says which canonical it came from, so it goes if it still is what was seen.
    item = yield from raw(context, copy)
    if item is not None:
        fields = frozenset(maintainer.pointer.__spec__.fields)
        request = dict(unchanged(copy, item, fields).request)
        table = context.physical(maintainer.pointer.__table__.schema)
        yield Call("DeleteItem", {"TableName": table, **request})


def _fix_marker(context: Context, drift: Drift, unique: Unique) -> Flow[None]:
    table = unique.source.__table__
    if drift.subject is not None:
        item = yield from raw(context, drift.subject)
        present = None if item is None else drift.subject.entity.__spec__.decode(item)
        guard = unchanged(drift.subject, item, unique.fields)
        yield from commit(context, [guard, *unique.writes(None, present)])
        return
    delete = Marker(
        table,
        "Delete",
        {
            "Key": dict(drift.key),
            "ConditionExpression": "#holder = :holder",
            "ExpressionAttributeNames": {"#holder": HOLDER},
            "ExpressionAttributeValues": {":holder": {"M": drift.found}},
        },
    )
    holder = _WireRef(unique.source, drift.found)
    item = yield from raw(context, holder)
    if item is not None:
        value = unique.value(unique.source.__spec__.decode(item))
        if value is not None and unique.key(value) == drift.key:
            return
    yield from commit(context, [unchanged(holder, item, unique.fields), delete])


def _fix_counter(context: Context, drift: Drift, counter: CounterMaintainer) -> Flow[None]:
    holder = drift.subject
    if holder is None:
        raise PlanError("the item that holds the counter is gone; delete its shards by hand")
    if counter.declared.shards > 1:
        return (yield from _fix_shards(context, drift, counter, holder))
    path = FieldPath((counter.field,))
    condition: Predicate = (
        Test("missing", path) if drift.found is None else FieldComparison(path, "=", drift.found)
    )
    if not drift.found:
        condition = Test("missing", path) | FieldComparison(path, "=", 0)
    kind = counter.target.__spec__.fields[counter.field].kind
    value = int(drift.expected) if kind == "integer" else drift.expected
    yield from commit(
        context,
        [
            Update(
                holder,
                {counter.field: Set(value)},
                condition,
                counting=True,
                upsert=counter.declared.creates,
            )
        ],
    )
    return None


def _fix_shards(
    context: Context, drift: Drift, counter: CounterMaintainer, holder: Ref[Any]
) -> Flow[None]:
    if (yield from total(context, holder, counter.field)) != (drift.found or 0):
        raise VersionConflict(f"{counter.label} of {holder} moved meanwhile")
    first = shard_ref(holder, counter.field, 0)
    amount = cast("Decimal", drift.expected) - (drift.found or 0)
    yield from commit(context, [Update(first, {AMOUNT: Add(amount)}, counting=True, upsert=True)])


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
    sets, removes, tests = [], [], []
    for name, value in wrong.expected.items():
        placeholder = expressions.name(name)
        if value is None:
            removes.append(placeholder)
        else:
            sets.append(f"{placeholder} = {expressions.value(value)}")
    concerned = {spec.fields[f].attribute for p in spec.placements.values() for f in p.fields}
    for name in sorted(concerned | set(wrong.expected)):
        if name in spec.table.schema.key_attributes:
            continue
        placeholder = expressions.name(name)
        if name in item:
            tests.append(f"{placeholder} = {expressions.value(item[name])}")
        else:
            tests.append(f"attribute_not_exists({placeholder})")
    clauses = [f"SET {', '.join(sets)}"] if sets else []
    clauses += [f"REMOVE {', '.join(removes)}"] if removes else []
    yield Call(
        "UpdateItem",
        {
            "TableName": context.physical(spec.table.schema),
            "Key": drift.subject.wire(),
            "UpdateExpression": " ".join(clauses),
            "ConditionExpression": " AND ".join(tests),
            **expressions.placeholders(),
        },
    )


class _WireRef(Ref[Any]):
    """An address known by its wire key alone."""

    def wire(self) -> dict[str, Any]:
        return dict(self.values)


def _ref(entity: Any, drift: Drift) -> Ref[Any]:
    return _WireRef(entity, drift.key)
