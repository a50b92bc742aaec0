"""The one write path: intents are expanded with their maintainers' writes and sent together.

An update that maintainers or index keys depend on reads the item first and is guarded against
changes in between. If the guard fails and the read was ours, the commit restarts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyfold.design.entity import Entity
from keyfold.errors import (
    ConditionFailed,
    NotFound,
    TooManyWrites,
    TransactionConflict,
    VersionConflict,
)
from keyfold.runtime.context import Context
from keyfold.runtime.expansion import expand
from keyfold.runtime.flow import Flow
from keyfold.runtime.guard import (
    CopiesMissing,
    Lingering,
    StoredOtherwise,
    named_problem,
)
from keyfold.runtime.intent import Delete, Intent, Maintainer, Put
from keyfold.runtime.plan import Plan
from keyfold.runtime.submission import send
from keyfold.runtime.walk import again_after

ATTEMPTS = 12


def commit(
    context: Context, intents: Sequence[Intent], *, token: str | None = None
) -> Flow[list[Entity | None]]:
    """Write all intents and their consequences, or nothing; returns each intent's new item."""
    context.design.complete()
    overflowing = False
    stored: dict[Any, dict[str, Any]] = {}
    missing: frozenset[Any] = frozenset()
    for attempt in range(ATTEMPTS):
        plan = Plan(results=[None] * len(intents), stored=stored, missing=missing)
        # New items first, then the other intents, then consequences, so that a count on an item
        # created in the same commit finds it.
        for place in sorted(range(len(intents)), key=lambda i: not isinstance(intents[i], Put)):
            plan.latest = None
            try:
                plan.results[place] = yield from expand(context, plan, intents[place])
            except NotFound as absent:
                raise named_problem(intents[place], absent) from absent
            plan.asked[place] = plan.latest
        plan.entailing = True
        deleted: list[tuple[Maintainer, Entity]] = []
        while plan.entailed:
            maintainer, old, new = plan.entailed.popleft()
            may_overflow = maintainer.overflow == "stream"
            if overflowing and may_overflow:
                continue
            if old is not None and new is None:
                deleted.append((maintainer, old))
            for intent in (yield from maintainer.joins(context, old, new)):
                plan.can_overflow |= may_overflow
                yield from expand(context, plan, intent)
        plan.settle_results()
        try:
            written = yield from send(context, plan, token)
        except TooManyWrites:
            if overflowing or not plan.can_overflow:
                raise
            overflowing = True
        except (StoredOtherwise, CopiesMissing, Lingering, TransactionConflict) as problem:
            if attempt == ATTEMPTS - 1:
                raise
            match problem:
                case StoredOtherwise():
                    stored |= {ref.address: item for ref, item in problem.found}
                case CopiesMissing():
                    missing |= {ref.address for ref in problem.refs}
                case Lingering():
                    yield from _delete_expired(context, problem)
                case _:
                    missing = frozenset()
                    yield again_after(attempt)
        else:
            for maintainer, gone in deleted:
                afterwards = maintainer.afterwards(context, gone)
                if afterwards is not None:
                    yield from afterwards
            return written
    raise AssertionError("the last attempt returns or raises")


def _delete_expired(context: Context, left: Lingering) -> Flow[None]:
    """Delete an expired item with everything derived from it, as time to live would."""
    expired = left.ref.entity.__spec__.decode(left.item)
    try:
        yield from commit(context, [Delete(left.ref, read_before=expired)])
    except (ConditionFailed, NotFound, VersionConflict):
        return  # Another process was faster.
