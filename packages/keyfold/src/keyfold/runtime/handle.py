"""What sync and async handles share: their context, and what they count by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

from keyfold.design.address import Ref, checked_ref
from keyfold.errors import BudgetExceeded, PlanError
from keyfold.runtime.budget import MEASURED, OnLoop, Usage, Work, add_capacity, current_work
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call

H = TypeVar("H", bound="Handle")


class Meter:
    """Usage by pattern or operation since the handle was opened.

    Consumed capacity is requested only while `measuring` or inside a unit of work.
    """

    def __init__(self) -> None:
        self.measuring = False
        self.usage: dict[str, Usage] = {}

    def start(self, label: str, requests: int | None) -> Counted:
        return Counted(self, label, requests, current_work.get())

    def single_read(self, ref: Ref[Any]) -> None:
        entity = checked_ref(ref).entity
        work = current_work.get()
        if work is not None:
            work.single_read(entity.__name__)


class Counted:
    """One run of a flow."""

    __slots__ = ("_budget", "_label", "_meter", "_requests", "_work", "watch")

    def __init__(self, meter: Meter, label: str, budget: int | None, work: Work | None) -> None:
        self._meter, self._label, self._budget, self._work = meter, label, budget, work
        self._requests = 0
        self.watch = None if work is None else work.watch
        if label and work is not None:
            work.usage.setdefault(label, Usage()).calls += 1
        if label and meter.measuring:
            meter.usage.setdefault(label, Usage()).calls += 1

    def before(self, call: Call) -> Mapping[str, Any]:
        """Check the budget and return the request to send."""
        self._requests += not call.excused
        if self._budget is not None and self._requests > self._budget and not call.excused:
            raise BudgetExceeded(
                f"the access pattern {self._label} exceeds its budget, requests={self._budget}, "
                f"with this {call.operation}. Make it read less, or raise the budget"
            )
        if self._work is None and not self._meter.measuring:
            return call.request
        if self._work is not None:
            self._work.before(call)
        if call.operation not in MEASURED:
            return call.request
        return {**call.request, "ReturnConsumedCapacity": "TOTAL"}

    def after(self, call: Call, answer: Answer) -> None:
        if self._work is not None:
            self._work.after(self._label or call.operation, call, answer)
        if self._meter.measuring:
            usage = self._meter.usage.setdefault(self._label or call.operation, Usage())
            usage.requests += 1
            add_capacity(usage, call, answer)


class Handle:
    """An open design: its context and its meters."""

    opened_by: ClassVar[str]

    def __init__(self, context: Context, on_loop: OnLoop) -> None:
        self.context = context
        self.meter = Meter()
        self._on_loop: OnLoop = on_loop
        self.pool: ThreadPoolExecutor | None = None
        """Threads for calls at once; an event loop needs none."""

    @contextmanager
    def work(self, name: str, *, requests: int | None = None) -> Iterator[Work]:
        """Count requests and units by pattern; a loop of single reads is reported as N+1."""
        work = Work(name, self._on_loop, requests)
        token = current_work.set(work)
        try:
            yield work
        finally:
            current_work.reset(token)


def checked_handle(given: H, kind: type[H], instead: str) -> H:
    """The argument, checked to be a handle; `instead` names the call for the other kind."""
    if isinstance(given, kind):
        return given
    way = f"; use {instead}" if isinstance(given, Handle) else ""
    raise PlanError(f"{given!r} is not a result of {kind.opened_by}{way}")
