"""Verifies a feed against its activities and edges, and repairs it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound, Undecodable
from keyfold.maintain.address import raw
from keyfold.maintain.drift import Drift, differences
from keyfold.maintain.feed.audit import Audit
from keyfold.maintain.feed.edges import FollowEdges, edge_between
from keyfold.maintain.feed.removed_list import name_of, refs_of
from keyfold.maintain.feed.switch import pull
from keyfold.maintain.reconcile import unchanged_check
from keyfold.runtime.batch import get_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.intent import Check, Delete, Put
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyfold.maintain.feed.declaration import Feed

Item = dict[str, Any]


class Verifying(Audit):
    """The audit of one feed; suspects are checked again."""

    def __init__(self, context: Context, feed: Feed[Any], label: str) -> None:
        super().__init__(context, feed)
        self._label = label

    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]:
        """Report what is still wrong."""
        feed, label = self.feed, self._label
        table = feed.item.__table__.name
        for reader, source, position in self.doubtful_copies():
            try:
                copy = yield from _look(context, feed, reader, source, position)
            except Undecodable:
                continue  # It is reported itself.
            if copy.is_wrong:
                expected, there = differences(copy.wanted, copy.found)
                mark = feed.source_ref(reader, source)
                yield from found(Drift("feed", label, table, copy.key, expected, there, mark))
        for reader, source in self.unmarked():
            if (yield from _lacks_mark(context, feed, reader, source)):
                mark = feed.source_ref(reader, source)
                expected = {"state": {"S": "pull"}}
                yield from found(Drift("feed", label, table, mark.wire(), expected, None, mark))
        for post, replicas in self.differing_removals():
            for entry in (yield from _entries(context, feed, post, replicas)):
                if entry.wanted != entry.found:
                    expected, there = differences(entry.wanted, entry.found)
                    key = entry.ref.wire()
                    yield from found(Drift("feed", label, table, key, expected, there, entry.ref))


def fix(context: Context, feed: Feed[Any], drift: Drift) -> Flow[None]:
    """Repair one drift, based on the current state."""
    assert drift.subject is not None, "a feed's drift knows its reader and source, or its entry"
    if drift.subject.entity is feed.support.removed:
        yield from _fix_entry(context, feed, drift.subject)
        return
    reader, source = drift.subject.values[feed.reader_field], drift.subject.values["source"]
    if drift.key == drift.subject.wire():
        yield from pull(context, feed, reader, source)
        return
    position = drift.key[feed.item.__spec__.key.attributes[1].attribute]["S"]
    copy = yield from _look(context, feed, reader, source, position)
    if not copy.is_wrong:
        return
    if copy.edge is None:
        # Hidden now; the consumer deletes it with the others.
        absent = [edge.absence(reader, source) for edge in feed.edges.values()]
        yield from commit(context, [feed.hiding(reader, source), *absent])
    elif copy.wanted is not None:
        activity, edge = _activity_ref(feed, copy.wanted), copy.edge.ref(reader, source)
        put = Put(copy.wanted, absent=False)
        yield from commit(context, [put, Check(activity), Check(edge)])
    elif copy.found is not None:
        gone = unchanged_check(_activity_ref(feed, copy.found), None, frozenset())
        yield from commit(context, [Delete(copy.found.ref()), gone])


@dataclass(frozen=True)
class _Entry:
    """An entry of the removed list, expected and found."""

    ref: Ref[Any]
    wanted: Entity | None
    found: Entity | None


def _entries(context: Context, feed: Feed[Any], post: str, replicas: int) -> Flow[list[_Entry]]:
    """All entries of one removal, in every replica that is written, while any of those has it."""
    refs = [feed.support.removed.key(replica=number, post=post) for number in range(replicas)]
    found = yield from get_many(context, refs)
    written = feed.removed.replicas if feed.removed else 0
    kept = next((entry for entry in found[:written] if entry is not None), None)
    wanted = [
        None if kept is None or number >= written else kept.model_copy(update={"replica": number})
        for number in range(replicas)
    ]
    return [_Entry(*one) for one in zip(refs, wanted, found, strict=True)]


def _fix_entry(context: Context, feed: Feed[Any], ref: Ref[Any]) -> Flow[None]:
    seen = max(feed.removed.replicas if feed.removed else 0, ref.values["replica"] + 1)
    entries = yield from _entries(context, feed, ref.values["post"], seen)
    entry = entries[ref.values["replica"]]
    if entry.wanted is not None and entry.found is None:
        other = next(one for one in entries if one.found is not None)
        # A removal completed meanwhile must not reappear.
        with suppress(AlreadyExists, ConditionFailed, NotFound):
            yield from commit(context, [Put(entry.wanted), Check(other.ref)])
    elif entry.wanted is None and entry.found is not None:
        yield from commit(context, [Delete(ref)])


@dataclass(frozen=True)
class _Copy:
    """A copy, expected and found."""

    key: Item
    edge: FollowEdges | None
    wanted: Entity | None
    found: Entity | None
    counts: bool
    """Readers see it, and it is not about to be removed."""

    @property
    def is_wrong(self) -> bool:
        return self.counts and self.wanted != self.found


def _look(
    context: Context, feed: Feed[Any], reader: str, source: str, position: str
) -> Flow[_Copy]:
    key = feed.copy_key(reader, position)
    mark = yield from find(context, feed.source_ref(reader, source))
    edge = yield from edge_between(context, feed, reader, source)
    item = yield from _item(context, feed.item, key)
    found = None if item is None else feed.item.__spec__.decode(item)
    wanted = None
    if edge is not None:
        origin = feed.activity_key(source, position)
        activity = yield from _item(context, feed.activity, origin)
        if activity is not None:
            wanted = feed.copy(feed.activity.__spec__.decode(activity), reader)
    counts = mark is None or (mark.state == "push" and mark.since <= position)
    for entry in refs_of(feed, name_of(source, position))[:1]:
        counts = counts and (yield from raw(context, entry)) is None
    return _Copy(key, edge, wanted, found, counts)


def _lacks_mark(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[bool]:
    if (yield from edge_between(context, feed, reader, source)) is None:
        return False
    if (yield from find(context, feed.subscription_ref(reader, source))) is not None:
        return False
    mark = yield from find(context, feed.source_ref(reader, source))
    return mark is None or mark.state == "push"


def _activity_ref(feed: Feed[Any], copy: Entity) -> Ref[Any]:
    """A copy has the source and the sort key of its activity."""
    fields = feed.activity.__spec__.key.address
    return Ref(feed.activity, {field: getattr(copy, field) for field in fields})


def _item(context: Context, entity: type[Entity], key: Item) -> Flow[Item | None]:
    table = context.physical(entity.__table__.schema)
    answer = yield Call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
    item: Item | None = answer.get("Item")
    return item
