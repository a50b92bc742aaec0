"""The list of removed activities: what copies may still show, and a page must not.

A removal is in every replica of the list, from its own transaction until its copies are deleted
and none can be under way.
A page reads one replica before it reads copies. So it either meets the entry, or comes after the
copies are gone. Where the list is longer than a page reads of it, copies are held against their
activities, which lie apart from each other, and not in one partition.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call, Flow
from keyfold.runtime.walk import get_batches, position_of

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

MOST_REPLICAS: Final = 80
"""A transaction has 100 writes: these, the removal itself, and what belongs to it."""
MOST_ENTRIES: Final = 1_000
SETTLED_AFTER: Final = timedelta(seconds=60)
"""By then a copy in flight has arrived."""


@dataclass(frozen=True)
class RemovedList:
    """How a feed stores removals."""

    replicas: int = 4
    """Each removal is written to all of them. One serves 3,000 pages per second."""
    read: int | None = None
    """Pages read only the first of these, known to all writers, while the number changes."""
    entries: int = 40
    """The most entries a page reads: what a read unit holds."""
    settled_after: timedelta = SETTLED_AFTER
    """How long an entry outlives the copies, which are then deleted once more."""

    @property
    def served(self) -> int:
        """The replicas that pages read."""
        return self.read or self.replicas

    @property
    def faults(self) -> str:
        """Invalid settings; empty if all are valid."""
        if not 1 <= self.replicas <= MOST_REPLICAS:
            return (
                f"replicas of its removed list must be 1 to {MOST_REPLICAS}, not {self.replicas}."
            )
        if not 1 <= self.served <= self.replicas:
            return f"read of its removed list must be 1 to {self.replicas}, not {self.read}."
        if self.settled_after < timedelta(0):
            return "settled_after of its removed list must be at least 0."
        if not 1 <= self.entries <= MOST_ENTRIES:
            return f"entries of its removed list must be 1 to {MOST_ENTRIES:,}, not {self.entries}."
        return ""


def name_of(source: str, position: str) -> str:
    """An activity's name in the list: short, so that a read unit holds many."""
    return blake2b(f"{source}\0{position}".encode(), digest_size=10).hexdigest()


def entries_of(feed: Feed[Any], activity: Entity) -> list[Entity]:
    """The entries of one removal; they expire with its copies."""
    if feed.removed is None:
        return []
    expires_at = getattr(activity, feed.time_field) + feed.ttl
    post = name_of(getattr(activity, feed.source_field), feed.position(activity))
    return [
        feed.support.removed(replica=replica, post=post, expires_at=expires_at)
        for replica in range(feed.removed.replicas)
    ]


def refs_of(feed: Feed[Any], post: str) -> list[Ref[Any]]:
    """The addresses of one removal's entries."""
    if feed.removed is None:
        return []
    return [
        feed.support.removed.key(replica=replica, post=post)
        for replica in range(feed.removed.replicas)
    ]


def removed_query(context: Context, feed: Feed[Any]) -> list[Call]:
    """The request for a random replica, if there is a list."""
    if feed.removed is None:
        return []
    table = feed.support.removed.__table__.schema
    key = feed.support.removed.key(replica=random.randrange(feed.removed.served), post="x").wire()
    request = {
        "TableName": context.physical(table),
        "ConsistentRead": True,
        "KeyConditionExpression": "#p = :p",
        "ExpressionAttributeNames": {"#p": table.partition},
        "ExpressionAttributeValues": {":p": key[table.partition]},
        "Limit": feed.removed.entries,
    }
    return [Call("Query", request)]


def removed_names(feed: Feed[Any], answers: Sequence[Answer]) -> frozenset[str] | None:
    """The names in the list; None if it is longer than what was read."""
    found: list[str] = []
    for answer in answers:
        if position_of(answer) is not None:
            return None
        found += [feed.support.removed.__spec__.decode(item).post for item in answer["Items"]]
    return frozenset(found)


def missing(
    context: Context, feed: Feed[Any], places: Iterable[tuple[str, str]]
) -> Flow[frozenset[str]]:
    """The names of activities, by source and position, that no longer exist."""
    keys = {name_of(*place): feed.activity_key(*place) for place in places}
    table = context.physical(feed.activity.__table__.schema)
    found = yield from get_batches(((table, key) for key in keys.values()), keys_alone=True)
    there = {repr(sorted(item.items())) for _, item in found}
    return frozenset(n for n, key in keys.items() if repr(sorted(key.items())) not in there)
