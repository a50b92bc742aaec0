"""Sends a plan: one request for one item, one transaction for several; translates refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import (
    AlreadyExists,
    ConditionFailed,
    NotFound,
    TooManyWrites,
    TransactionCanceled,
    TransactionConflict,
    VersionConflict,
)
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.guard import (
    CopiesMissing,
    Lingering,
    StoredOtherwise,
    named_problem,
)
from keyfold.runtime.intent import Delete, Intent, Put, Update
from keyfold.runtime.plan import Plan
from keyfold.runtime.walk import PASSING
from keyfold.runtime.write_requests import (
    WireWrite,
)
from keyfold_engine.limits import TRANSACTION_ITEMS

_SINGLE = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


def send(context: Context, plan: Plan, token: str | None) -> Flow[list[Entity | None]]:
    writes = [step.render(context, plan.stored.get(at)) for at, step in plan.steps.items()]
    if not writes:
        return plan.results
    if len(writes) > TRANSACTION_ITEMS:
        raise _too_many(len(writes), len(plan.results))
    if len(writes) == 1 and writes[0].action in _SINGLE and token is None:
        return (yield from _send_single(plan, writes[0]))
    request: dict[str, Any] = {"TransactItems": [{w.action: dict(w.request)} for w in writes]}
    if token is not None:
        request["ClientRequestToken"] = token
    try:
        yield Call("TransactWriteItems", request)
    except TransactionCanceled as cancelled:
        raise _explain(cancelled, writes) from cancelled
    return plan.results


def _too_many(writes: int, given: int) -> TooManyWrites:
    """The error for a transaction that is too large: because of the intents, or their
    consequences.
    """
    takes = f"one transaction takes {TRANSACTION_ITEMS}"
    if given > TRANSACTION_ITEMS:
        return TooManyWrites(
            f"{given} writes were passed; {takes}. Write them in several transactions, or use "
            "bulk(...) if they need not be atomic"
        )
    fewer = "Give fewer writes at once, or declare" if given > 1 else "Declare"
    return TooManyWrites(
        f"{writes} items would be written in one transaction, {writes - given} of them maintained "
        f"copies; {takes}. {fewer} the largest structure with sync='stream'"
    )


def _send_single(plan: Plan, write: WireWrite) -> Flow[list[Entity | None]]:
    request = dict(write.request)
    if write.action == "Update":
        request["ReturnValues"] = "ALL_NEW"
    elif isinstance(write.intent, Delete) and write.intent.returning:
        request["ReturnValues"] = "ALL_OLD"
    try:
        answer = yield Call(_SINGLE[write.action], request)
    except ConditionFailed as failed:
        if failed.item is None and _makes_item(write.intent):
            raise CopiesMissing([write.intent.ref]) from failed
        raise _refusal(write, failed.item) from failed
    # Deleting a missing item returns nothing.
    if (
        len(plan.results) == 1
        and isinstance(write.intent, Update | Delete)
        and "Attributes" in answer
    ):
        plan.results[0] = write.intent.ref.entity.__spec__.decode(answer["Attributes"])
    return plan.results


def _makes_item(intent: Intent) -> TypeGuard[Update]:
    return isinstance(intent, Update) and callable(intent.if_missing)


def _refusal(write: WireWrite, item: dict[str, Any] | None) -> Exception:
    """The error for a failed condition; retryable if only our own read was stale."""
    problem, intent = write.refusal(item), write.intent
    if isinstance(problem, Lingering):
        return problem
    raced = (
        (isinstance(problem, VersionConflict) and not _is_the_callers(intent))
        or (isinstance(problem, NotFound) and getattr(intent, "if_missing", None) == "skip")
        or (isinstance(problem, AlreadyExists) and isinstance(intent, Put) and intent.unless_raced)
    )
    return TransactionConflict(str(problem)) if raced else named_problem(intent, problem)


def _is_the_callers(intent: Intent) -> bool:
    """Whether the version that an item should have comes from the caller, and not from our read."""
    stated = getattr(intent, "expected_version", None) is not None
    return stated or getattr(intent, "read_before", None) is not None


def _explain(cancelled: TransactionCanceled, writes: Sequence[WireWrite]) -> Exception:
    """The first refusal in terms of its intent; conflicts and throttling are retryable.

    What only the next attempt needs to know is told of all items at once.
    """
    missing: list[Ref[Any]] = []
    otherwise: list[tuple[Ref[Any], dict[str, Any]]] = []
    for reason, write in zip(cancelled.reasons, writes, strict=False):
        if reason.code != "ConditionalCheckFailed":
            continue
        if reason.item is None and _makes_item(write.intent):
            missing.append(write.intent.ref)
        else:
            refusal = _refusal(write, reason.item)
            if not isinstance(refusal, StoredOtherwise):
                return refusal
            otherwise += refusal.found
    if otherwise:
        return StoredOtherwise(*otherwise)
    if missing:
        return CopiesMissing(missing)
    if any(reason.code in PASSING for reason in cancelled.reasons):
        return TransactionConflict(cancelled.message)
    return cancelled
