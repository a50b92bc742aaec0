"""Fan-out: an activity of a flagged author is copied to all followers, and taken back from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold.design.entity import Entity
from keyfold.maintain.address import raw
from keyfold.maintain.feed.jobs import for_all
from keyfold.runtime.batch import delete_keys, put_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.reads import find

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed


def is_copied(context: Context, feed: Feed[Any], source: str, position: str) -> Flow[bool]:
    """Whether readers may rely on copies of an activity, by its author's flag of now."""
    if feed.push is None or position < feed.oldest(context.now()):
        return False
    since = feed.push.since_when((yield from find(context, feed.push.ref(source))))
    return since is not None and position >= feed.at(since)


def copy_to_all(context: Context, feed: Feed[Any], activity: Entity) -> Flow[None]:
    """Copy an activity to the feeds of all followers."""
    source, position = getattr(activity, feed.source_field), feed.position(activity)

    def copy_to(readers: list[str]) -> Flow[bool]:
        # A record may be old: the current state counts.
        present = yield from raw(context, activity.ref())
        if present is None:
            return False
        current = type(activity).__spec__.decode(present)
        yield from put_many(context, [feed.copy(current, reader) for reader in readers])
        if (yield from raw(context, activity.ref())) is None:
            # Deleted meanwhile: the cleanup may have missed what was just written.
            yield from _delete(context, feed, readers, position)
            return False
        return True

    yield from for_all(context, feed, source, f"copy {source} {position}", copy_to)


def delete_from_all(context: Context, feed: Feed[Any], activity: Entity) -> Flow[None]:
    """Delete the copies of an activity that is gone."""
    source, position = getattr(activity, feed.source_field), feed.position(activity)

    def delete_from(readers: list[str]) -> Flow[bool]:
        yield from _delete(context, feed, readers, position)
        return True

    yield from for_all(context, feed, source, f"remove {source} {position}", delete_from)


def _delete(context: Context, feed: Feed[Any], readers: list[str], position: str) -> Flow[None]:
    table = context.physical(feed.item.__table__.schema)
    yield from delete_keys(table, [feed.copy_key(reader, position) for reader in readers])
