"""Checks what clients saw: lists by the order of their elements, registers by search.

A call has the moments between which it ran. One whose outcome nobody knows may take effect at any
moment after its start, or never: its end is infinite. Every written value is written once.

Lists (after Kingsbury and Alvaro, "Elle", VLDB 2020): what was read of a list gives the order of
appends, and so who must stand before whom. Together with time, which only goes forward, there may
be no circle. Registers (after Lowe, "Testing for linearizability", 2017): all states that are
possible are kept while time goes on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import inf

Key = str


@dataclass(frozen=True)
class Transaction:
    """Appends and reads of lists, all at one moment."""

    start: float
    end: float
    appends: tuple[tuple[Key, int], ...] = ()
    reads: tuple[tuple[Key, tuple[int, ...]], ...] = ()
    failed: bool = False


class Anomaly(AssertionError):
    """What clients saw is not what one copy of the data, one call after another, would show."""


def check_lists(history: list[Transaction]) -> None:
    """Raise if no order of the transactions explains all reads and keeps to time."""
    appender: dict[tuple[Key, int], int] = {}
    for number, one in enumerate(history):
        for append in one.appends:
            if append in appender:
                raise Anomaly(f"the test appends {append} twice")
            appender[append] = number
    longest = _longest_reads(history)
    for key, order in longest.items():
        if len({*order}) < len(order):
            raise Anomaly(f"{key}: an element twice in {order}")
        for value in order:
            number = appender.get((key, value), -1)
            if number < 0 or history[number].failed:
                raise Anomaly(f"{key}: {value} was read, and its append failed or never was")
    graph: dict[object, set[object]] = {number: set() for number in range(len(history))}
    for before, after in (*_data_edges(history, longest, appender), *_time_edges(history)):
        if before != after:
            graph.setdefault(after, set()).add(before)
            graph.setdefault(before, set())
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        told = [history[n] for n in circle.args[1] if isinstance(n, int)]
        raise Anomaly(f"each of these must stand before the next: {told}") from None


def _longest_reads(history: Iterable[Transaction]) -> dict[Key, tuple[int, ...]]:
    longest: dict[Key, tuple[int, ...]] = {}
    for one in history:
        for key, values in one.reads:
            known = longest.get(key, ())
            shorter, longer = sorted((known, values), key=len)
            if longer[: len(shorter)] != shorter:
                raise Anomaly(f"{key}: {known} and {values} are not of one list")
            longest[key] = longer
    return longest


def _data_edges(
    history: list[Transaction],
    longest: dict[Key, tuple[int, ...]],
    appender: dict[tuple[Key, int], int],
) -> Iterator[tuple[object, object]]:
    for key, order in longest.items():
        for first, second in pairwise(order):
            yield appender[key, first], appender[key, second]
    seen = {(key, value) for key, order in longest.items() for value in order}
    unseen: dict[Key, list[int]] = {}
    for (key, value), number in appender.items():
        if (key, value) not in seen and not history[number].failed:
            unseen.setdefault(key, []).append(number)
            if longest.get(key):
                yield appender[key, longest[key][-1]], number
    for number, one in enumerate(history):
        for key, values in one.reads:
            if values:
                yield appender[key, values[-1]], number
            order = longest[key]
            later = [appender[key, order[len(values)]]] if len(values) < len(order) else []
            for other in later or unseen.get(key, []):
                yield number, other


def _time_edges(history: list[Transaction]) -> Iterator[tuple[object, object]]:
    """Who ended before who began, through a chain of moments."""
    ends = sorted((one.end, number) for number, one in enumerate(history) if one.end < inf)
    for place, (_, number) in enumerate(ends):
        yield number, f"moment {place}"
        if place:
            yield f"moment {place - 1}", f"moment {place}"
    moments = [end for end, _ in ends]
    for number, one in enumerate(history):
        if one.failed:
            continue
        last = bisect_left(moments, one.start) - 1
        if last >= 0:
            yield f"moment {last}", number


@dataclass(frozen=True)
class Access:
    """One call on a register: `write` a value, perhaps only over `expects`, or `read` one."""

    start: float
    end: float
    kind: str
    value: int | None
    expects: int | None = None
    succeeded: bool | None = True
    """Whether a conditional write was done; None if nobody knows."""

    def after(self, value: int | None) -> list[int | None]:
        """The values it may leave behind; none if it cannot have run on this one."""
        if self.kind == "read":
            return [value] if value == self.value else []
        if self.kind == "write":
            return [self.value]
        holds = value == self.expects
        if self.succeeded is None:
            return [self.value] if holds else [value]
        return ([self.value] if self.succeeded else [value]) if holds is self.succeeded else []


@dataclass
class _Possible:
    states: set[tuple[int | None, frozenset[int]]] = field(default_factory=set)

    def grow(self, history: list[Access], running: set[int]) -> None:
        """Let calls under way take effect, in any order."""
        todo = list(self.states)
        while todo:
            value, done = todo.pop()
            for number in running - done:
                for after in history[number].after(value):
                    state = after, done | {number}
                    if state not in self.states:
                        self.states.add(state)
                        todo.append(state)


def check_register(history: list[Access]) -> None:
    """Raise if the calls cannot have happened one at a moment, each while it ran."""
    events = sorted(
        [(one.start, 0, number) for number, one in enumerate(history)]
        + [(one.end, 1, number) for number, one in enumerate(history) if one.end < inf]
    )
    possible, running = _Possible({(None, frozenset())}), set[int]()
    for _, is_end, number in events:
        if not is_end:
            running.add(number)
            continue
        possible.grow(history, running)
        possible.states = {(v, done - {number}) for v, done in possible.states if number in done}
        running.discard(number)
        if not possible.states:
            raise Anomaly(f"nothing explains {history[number]}")
