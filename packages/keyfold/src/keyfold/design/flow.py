"""What changes data: write operations, stream consumers and feeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from keyfold.design.source import NOWHERE, Place, Silence

Action = Choice["put", "create", "update", "delete", "increment", "decrement"]


@dataclass(frozen=True)
class Effect:
    """One write that an operation makes."""

    action: Action
    entity: str
    guarded: bool | None = None
    """Whether it has a condition; None if the design does not say."""
    fields: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    """The values it assigns to fields, as `state = paid`."""
    each: bool = False
    via_index: str = ""
    """The index that is read first to find the key."""


@dataclass(frozen=True)
class OperationSchema:
    """A write operation of the document: its effects and guarantees."""

    name: str
    effects: tuple[Effect, ...] = ()
    parameters: tuple[str, ...] = ()
    """The caller's arguments; empty if the document does not say."""
    atomic: bool | None = None
    """Whether its writes are one transaction; None if the design does not say."""
    batch: int | None = None
    """The maximum number of items that one request writes."""
    idempotent: bool = False
    retried: bool = False
    reads: tuple[str, ...] = ()
    """Patterns whose answer decides whether the write happens."""
    needs: tuple[str, ...] = ()
    """Locks, markers or records that it relies on."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class ConsumerSchema:
    """A reader of a table's stream."""

    name: str
    table: str = ""
    entities: tuple[str, ...] = ()
    """The entities whose records it handles."""
    events: tuple[Choice["INSERT", "MODIFY", "REMOVE"], ...] = ()
    watches: tuple[str, ...] = ()
    """The fields whose change it handles; empty means any."""
    sync: Choice["transaction", "stream"] = "stream"
    """Whether it works in the transaction of the change, as far as there is room."""
    reads: tuple[str, ...] = ()
    """Attributes of the record that identify its target."""
    effects: tuple[Effect, ...] = ()
    dead_letter: str = ""
    attempts: int | None = None
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class FeedSchema:
    """Posts delivered to followers: gathered on read, copied on write, or both."""

    name: str
    post: str
    item: str = ""
    edge: str = ""
    edges: tuple[str, ...] = ()
    """All kinds of edges, if there is more than one."""
    mode: Choice["fan_in", "fan_out", "hybrid"] = "fan_in"
    recorded: str = ""
    """The field of the post that records whether it was copied."""
    max_followers: int | None = None
    cap: int | None = None
    flag: str = ""
    """The entity whose flag has an author's posts copied."""
    listed_on: tuple[str, ...] = ()
    """The indexes that list whom a reader follows."""
    trimmed_by: str = ""
    """What removes items beyond the cap: a consumer or an operation."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
