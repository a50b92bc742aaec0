"""Jobs: work over many items caused by one change, in steps that can stop anywhere.

A job stores no plan. Every step is checked against its cause in the same transaction, and is
idempotent. So repeated, late and reordered records lead to the same result.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from keyfold.design.entity import Entity
from keyfold.errors import ConditionFailed, NotFound, TooManyWrites
from keyfold.maintain.structure import Consequence, Reconciled
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent
from keyfold.runtime.walk import in_chunks
from keyfold.runtime.writes import commit

Place = dict[str, Any] | None
"""Where to continue: the end of the last page; None is the beginning."""


@dataclass(frozen=True)
class JobStep:
    """Writes, and where to continue after them; None after the last page."""

    writes: Sequence[Intent]
    then: Place


class Job(Protocol):
    """The work for one change."""

    @property
    def at_once(self) -> int:
        """The most writes in one transaction."""
        ...

    def wanted(self, context: Context) -> Flow[Intent | None]:
        """The check that the work is still wanted; None if it is not."""
        ...

    def step(self, context: Context, start: Place) -> Flow[JobStep]:
        """The work from a place, as far as one page goes."""
        ...


def carry_out(context: Context, job: Job) -> Flow[bool]:
    """Run a job to its end; returns whether it was wanted and nothing was refused."""
    guard = yield from job.wanted(context)
    if guard is None:
        return False
    start: Place = None
    smooth = True
    while True:
        step = yield from job.step(context, start)
        for some in in_chunks(step.writes, job.at_once):
            smooth &= yield from _write_all(context, guard, some)
        start = step.then
        if start is None:
            return smooth


def _write_all(context: Context, guard: Intent, writes: Sequence[Intent]) -> Flow[bool]:
    """Write all at once; split in half if that is too much, or an item is gone or belongs
    elsewhere.
    """
    try:
        yield from commit(context, [guard, *writes])
    except (NotFound, ConditionFailed, TooManyWrites) as refused:
        if len(writes) > 1:
            middle = len(writes) // 2
            first = yield from _write_all(context, guard, writes[:middle])
            return (yield from _write_all(context, guard, writes[middle:])) and first
        if isinstance(refused, TooManyWrites):
            raise
        return False
    return True


class StreamWork(Consequence, Reconciled):
    """The stream's work for changes of one entity, beyond what single items say."""

    def joins(
        self,
        context: Context,  # noqa: ARG002
        old: Entity | None,  # noqa: ARG002
        new: Entity | None,  # noqa: ARG002
    ) -> Flow[Sequence[Intent]]:
        """The part of the job that fits into the transaction of the change."""
        yield from ()
        return ()


class JobMaintainer(StreamWork):
    """Starts a job for changes of one entity's items."""

    @abstractmethod
    def job(self, old: Entity | None, new: Entity | None) -> Job | None:
        """The job for a change."""

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        job = self.job(old, new)
        if job is not None:
            yield from carry_out(context, job)
