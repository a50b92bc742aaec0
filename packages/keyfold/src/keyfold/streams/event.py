"""Domain events, and the delivery through which a processor emits them."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from inspect import isawaitable
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.formats import text_of
from keyfold.design.read import Read
from keyfold.errors import ProcessorFailed
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.streams.record import Record

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


@dataclass(frozen=True)
class Event:
    """Something that happened; a redelivered event keeps its id."""

    id: str
    name: str
    """What happened, in the past tense: HangoutCreated."""
    payload: Mapping[str, Any]
    """What it concerns: ids, and what changed."""
    at: datetime
    """When it was written."""
    key: str
    """Events with the same key reach a sink in order."""
    order: str
    """Sorts the events of one key."""
    source: str = ""
    """The design that emitted it."""

    def body(self) -> bytes:
        """The event as JSON."""
        return orjson.dumps(
            {
                "id": self.id,
                "source": self.source,
                "name": self.name,
                "at": self.at.isoformat(),
                "key": self.key,
                "order": self.order,
                "payload": self.payload,
            },
            default=text_of,
        )


def read_event(item: Mapping[str, Any]) -> Event:
    """The event that a support item holds."""
    body = orjson.loads(item["event"]["S"])
    at = datetime.fromisoformat(body["at"])
    source = body.get("source", "")
    return Event(body["id"], body["name"], body["payload"], at, body["key"], body["order"], source)


def event_schema() -> dict[str, Any]:
    """The JSON Schema of an event's body, whichever design and sink."""
    found = TypeAdapter(Event).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


@dataclass
class Delivery:
    """A processor's second source of information: the origin of the change, and `emit`."""

    record: Record
    db: Db | AsyncDb
    processor: str
    events: list[Event] = field(default_factory=list)

    @property
    def expired(self) -> bool:
        """Whether the item was removed by time to live."""
        return self.record.expired

    async def find(self, ref: Ref[E]) -> E | None:
        """Return the item, or None; for processors in sync and async consumers."""
        return await _answer(self.db.find(ref))

    async def read(self, wanted: Read[T], *, cursor: str | None = None) -> T:
        """Run a read; for processors in sync and async consumers."""
        return await _answer(self.db.read(wanted, cursor=cursor))

    def emit(self, name: str, payload: Mapping[str, Any]) -> Event:
        """Send a domain event, in the same transaction as the writes of this delivery."""
        if not name or not isinstance(payload, Mapping):
            raise ProcessorFailed(
                f"{self.processor} emitted {name!r} with {type(payload).__name__}; an event has a "
                "name and a mapping"
            )
        event = Event(
            id=f"{self.record.event_id}-{self.processor}-{len(self.events)}",
            name=name,
            payload=dict(payload),
            at=self.record.at,
            key=self.record.address,
            order=f"{self.record.sequence:>040}-{len(self.events):03d}",
            source=self.db.context.design.name,
        )
        event.body()
        self.events.append(event)
        return event


async def _answer(given: T | Awaitable[T]) -> T:
    return await given if isawaitable(given) else given
