"""Bulk writes: thousands of intents in order, in groups, each with all its consequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from keyfold.design.entity import Entity
from keyfold.errors import (
    AlreadyExists,
    ItemError,
    KeyfoldError,
    OperationError,
    PlanError,
    TransactionCanceled,
)
from keyfold.runtime.arguments import several
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Delete, Put, Update
from keyfold.runtime.reads import find
from keyfold.runtime.transaction import create
from keyfold.runtime.writes import commit

AT_ONCE = 10
_OF_ONE_WRITE = (ItemError, PlanError, TransactionCanceled, OperationError)

BulkWrite = Entity | Put[Any] | Update[Any] | Delete[Any]


@dataclass(frozen=True)
class BulkFailure:
    """A write that failed: its position in the list, the intent, and the error."""

    place: int
    write: BulkWrite
    problem: KeyfoldError


@dataclass
class BulkReport:
    """The progress of a bulk write. Resume at `position`: everything before it is settled."""

    position: int = 0
    written: int = 0
    present: int = 0
    """Creates that found the same item already stored."""
    failures: list[BulkFailure] = field(default_factory=list)


def bulk(
    context: Context,
    writes: Iterable[BulkWrite],
    *,
    start: int = 0,
    on_failure: Literal["raise", "collect"] = "raise",
    progress: Callable[[BulkReport], None] | None = None,
    at_once: int = AT_ONCE,
) -> Flow[BulkReport]:
    """Make all writes in order, starting at a position; a group is one transaction.

    A plain entity is a create. A group that fails is written one by one, so that each failure
    belongs to its own write. A create that finds exactly the item it would make counts as written,
    so an interrupted run can resume at the last position it reported.
    """
    if start < 0 or at_once < 1:
        raise PlanError(f"start must be at least 0 and at_once at least 1, not {start}, {at_once}")
    report = BulkReport(position=start)
    remaining = islice(iter(several(writes, "bulk", "writes")), start, None)
    while group := list(islice(remaining, at_once)):
        intents = [_intent(one) for one in group]
        whole = len(group) > 1 and len(set(map(_address, intents))) == len(group)
        try:
            if not whole:
                raise PlanError("written one by one")
            yield from commit(context, intents)
            report.written += len(group)
        except _OF_ONE_WRITE:
            for offset, (one, intent) in enumerate(zip(group, intents, strict=True)):
                place = report.position + offset
                failed = yield from _single(context, report, intent)
                if failed is None:
                    continue
                if on_failure == "raise":
                    report.position = place
                    if progress is not None:
                        progress(report)
                    raise failed from None
                report.failures.append(BulkFailure(place, one, failed))
        report.position += len(group)
        if progress is not None:
            progress(report)
    return report


def _single(
    context: Context, report: BulkReport, intent: Put[Any] | Update[Any] | Delete[Any]
) -> Flow[KeyfoldError | None]:
    try:
        yield from commit(context, [intent])
    except AlreadyExists as problem:
        assert isinstance(intent, Put), "only a create meets an item"
        found = yield from find(context, intent.new.ref())
        if found is None or not _is_same(intent.new, found):
            return problem
        report.present += 1
        return None
    except _OF_ONE_WRITE as problem:
        return problem
    report.written += 1
    return None


def _is_same(wanted: Entity, found: Entity) -> bool:
    """Whether a stored item equals what a create gave, apart from what keyfold sets and counts."""
    spec = wanted.__spec__
    given = (name for name in wanted.model_fields_set if name in spec.fields)
    normal = dict(spec.normalised_fields)
    return all(
        getattr(found, name) == normal.get(name, _same)(getattr(wanted, name)) for name in given
    )


def _same(value: Any) -> Any:
    return value


def _intent(one: BulkWrite) -> Put[Any] | Update[Any] | Delete[Any]:
    if isinstance(one, Put | Update | Delete):
        return one
    if isinstance(one, Entity):
        return create(one)
    raise PlanError(
        f"{one!r} is not a write; give entities to create, or create(...), put(...), update(...), "
        "delete(...)"
    )


def _address(intent: Put[Any] | Update[Any] | Delete[Any]) -> tuple[str, str]:
    return (intent.new.ref() if isinstance(intent, Put) else intent.ref).address
