"""Posting and fan-out: an activity is written once, then copied where copies are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from keyfold.design.entity import Entity
from keyfold.errors import AlreadyExists
from keyfold.maintain.address import raw
from keyfold.maintain.feed.counts import hint
from keyfold.maintain.feed.decisions import look
from keyfold.maintain.feed.heads import note, refresh
from keyfold.maintain.feed.jobs import for_all
from keyfold.runtime.batch import delete_many, put_many
from keyfold.runtime.changes import Set
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent, Put, Update
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

A = TypeVar("A", bound=Entity)


def post(context: Context, feed: Feed[Any], activity: A, more: Sequence[Intent] = ()) -> Flow[A]:
    """Write the activity; its hint goes first, so that a hint is never too old.

    A head is never too new: it is written afterwards, and then the post is acknowledged.
    """
    if not feed.heads:
        yield from hint(context, feed, activity)
    try:
        written = yield from commit(context, [Put(activity), *more])
    except AlreadyExists:
        # An attempt whose answer was lost may have died before its head.
        if feed.heads:
            yield from refresh(context, feed, getattr(activity, feed.source_field))
        raise
    made: A = written[0]  # type: ignore[assignment]
    if feed.heads:
        yield from note(context, feed, made)
    return made


def fan_out(
    context: Context, feed: Feed[Any], activity: Entity, known: Any | None = None
) -> Flow[None]:
    """Copy an activity to the feeds of all subscribers; `known` is its source's hint."""
    source, position = getattr(activity, feed.source_field), feed.position(activity)
    copied, present = 0, cast("Entity | None", None)

    def copy_to(subscriptions: list[Any]) -> Flow[bool]:
        nonlocal copied, present
        if not subscriptions:
            return True
        # A record may be old: the current state counts.
        present = present or (yield from _present(context, activity))
        if present is None:
            return False
        readers = [getattr(one, feed.reader_field) for one in subscriptions]
        copies = [feed.copy(present, reader) for reader in readers]
        yield from put_many(context, copies)
        if (yield from raw(context, activity.ref())) is None:
            # Deleted meanwhile: the cleanup may have missed what was just written.
            yield from delete_many(context, [copy.ref() for copy in copies])
            return False
        yield from look(context, feed, subscriptions, position, known, copied)
        copied += len(readers)
        return True

    name = f"copy {source} {position}"
    yield from for_all(context, feed, source, name, copy_to, [feed.subscribed])
    widest = feed.policy.widest if feed.policy is not None else None
    if known is not None and known.wide and widest is not None and 2 * copied < widest:
        yield from commit(context, [Update(known.ref(), {"wide": Set(False)}, lenient=True)])


def _present(context: Context, activity: Entity) -> Flow[Entity | None]:
    item = yield from raw(context, activity.ref())
    return None if item is None else type(activity).__spec__.decode(item)
