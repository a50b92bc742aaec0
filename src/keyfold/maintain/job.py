"""Jobs: work over many items that follows from one change, in steps that can stop anywhere.

A job keeps no plan. Every step is checked against what started it, in the same transaction, and
doing it twice has the effect of doing it once. So repeated, late and shuffled records all lead to
the same end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from keyfold.design.entity import Entity
from keyfold.errors import ConditionFailed, NotFound, TooManyWrites
from keyfold.maintain.structure import Reconciled
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent
from keyfold.runtime.walk import in_chunks
from keyfold.runtime.writes import commit

Place = dict[str, Any] | None
"""Where a walk goes on: what the last page gave; None is the beginning."""


@dataclass(frozen=True)
class JobStep:
    """Writes, and where to go on when they are done; None: this was the last page."""

    writes: Sequence[Intent]
    then: Place


class Job(Protocol):
    """What is to be done about one change."""

    @property
    def at_once(self) -> int:
        """How many writes one transaction has at most."""
        ...

    def wanted(self, context: Context) -> Flow[Intent | None]:
        """The check that the work still is wanted; None: it is not."""
        ...

    def step(self, context: Context, start: Place) -> Flow[JobStep]:
        """The work from there on, as far as one page goes."""
        ...


def carry_out(context: Context, job: Job) -> Flow[bool]:
    """Do a job to its end; gives whether it was wanted, and nothing of it was refused."""
    guard = yield from job.wanted(context)
    if guard is None:
        return False
    start: Place = None
    smooth = True
    while True:
        step = yield from job.step(context, start)
        for some in in_chunks(step.writes, job.at_once):
            smooth &= yield from _carried_out(context, guard, some)
        start = step.then
        if start is None:
            return smooth


def _carried_out(context: Context, guard: Intent, writes: Sequence[Intent]) -> Flow[bool]:
    """All at once; by halves where that is too much, or an item is gone or another's by now."""
    try:
        yield from commit(context, [guard, *writes])
    except (NotFound, ConditionFailed, TooManyWrites) as refused:
        if len(writes) > 1:
            middle = len(writes) // 2
            first = yield from _carried_out(context, guard, writes[:middle])
            return (yield from _carried_out(context, guard, writes[middle:])) and first
        if isinstance(refused, TooManyWrites):
            raise
        return False
    return True


class StreamWork(Reconciled):
    """What the stream does about changes of one entity's items, beyond what single items say."""

    kind: str

    @property
    def owner(self) -> str:
        return self.label

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]:
        """The source's fields whose change concerns it."""

    def joins(
        self,
        context: Context,  # noqa: ARG002
        old: Entity | None,  # noqa: ARG002
        new: Entity | None,  # noqa: ARG002
    ) -> Flow[Sequence[Intent]]:
        """As much of the job as fits into the transaction of the change; else it is left."""
        yield from ()
        return ()

    def afterwards(self, context: Context, gone: Entity) -> Flow[None] | None:  # noqa: ARG002
        """What the stream would do about a delete, where there is none."""
        return None

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:  # noqa: ARG002
        return frozenset()


class JobMaintainer(StreamWork):
    """Starts a job for changes of one entity's items."""

    @abstractmethod
    def job(self, old: Entity | None, new: Entity | None) -> Job | None:
        """What a change asks for."""

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        job = self.job(old, new)
        if job is not None:
            yield from carry_out(context, job)
