"""Switching a source between pull and push, for one reader and for all of them.

A reader's `Source` item goes only when their feed has all of the source's copies, and comes back
before the source stops pushing. In between both ways are open, and the reader sees each activity
once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold.design.predicate import Compare, Path
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold.maintain.feed.posting import activities_of, copies_of, followers
from keyfold.maintain.reconcile import raw
from keyfold.runtime.batch import delete_many, put_many
from keyfold.runtime.changes import Set
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow, Pause
from keyfold.runtime.intent import Check, Delete, Put, Update
from keyfold.runtime.reads import find, read
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

INDEX_WAITS = 6


def settle(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[None]:
    """Let a reader's feed rely on the copies of a pushing source."""
    mark = feed.source_ref(reader, source)
    around = yield from find(context, mark)
    if around is None or around.state != "pull":
        return
    if not (yield from _shown(context, feed, reader, source)):
        return
    activities = yield from activities_of(context, feed, source)
    yield from put_many(context, [feed.copy(activity, reader) for activity in activities])
    # Read again: what was deleted since, and what an earlier time left behind, must not come up.
    present = yield from activities_of(context, feed, source)
    kept = {feed.position(activity) for activity in present}
    copies = yield from copies_of(context, feed, reader, source)
    stale = [copy.ref() for copy in copies if feed.position(copy) not in kept]
    yield from delete_many(context, stale)
    state = feed.support.state.key(source=source)
    pushing = Compare(Path(("mode",)), "=", "push")
    pulled = Compare(Path(("state",)), "=", "pull")
    try:
        yield from commit(
            context,
            [
                Delete(mark, pulled, must_exist=True),
                Check(feed.edge_ref(reader, source)),
                Check(state, pushing),
            ],
        )
    except (ConditionFailed, NotFound):
        return


def settle_all(context: Context, feed: Feed[Any], source: str) -> Flow[None]:
    """The same for every follower."""
    start = None
    while True:
        readers, start = yield from followers(context, feed, source, start)
        for reader in readers:
            yield from settle(context, feed, reader, source)
        if start is None:
            return


def pull_all(context: Context, feed: Feed[Any], source: str) -> Flow[None]:
    """Let every follower pull; only then the source stops pushing."""
    start = None
    while True:
        readers, start = yield from followers(context, feed, source, start)
        for reader in readers:
            yield from pull(context, feed, reader, source)
        if start is None:
            break
    state = feed.support.state.key(source=source)
    pulling = Compare(Path(("mode",)), "=", "pull")
    try:
        yield from commit(context, [Update(state, {"pushing": Set(False)}, pulling)])
    except (ConditionFailed, NotFound):
        return


def pull(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[None]:
    """Let one follower pull."""
    item = feed.source_item(reader, source, "pull")
    try:
        yield from commit(context, [Put(item), Check(feed.edge_ref(reader, source))])
    except (AlreadyExists, ConditionFailed, NotFound):
        return


def _shown(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[bool]:
    """Whether a fan-out would see the edge: the index may be behind the table."""
    if (yield from raw(context, feed.edge_ref(reader, source))) is None:
        return False
    declared = feed.followers.declared
    if declared.index is None:
        return True
    edge = yield from find(context, feed.edge_ref(reader, source))
    if edge is None:
        return False
    wanted = {name: getattr(edge, name) for name in declared.templates.fields}
    for attempt in range(INDEX_WAITS):
        if (yield from read(context, feed.followers.query(**wanted).exists(), {})):
            return True
        yield Pause(0.01 * 2**attempt)
    return False
