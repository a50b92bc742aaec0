"""Verification: compares what canonical items say must hold with what is stored.

One scan records both sides. Differences are checked again before they are reported, so writes
during the scan are not drift. Stream structures are only right once the stream is read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from keyfold.errors import PlanError, Undecodable
from keyfold.maintain.address import raw
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.maintain.row_log import RowLog, Suspect
from keyfold.maintain.structure import Causes
from keyfold.maintain.verify_scan import FactSurvey, OnDrift, Progress, Structures, wrong_attributes
from keyfold.runtime.arguments import several
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow, Invoke
from keyfold.runtime.handle import checked_handle

Settle = Callable[[], object]

SETTLE_SECONDS: Final = 3600.0


def verify(
    db: Db,
    *,
    only: Iterable[str] = (),
    limit: int = 10_000,
    progress: Progress | None = None,
    settle: Settle | None = None,
) -> DriftReport:
    """Verify all structures, or those with these labels; see `labels`.

    `settle` waits until the streams are read up to now, as `Consumer(db).catch_up` does. It is
    called before the first check and again before differences are checked.
    """
    checked_handle(db, Db, "await db.run(verification(db.context))")
    flow = verification(db.context, only=only, limit=limit, progress=progress, settle=settle)
    return db.run(flow, "verify")


def labels(context: Context) -> list[str]:
    """The names of a design's structures, as `pointer HangoutPointer`."""
    return Structures(context.design).labels


def structures_of(context: Context, only: Iterable[str]) -> Structures:
    """The structures with these labels, or all of them."""
    wanted = frozenset(
        (only,) if isinstance(only, str) else map(str, several(only, "verify", "labels"))
    )
    unknown = wanted - set(labels(context))
    if unknown:
        raise PlanError(
            f"{context.design.name} has no {', '.join(sorted(unknown))}; it has "
            f"{', '.join(labels(context))}"
        )
    return Structures(context.design, wanted)


def verification(
    context: Context,
    *,
    only: Iterable[str] = (),
    limit: int = 10_000,
    progress: Progress | None = None,
    settle: Settle | None = None,
) -> Flow[DriftReport]:
    """`verify` as a flow, for any handle."""
    structures, report = structures_of(context, only), DriftReport(limit)

    def add(drift: Drift) -> Flow[None]:
        report.add(drift)
        yield from ()

    yield from examine(context, structures, report, add, progress, settle)
    return report


def examine(
    context: Context,
    structures: Structures,
    report: DriftReport,
    found: OnDrift,
    progress: Progress | None = None,
    settle: Settle | None = None,
) -> Flow[None]:
    """Check everything and report each drift."""
    log, causes = RowLog(), Causes()
    audits = [one.audit(context) for one in structures.audited]

    def suspect(drift: Drift) -> Flow[None]:
        if (yield from _still_wrong(context, drift)):
            yield from found(drift)

    def again(one: Suspect) -> Flow[None]:
        try:
            drift = yield from structures.kept[one.structure].look(context, one, causes)
        except Undecodable:
            return  # It is reported itself.
        if drift is not None:
            yield from found(drift)

    try:
        yield from _settle(settle)
        survey = FactSurvey(structures, log, causes, audits)
        report.scanned = yield from survey.scan(context, suspect, progress)
        report.undeclared, report.strangers = survey.undeclared, survey.strangers
        report.foreign, report.elsewhere = survey.foreign, survey.elsewhere
        comparisons = structures.comparisons
        # Numbers first: what shows a wrong number is not drift of its own.
        with_numbers = yield from _steady_numbers(context, structures, log, causes, report, settle)
        for one in with_numbers:
            yield from again(one)
        if settle is not None and next(log.wrong_facts(comparisons), None) is not None:
            yield from _settle(settle)
        for one in log.wrong_facts(comparisons):
            yield from again(one)
        for audit in audits:
            yield from audit.wrong(context, found)
    finally:
        report.moving, report.late = causes.moving, causes.late
        log.close()
        for audit in audits:
            audit.close()


def _steady_numbers(
    context: Context,
    structures: Structures,
    log: RowLog,
    causes: Causes,
    report: DriftReport,
    settle: Settle | None,
) -> Flow[list[Suspect]]:
    """Numbers that differ by the same amount in two scans, and those recounted individually; others
    were changing.

    For stream structures the expected number must not have changed either: a stream that lags by
    the same amount twice is not drift.
    """
    later, steady = RowLog(), list[Suspect]()
    try:
        differing = False
        for one in log.wrong_amounts(structures.comparisons):
            report.differing.add((one.structure, one.address))
            if structures.kept[one.structure].recounts and one.holder is not None:
                steady.append(one)
            else:
                later.remember(one)
                differing = True
        if not differing:
            return steady
        yield from _settle(settle)
        survey = FactSurvey(structures, later, causes, numbers_alone=True)
        yield from survey.scan(context, lambda _: _nothing())
        for one in later.wrong_amounts(structures.comparisons):
            if structures.kept[one.structure].recounts and one.holder is not None:
                continue
            late = structures.kept[one.structure].sync == "stream"
            if _is_steady(one, later, late=late):
                steady.append(one)
            else:
                causes.moving += not late
                if late:
                    causes.late.add((one.structure, one.address))
        return steady
    finally:
        later.close()


def _is_steady(one: Suspect, log: RowLog, *, late: bool) -> bool:
    before = log.earlier_numbers(one)
    if before is None or one.said is None:
        return False
    said, found = before
    return said - found == one.said - (one.found or 0) and not (late and said != one.said)


def _settle(settle: Settle | None) -> Flow[None]:
    if settle is not None:
        yield Invoke(settle, SETTLE_SECONDS, "reading the streams up to now")


def _nothing() -> Flow[None]:
    yield from ()


def _still_wrong(context: Context, drift: Drift) -> Flow[bool]:
    if drift.subject is None:
        return True
    item: dict[str, Any] | None = yield from raw(context, drift.subject)
    if item is None:
        return False
    spec = drift.subject.entity.__spec__
    try:
        return wrong_attributes(spec, spec.decode(item), item) is not None
    except Undecodable:
        return True
