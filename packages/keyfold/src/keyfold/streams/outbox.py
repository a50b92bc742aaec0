"""The transactional outbox: events wait here until all sinks have received them."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

from keyfold.errors import NotFound, TableNotFound
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Marker
from keyfold.streams import support_table
from keyfold.streams.event import Event, read_event
from keyfold.streams.policy import Policy
from keyfold.streams.sinks import Sink
from keyfold.streams.turn import Turns

BUCKETS: Final = 8
_AT_ONCE: Final = 100

logger = logging.getLogger("keyfold.streams")


def _partition(context: Context, bucket: int) -> str:
    return f"OUTBOX#{context.design.name}#{bucket}"


def _key(context: Context, event: Event) -> dict[str, Any]:
    bucket = crc32(event.key.encode()) % BUCKETS
    return support_table.key(_partition(context, bucket), f"{event.order}#{event.id}")


def intent(context: Context, event: Event) -> Marker:
    """The event as a part of its transaction."""
    item = {**_key(context, event), "event": {"S": event.body().decode()}}
    return Marker(support_table.table_of(context.design), "Put", {"Item": item})


def waiting(context: Context) -> Flow[list[Event]]:
    """Events that no sink has received yet, in order by key."""
    found: list[Event] = []
    for bucket in range(BUCKETS):
        try:
            items = yield from support_table.partition(context, _partition(context, bucket))
        except TableNotFound:
            # No consumer has run yet.
            return []
        found += [read_event(item) for item in items]
    return found


def count(context: Context) -> Flow[int]:
    """The number of waiting events."""
    found = 0
    for bucket in range(BUCKETS):
        found += yield from support_table.count(context, _partition(context, bucket))
    return found


def forget(context: Context, id: str) -> Flow[None]:
    """Drop an event that no sink accepts, so that later ones can proceed."""
    for event in (yield from waiting(context)):
        if event.id == id and (yield from support_table.delete(context, _key(context, event))):
            return
    raise NotFound(f"no event {id} is waiting; `keyfold streams events` shows all")


@dataclass(frozen=True)
class Round:
    """The result of one delivery round."""

    sent: int = 0
    refused: bool = False
    """A sink refused an event."""
    held: bool = False
    """Another worker is delivering some of them."""
    hanging: bool = False
    """The sink did not answer."""


def deliver(
    turns: Turns, sinks: Sequence[Sink], policy: Policy, halted: Callable[[], bool] = bool
) -> Flow[Round]:
    """Hand waiting events to every sink, in order by key, until none is left or `halted`.

    An event leaves the outbox when all sinks have received it. A failing sink keeps the events of
    its bucket waiting, which preserves their order. A hanging sink ends the round, since its other
    events would hang too.
    """
    total = Round()
    for bucket in random.sample(range(BUCKETS), BUCKETS):
        made = yield from _empty(turns, bucket, sinks, policy, halted)
        total = Round(
            total.sent + made.sent, total.refused or made.refused, total.held or made.held
        )
        if halted() or made.hanging:
            break
    return total


def _empty(
    turns: Turns,
    bucket: int,
    sinks: Sequence[Sink],
    policy: Policy,
    halted: Callable[[], bool],
) -> Flow[Round]:
    """Deliver one bucket; one worker at a time, so that no event is sent by all workers."""
    context, named = turns.context, f"OUTBOX#{bucket}"
    if not (yield from support_table.partition(context, _partition(context, bucket), limit=1)):
        return Round()
    until = yield from turns.take(named)
    if until is None:
        return Round(held=True)
    sent = 0
    try:
        items = yield from support_table.partition(
            context, _partition(context, bucket), limit=_AT_ONCE
        )
        for item in items:
            if halted():
                break
            if context.clock.now() > until - turns.seconds / 2:
                until = yield from turns.take(named)
                if until is None:
                    return Round(sent, held=True)
            problem = yield from _refusal(context, sinks, read_event(item), policy, halted)
            if problem is not None:
                return Round(sent, refused=True, hanging=_hangs(problem))
            yield from support_table.delete(context, {"PK": item["PK"], "SK": item["SK"]})
            sent += 1
    finally:
        yield from turns.give_back(named)
    return Round(sent)


def _refusal(
    context: Context,
    sinks: Sequence[Sink],
    event: Event,
    policy: Policy,
    halted: Callable[[], bool],
) -> Flow[Exception | None]:
    """Why a sink refused the event, after a few attempts."""
    for sink in sinks:
        problem: Exception | None = None
        for attempt in range(policy.attempts):
            try:
                yield from sink.deliver(context, event)
                problem = None
                break
            except Exception as failed:
                logger.warning("%s rejected the event %s: %s", sink.name, event.id, failed)
                problem = failed
            if halted() or _hangs(problem):
                break
            yield policy.pause(attempt)
        if problem is not None:
            return problem
    return None


def _hangs(problem: Exception) -> bool:
    return isinstance(problem, TimeoutError) or isinstance(
        getattr(problem, "reason", None), TimeoutError
    )
