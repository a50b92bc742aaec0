"""Verifies the copies of a feed against its activities, follows and flags, and repairs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import Undecodable
from keyfold.maintain.address import WireRef, raw
from keyfold.maintain.drift import Drift, differences
from keyfold.maintain.feed.audit import Audit
from keyfold.maintain.feed.fan_out import is_copied
from keyfold.maintain.feed.page import boundaries
from keyfold.maintain.reconcile import unchanged_check
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Check, Delete, Put
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Item = dict[str, Any]


class Verifying(Audit):
    """The audit of one feed; suspects are checked again."""

    def __init__(self, context: Context, feed: Feed[Any], label: str) -> None:
        super().__init__(feed, feed.oldest(context.now()))
        self._label = label

    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]:
        """Report what is still wrong."""
        feed, table = self.feed, self.feed.item.__table__.name
        for reader, source, position in self.doubtful_copies():
            try:
                copy = yield from _look(context, feed, reader, source, position)
            except Undecodable:
                continue  # It is reported itself.
            if copy is not None:
                expected, there = differences(copy.wanted, copy.found)
                pair = Ref(feed.item, {feed.reader_field: reader, feed.source_field: source})
                yield from found(Drift("feed", self._label, table, copy.key, expected, there, pair))


def fix(context: Context, feed: Feed[Any], drift: Drift) -> Flow[None]:
    """Repair one drift, based on the current state."""
    assert drift.subject is not None, "a feed's drift knows its reader and source"
    reader, source = (drift.subject.values[f] for f in (feed.reader_field, feed.source_field))
    position = drift.key[feed.item.__spec__.key.attributes[1].attribute]["S"]
    copy = yield from _look(context, feed, reader, source, position)
    if copy is None:
        return
    if copy.wanted is not None:
        activity = _activity_ref(feed, copy.wanted)
        yield from commit(context, [Put(copy.wanted, absent=False), Check(activity)])
    elif copy.found is not None:
        gone = unchanged_check(_activity_ref(feed, copy.found), None, frozenset())
        yield from commit(context, [Delete(copy.found.ref()), gone])


@dataclass(frozen=True)
class _WrongCopy:
    """A copy, expected and found."""

    key: Item
    wanted: Entity | None
    found: Entity | None


def _look(
    context: Context, feed: Feed[Any], reader: str, source: str, position: str
) -> Flow[_WrongCopy | None]:
    """What is wrong now with a copy that a reader sees; None if nothing is."""
    if not (yield from is_copied(context, feed, source, position)):
        return None
    since = {}
    for edge in feed.edges.values():
        item = yield from raw(context, edge.ref(reader, source))
        if item is not None:
            since[source] = edge.time_of(edge.entity.__spec__.decode(item))
    boundary = (yield from boundaries(context, feed, since)).get(source)
    if boundary is None or position < boundary:
        return None
    partition, sort = feed.activity.__spec__.key.attributes
    rendered = partition.render({feed.source_field: source}, owner=feed.name)
    origin = {partition.attribute: rendered, sort.attribute: {"S": position}}
    key = feed.copy_key(reader, position)
    activity = yield from _decoded(context, feed.activity, origin)
    wanted = None if activity is None else feed.copy(activity, reader)
    found = yield from _decoded(context, feed.item, key)
    return None if wanted == found else _WrongCopy(key, wanted, found)


def _decoded(context: Context, entity: type[Entity], key: Item) -> Flow[Entity | None]:
    item = yield from raw(context, WireRef(entity, key))
    return None if item is None else entity.__spec__.decode(item)


def _activity_ref(feed: Feed[Any], copy: Entity) -> Ref[Any]:
    """A copy has the source and the sort key of its activity."""
    fields = feed.activity.__spec__.key.address
    return Ref(feed.activity, {field: getattr(copy, field) for field in fields})
