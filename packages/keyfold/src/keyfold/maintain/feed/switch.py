"""Switches one reader and source between pull and push.

To push, the reader is added to the source's list, gets one page of copies, and only then relies on
them; older posts are still pulled. To pull, the reader stops relying on copies before leaving the
list. Each write is conditional on the token of the state it was decided on, so that a follow, an
unfollow or another consumer in between wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from keyfold.design.predicate import FieldComparison, FieldPath, Predicate
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold.maintain.feed.contents import newest_of
from keyfold.maintain.feed.edges import edge_between
from keyfold.maintain.feed.support_items import new_token
from keyfold.runtime.batch import delete_many, put_many, scan_page
from keyfold.runtime.changes import Change, Set, clear
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Delete, Put, Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

PAGE = 50
"""The most copies that a switch to push writes: what one page can show."""
NOTHING: Mapping[str, Any] = {}


def push(
    context: Context,
    feed: Feed[Any],
    reader: str,
    source: str,
    reason: str,
    count: int = PAGE,
    switched: Mapping[str, Any] = NOTHING,
) -> Flow[bool]:
    """Start copying a source's activities to one follower who pulls; returns whether it did."""
    mark = yield from find(context, feed.source_ref(reader, source))
    if mark is None or mark.state != "pull":
        if mark is not None and mark.state == "gone":
            # An attempt that died may have left its entry in the list.
            yield from _take_off(context, feed, reader, source)
        return False
    subscription = feed.support.subscription(
        **{feed.reader_field: reader}, source=source, token=new_token(), reason=reason, **switched
    )
    yield from commit(context, [Put(subscription, absent=False)])
    since, expires_at = yield from _copy_newest(
        context, feed, reader, source, max(1, min(count, PAGE))
    )
    same = _token(mark.token)
    try:
        if not since:
            yield from commit(context, [Delete(mark.ref(), same, must_exist=True)])
        else:
            changes: dict[str, Change] = {
                "state": Set("push"),
                "since": Set(since),
                "token": Set(new_token()),
                "expires_at": Set(expires_at),
                "at": clear,
                "counts": Set([]),
            }
            yield from commit(context, [Update(mark.ref(), changes, same)])
    except (ConditionFailed, NotFound):
        around = yield from find(context, mark.ref())
        if around is not None and around.state == "gone":
            yield from _take_off(context, feed, reader, source, subscription.token)
        return False
    return True


def _copy_newest(
    context: Context, feed: Feed[Any], reader: str, source: str, count: int
) -> Flow[tuple[str, datetime | None]]:
    """Copy the newest activities; returns the position they go back to, empty if that is all."""
    found = yield from newest_of(context, feed, source, count + 1)
    some, since, expires_at = found[:count], "", None
    if len(found) > count:
        since = feed.position(some[-1])
        expires_at = getattr(some[-1], feed.time_field) + feed.ttl
    yield from put_many(context, [feed.copy(activity, reader) for activity in some])
    if some:
        # Read again: what was deleted since must not reappear.
        oldest = feed.position(some[-1])
        present = yield from newest_of(context, feed, source, PAGE + 1, oldest)
        kept = {feed.position(activity) for activity in present}
        stale = [a for a in some if feed.position(a) not in kept and len(present) <= PAGE]
        yield from delete_many(context, [feed.copy(activity, reader).ref() for activity in stale])
    return since, expires_at


def pull(
    context: Context,
    feed: Feed[Any],
    reader: str,
    source: str,
    switched: Mapping[str, Any] = NOTHING,
) -> Flow[bool]:
    """Let one follower pull, without further copies; returns whether that is new."""
    listed = yield from find(context, feed.subscription_ref(reader, source))
    mark = yield from find(context, feed.source_ref(reader, source))
    pulled = feed.source_item(reader, source, "pull").model_copy(update=dict(switched))
    try:
        if mark is None:
            if (yield from edge_between(context, feed, reader, source)) is not None:
                yield from commit(context, [Put(pulled)])
        elif mark.state == "push" or (mark.state == "pull" and listed is not None):
            # An entry beside a pulled mark is a switch to push under way: its last write must fail.
            same = _token(mark.token)
            yield from commit(context, [Put(pulled, absent=False, condition=same)])
    except (AlreadyExists, ConditionFailed):
        return False
    if listed is not None:
        yield from _take_off(context, feed, reader, source, listed.token)
    return mark is None or mark.state == "push"


def _take_off(
    context: Context, feed: Feed[Any], reader: str, source: str, token: str | None = None
) -> Flow[None]:
    """Remove a reader from the source's list; with a token, only that very entry."""
    ref = feed.subscription_ref(reader, source)
    with suppress(ConditionFailed, NotFound):
        yield from commit(context, [Delete(ref, None if token is None else _token(token))])


def _token(token: str) -> Predicate:
    return FieldComparison(FieldPath(("token",)), "=", token)


def renew(context: Context, feed: Feed[Any]) -> Flow[int]:
    """Rebuild the copies of all subscribers; returns how many.

    Each pulls until their copies are complete again, so that nothing is missing meanwhile.
    """
    entity, renewed, start = feed.support.subscription, 0, None
    while True:
        subscriptions, start = yield from scan_page(context, entity, start)
        for one in subscriptions:
            reader = getattr(one, feed.reader_field)
            kept = {"at": one.at, "counts": one.counts, "moved": one.moved}
            yield from pull(context, feed, reader, one.source)
            yield from push(context, feed, reader, one.source, one.reason, switched=kept)
            renewed += 1
        if start is None:
            return renewed
