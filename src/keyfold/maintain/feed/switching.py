"""Switching a source between pull and push, for one reader and for all of them.

A reader's `Source` item goes only when their feed has all of the source's copies, and comes back
before the source stops pushing. In between both ways are open, and the reader sees each activity
once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from keyfold.design.formats import iso
from keyfold.design.predicate import FieldComparison, FieldPath
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold.maintain.feed.edges import edge_between, is_listed
from keyfold.maintain.feed.jobs import for_all_followers
from keyfold.maintain.feed.posting import activities_of, copies_of
from keyfold.runtime.batch import delete_many, put_many, scan_page
from keyfold.runtime.changes import Set
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Check, Delete, Put, Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed


def settle(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[None]:
    """Let a reader's feed rely on the copies of a source that pushes, or that they subscribed."""
    mark = feed.source_ref(reader, source)
    around = yield from find(context, mark)
    if around is None or around.state != "pull":
        return
    edge = yield from edge_between(context, feed, reader, source)
    if edge is None or not (yield from is_listed(context, edge, reader, source)):
        return
    supply = Check(
        feed.support.state.key(source=source), FieldComparison(FieldPath(("mode",)), "=", "push")
    )
    if (yield from find(context, feed.subscription_ref(reader, source))) is not None:
        supply = Check(feed.subscription_ref(reader, source))
    activities = yield from activities_of(context, feed, source)
    yield from put_many(context, [feed.copy(activity, reader) for activity in activities])
    # Read again: what was deleted since, and what an earlier time left behind, must not come up.
    present = yield from activities_of(context, feed, source)
    kept = {feed.position(activity) for activity in present}
    copies = yield from copies_of(context, feed, reader, source)
    stale = [copy.ref() for copy in copies if feed.position(copy) not in kept]
    yield from delete_many(context, stale)
    pulled = FieldComparison(FieldPath(("state",)), "=", "pull")
    with suppress(ConditionFailed, NotFound):
        yield from commit(
            context,
            [
                Delete(mark, pulled, must_exist=True),
                Check(edge.ref(reader, source)),
                supply,
            ],
        )


def settle_all(context: Context, feed: Feed[Any], state: Any) -> Flow[None]:
    """The same for every follower."""

    def each(readers: list[str]) -> Flow[bool]:
        for reader in readers:
            yield from settle(context, feed, reader, state.source)
        return True

    yield from for_all_followers(context, feed, state.source, _job(state), each)


def pull_all(context: Context, feed: Feed[Any], state: Any) -> Flow[None]:
    """Let every follower pull; only then the source stops pushing."""

    def each(readers: list[str]) -> Flow[bool]:
        for reader in readers:
            yield from pull(context, feed, reader, state.source)
        return True

    yield from for_all_followers(context, feed, state.source, _job(state), each)
    same = FieldComparison(FieldPath(("changed_at",)), "=", state.changed_at)
    with suppress(ConditionFailed, NotFound):
        yield from commit(context, [Update(state.ref(), {"pushing": Set(False)}, same)])


def pull(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[None]:
    """Let one follower pull, and get no more copies of their own."""
    edge = yield from edge_between(context, feed, reader, source)
    if edge is None:
        return
    mark = feed.source_item(reader, source, "pull")
    marked = yield from find(context, mark.ref())
    subscription = yield from find(context, feed.subscription_ref(reader, source))
    ending = [] if subscription is None else [Delete(subscription.ref(), known=subscription)]
    with suppress(AlreadyExists, ConditionFailed, NotFound):
        if marked is None:
            yield from commit(context, [Put(mark), Check(edge.ref(reader, source)), *ending])
        elif ending:
            yield from commit(context, [Check(mark.ref()), *ending])


def subscribe(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[None]:
    """Have a pulled source's activities copied to one follower; the consumer brings the first."""
    edge = yield from edge_between(context, feed, reader, source)
    if edge is None:
        return
    subscription = feed.support.subscription(**{feed.reader_field: reader}, source=source)
    with suppress(AlreadyExists, ConditionFailed, NotFound):
        yield from commit(context, [Put(subscription), Check(edge.ref(reader, source))])


def renew(context: Context, feed: Feed[Any]) -> Flow[int]:
    """Make all copies of all pushing sources and for all subscribers anew; gives how many.

    Followers pull until their copies are complete again, so that nothing is missing meanwhile.
    """
    spec, renewed, start = feed.support.state.__spec__, 0, None
    while True:
        states, start = yield from scan_page(context, spec, start)
        for found in states:
            if found.mode == "push":
                pulled = found.model_copy(update={"mode": "pull", "changed_at": context.now()})
                yield from commit(context, [Put(pulled, absent=False)])
                yield from pull_all(context, feed, pulled)
                pushed = found.model_copy(update={"pushing": True, "changed_at": context.now()})
                yield from commit(context, [Put(pushed, absent=False)])
                yield from settle_all(context, feed, pushed)
                renewed += 1
        if start is None:
            break
    spec = feed.support.subscription.__spec__
    while True:
        subscriptions, start = yield from scan_page(context, spec, start)
        for found in subscriptions:
            reader, source = getattr(found, feed.reader_field), found.source
            yield from pull(context, feed, reader, source)
            yield from subscribe(context, feed, reader, source)
            yield from settle(context, feed, reader, source)
            renewed += 1
        if start is None:
            return renewed


def _job(state: Any) -> str:
    return f"{state.mode} {state.source} {iso(state.changed_at)}"
