"""The transactional outbox: events wait here from their transaction until their sinks have them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final
from zlib import crc32

from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Marker
from keyfold.streams import support
from keyfold.streams.event import Event, read_event
from keyfold.streams.policy import Policy
from keyfold.streams.sinks import Sink

BUCKETS: Final = 8
_AT_ONCE: Final = 100

logger = logging.getLogger("keyfold.streams")


def _partition(context: Context, bucket: int) -> str:
    return f"OUTBOX#{context.design.name}#{bucket}"


def intent(context: Context, event: Event) -> Marker:
    """The event as a part of the transaction that it belongs to."""
    bucket = crc32(event.key.encode()) % BUCKETS
    sort = f"{event.order}#{event.id}"
    item = {
        **support.key(_partition(context, bucket), sort),
        "event": {"S": event.body().decode()},
    }
    return Marker(support.table_of(context.design), "Put", {"Item": item})


def waiting(context: Context, limit: int | None = None) -> Flow[list[Event]]:
    """Events that no sink has taken yet."""
    found: list[Event] = []
    for bucket in range(BUCKETS):
        items = yield from support.partition(context, _partition(context, bucket), limit=limit)
        found += [read_event(item) for item in items]
    return found if limit is None else found[:limit]


def deliver(context: Context, sinks: Sequence[Sink], policy: Policy) -> Flow[int]:
    """Hand waiting events to every sink, in order by key; gives how many went out.

    An event leaves the outbox when all sinks have it. A sink that fails keeps the events of its
    bucket waiting, so that their order holds.
    """
    sent = 0
    for bucket in range(BUCKETS):
        items = yield from support.partition(context, _partition(context, bucket), limit=_AT_ONCE)
        for item in items:
            event = read_event(item)
            if not (yield from _taken(context, sinks, event, policy)):
                break
            yield from support.delete(context, {"PK": item["PK"], "SK": item["SK"]})
            sent += 1
    return sent


def _taken(context: Context, sinks: Sequence[Sink], event: Event, policy: Policy) -> Flow[bool]:
    for sink in sinks:
        for attempt in range(policy.attempts):
            try:
                yield from sink.deliver(context, event)
                break
            except Exception as problem:
                logger.warning("%s did not take the event %s: %s", sink.name, event.id, problem)
                yield policy.pause(attempt)
        else:
            return False
    return True
