"""Request budgets: what a pattern may cost, what a unit of work did cost, and N+1 detection."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from keyfold.design.source import caller
from keyfold.errors import BudgetExceeded
from keyfold.runtime.flow import Answer, Call

logger = logging.getLogger("keyfold.budget")

N_PLUS_ONE = 4
"""This many single reads of one entity from one line in a unit of work count as a loop."""

OnLoop = Literal["raise", "log"]
Watch = Callable[[Call], AbstractContextManager[Callable[[Answer], None]]]
"""Wraps every request; what it returns is called with the answer."""


@dataclass
class Usage:
    """Requests and units of one access pattern or operation."""

    requests: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    calls: int = 0


@dataclass
class Work:
    """A unit of work: usage by pattern name, and single reads by call site."""

    name: str
    on_loop: OnLoop = "log"
    requests: int | None = None
    watch: Watch | None = None
    usage: dict[str, Usage] = field(default_factory=dict)
    undecodable: int = 0
    """Items that could not be decoded and were skipped or raised."""
    _single: Counter[tuple[str, str]] = field(default_factory=Counter)
    _reported: set[tuple[str, str]] = field(default_factory=set)

    @property
    def total(self) -> Usage:
        uses = self.usage.values()
        return Usage(
            sum(u.requests for u in uses),
            sum(u.read_units for u in uses),
            sum(u.write_units for u in uses),
            sum(u.calls for u in uses),
        )

    def before(self, call: Call) -> None:
        if self.requests is not None and self.total.requests >= self.requests:
            raise BudgetExceeded(
                f"the unit of work {self.name!r} exceeds its budget, requests={self.requests}, "
                f"with this {call.operation}"
            )

    def after(self, label: str, call: Call, answer: Answer) -> None:
        usage = self.usage.setdefault(label, Usage())
        usage.requests += 1
        add_capacity(usage, call, answer)

    def single_read(self, entity: str) -> None:
        """Called for every get; a loop of them is an N+1."""
        place = str(caller())
        self._single[entity, place] += 1
        if self._single[entity, place] < N_PLUS_ONE or (entity, place) in self._reported:
            return
        self._reported.add((entity, place))
        message = (
            f"N+1 in {self.name!r}: {entity} is read one by one at {place}; "
            "read a pointer that holds what the list shows, or use get_many"
        )
        if self.on_loop == "raise":
            raise BudgetExceeded(message)
        logger.warning(message)


current_work: ContextVar[Work | None] = ContextVar("keyfold_work", default=None)


def add_capacity(usage: Usage, call: Call, answer: Mapping[str, Any]) -> None:
    """Add the consumed capacity that an answer reports."""
    consumed = answer.get("ConsumedCapacity")
    if consumed is None:
        return
    for one in consumed if isinstance(consumed, list) else [consumed]:
        units = float(one.get("CapacityUnits", 0.0))
        if call.operation in _READS:
            usage.read_units += units
        else:
            usage.write_units += units


_READS = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})
MEASURED = _READS | {
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "TransactWriteItems",
}
