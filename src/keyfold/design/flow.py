"""What moves data: write operations, stream consumers and feeds."""

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
    """Whether it has a condition; None where the design does not say."""
    fields: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    """The values that it gives some of the fields, as `state = paid`."""
    each: bool = False
    via_index: str = ""
    """The index read first to find the key."""


@dataclass(frozen=True)
class OperationSchema:
    """A write operation of the document: its effects and what it promises about them."""

    name: str
    effects: tuple[Effect, ...] = ()
    parameters: tuple[str, ...] = ()
    """What its caller gives; nothing where the document does not say."""
    atomic: bool | None = None
    """Whether its writes are one transaction; None where the design does not say."""
    batch: int | None = None
    """The most items that one request writes."""
    idempotent: bool = False
    retried: bool = False
    reads: tuple[str, ...] = ()
    """Patterns whose answer decides whether the write is made."""
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
    """The entity types whose records it acts on."""
    events: tuple[Choice["INSERT", "MODIFY", "REMOVE"], ...] = ()
    watches: tuple[str, ...] = ()
    """The fields whose change it acts on; nothing means any."""
    sync: Choice["transaction", "stream"] = "stream"
    """Whether it works in the transaction of the change, as far as that has room."""
    reads: tuple[str, ...] = ()
    """Attributes of the record that it takes its target from."""
    effects: tuple[Effect, ...] = ()
    dead_letter: str = ""
    attempts: int | None = None
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class FeedSchema:
    """Posts brought to followers: gathered when read, copied when written, or both."""

    name: str
    post: str
    item: str = ""
    edge: str = ""
    edges: tuple[str, ...] = ()
    """All kinds of edges, where there is more than one."""
    mode: Choice["fan_in", "fan_out", "hybrid"] = "fan_in"
    recorded: str = ""
    """The field of the post that says which way it went, copied or not."""
    max_followers: int | None = None
    cap: int | None = None
    support: tuple[tuple[str, str], ...] = ()
    """What the feed keeps for itself, and the entity of each: source, state, hint ..."""
    replicas: int | None = None
    """How often the list of what was removed is kept; a page reads one of them."""
    listed: int | None = None
    """The entries of that list that a page reads at most."""
    heads: int | None = None
    """How many of a source's newest posts are in one item, which pages read many of at once."""
    settled_after: float | None = None
    """Seconds for which an entry stays there after its copies were deleted."""
    trimmed_by: str = ""
    """What removes the items beyond the cap: a consumer or an operation."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
