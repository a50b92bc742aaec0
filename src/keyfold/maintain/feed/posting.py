"""Posting and fanning out: an activity is written once, then copied where copies are read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from keyfold.design.entity import Entity
from keyfold.design.predicate import Either, FieldComparison, FieldPath, Test
from keyfold.errors import ConditionFailed
from keyfold.maintain.address import raw
from keyfold.maintain.feed.jobs import for_all_followers
from keyfold.runtime.batch import delete_many, put_many
from keyfold.runtime.changes import Set
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put, Update
from keyfold.runtime.query import query_request
from keyfold.runtime.walk import all_items
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

A = TypeVar("A", bound=Entity)
Item = dict[str, Any]

TRIM_EVERY = 32
"""One copy in so many looks whether its feed is over the cap."""


def post(context: Context, feed: Feed[Any], activity: A) -> Flow[A]:
    """Write the activity; its hint goes first, so that a hint is never older than the truth."""
    yield from hint(context, feed, activity)
    written = yield from commit(context, [Put(activity)])
    made: A = written[0]  # type: ignore[assignment]
    return made


def hint(context: Context, feed: Feed[Any], activity: Entity) -> Flow[None]:
    """Let the source's hint be at least as new as an activity."""
    source, position = getattr(activity, feed.source_field), feed.position(activity)
    last = FieldPath(("last",))
    newer = Either(Test("missing", last), FieldComparison(last, "<", position))
    ref = feed.support.hint.key(source=source)
    with suppress(ConditionFailed):
        yield from commit(context, [Update(ref, {"last": Set(position)}, newer, upsert=True)])


def fan_out(context: Context, feed: Feed[Any], activity: Entity, *, to_all: bool) -> Flow[None]:
    """Copy an activity to the feeds of all followers, or of the subscribed ones: one item each."""

    def copy_to(readers: list[str]) -> Flow[bool]:
        copies = [feed.copy(activity, reader) for reader in readers]
        yield from put_many(context, copies)
        if (yield from raw(context, activity.ref())) is None:
            # Deleted meanwhile: what was just written may be behind the cleaning.
            yield from delete_many(context, [copy.ref() for copy in copies])
            return False
        for copy in copies:
            yield from trim(context, feed, copy)
        return True

    source = getattr(activity, feed.source_field)
    name = f"{'copy' if to_all else 'send'} {source} {feed.position(activity)}"
    edges = feed.edges.values() if to_all else [feed.subscribed]
    yield from for_all_followers(context, feed, source, name, copy_to, edges)


def trim(context: Context, feed: Feed[Any], copy: Entity) -> Flow[None]:
    """Now and then, delete what is beyond the cap of a feed."""
    reader: str = getattr(copy, feed.reader_field)
    if crc32(f"{feed.position(copy)}{reader}".encode()) % TRIM_EVERY:
        return
    items = yield from copies_of(context, feed, reader)
    yield from delete_many(context, [item.ref() for item in items[feed.cap :]])


def copies_of(
    context: Context, feed: Feed[Any], reader: str, source: str | None = None
) -> Flow[list[Entity]]:
    """The copies in a reader's feed, newest first; of one source, or all."""
    spec = feed.item.__spec__
    partition, position = spec.key.attributes
    request: Item = {
        "TableName": context.physical(spec.table.schema),
        "KeyConditionExpression": "#p = :p AND begins_with(#s, :s)",
        "ExpressionAttributeNames": {"#p": partition.attribute, "#s": position.attribute},
        "ExpressionAttributeValues": {
            ":p": partition.render({feed.reader_field: reader}, owner=spec.name),
            ":s": {"S": feed.prefix},
        },
        "ScanIndexForward": False,
        "ConsistentRead": True,
    }
    found = [spec.decode(item) for item in (yield from all_items(request))]
    return [i for i in found if source is None or getattr(i, feed.source_field) == source]


def activities_of(context: Context, feed: Feed[Any], source: str) -> Flow[list[Entity]]:
    """A source's activities that a feed may show, newest first, up to the cap."""
    query = feed.activity.key.query(**{feed.source_field: source}).descending().consistent()  # type: ignore[attr-defined]
    query = query.since(**{feed.time_field: context.now() - feed.ttl})
    request = query_request(context, query, {})
    spec = feed.activity.__spec__
    items = [] if request is None else (yield from all_items(request, feed.cap))
    return [spec.decode(item) for item in items]
