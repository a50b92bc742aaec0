"""Executes a removal: deletes copies, and a while later once more, with the entries.

A copy may still be in flight when the others are deleted: a request that arrives after its sender
gave up, or a stalled consumer. So the entries stay for a while and hide it. A settlement is due
when it is deleted: by a later removal, or by its time to live if none comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold.design.address import Ref
from keyfold.design.formats import iso
from keyfold.maintain.feed.heads import refresh
from keyfold.maintain.feed.jobs import for_all
from keyfold.maintain.feed.removed_list import SETTLED_AFTER, name_of, refs_of
from keyfold.runtime.batch import delete_keys, delete_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.walk import all_items
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

AT_ONCE = 2
"""Settlements handled with each removal: more than it adds, so that they do not accumulate."""


def carry_out(context: Context, feed: Feed[Any], source: str, position: str) -> Flow[None]:
    """Delete the copies of a removed activity, and settle what is due."""
    if position <= feed.oldest(context.now()):
        # Its copies have expired.
        yield from delete_many(context, refs_of(feed, name_of(source, position)))
        return
    yield from _clean(context, feed, source, position)
    due = context.now() + (feed.removed.settled_after if feed.removed else SETTLED_AFTER)
    settlement = feed.support.settlement(
        name=feed.name, due=due, source=source, position=position, expires_at=due
    )
    yield from commit(context, [Put(settlement, absent=False)])
    yield from delete_many(context, (yield from _due(context, feed)))


def settle(context: Context, feed: Feed[Any], source: str, position: str) -> Flow[None]:
    """Delete the copies once more, and then the entries that hide them."""
    yield from _clean(context, feed, source, position)
    yield from delete_many(context, refs_of(feed, name_of(source, position)))


def _due(context: Context, feed: Feed[Any]) -> Flow[list[Ref[Any]]]:
    spec = feed.support.settlement.__spec__
    partition, sort = spec.key.attributes
    request = {
        "TableName": context.physical(spec.table.schema),
        "ConsistentRead": True,
        "KeyConditionExpression": "#p = :p AND #s < :s",
        "ExpressionAttributeNames": {"#p": partition.attribute, "#s": sort.attribute},
        "ExpressionAttributeValues": {
            ":p": partition.render({"name": feed.name}, owner=spec.name),
            ":s": {"S": iso(context.now())},
        },
    }
    return [spec.decode(item).ref() for item in (yield from all_items(request, AT_ONCE))]


def _clean(context: Context, feed: Feed[Any], source: str, position: str) -> Flow[None]:
    """Delete the copies of one activity from all feeds and from its source's head."""

    def delete_from(edges: list[Any]) -> Flow[bool]:
        readers = {
            getattr(edge, feed.reader_field)
            if isinstance(edge, feed.support.subscription)
            else feed.ends(edge)[0]
            for edge in edges
        }
        table = context.physical(feed.item.__table__.schema)
        keys = [feed.copy_key(reader, position) for reader in sorted(readers)]
        yield from delete_keys(table, keys)
        return True

    # Subscribers once more: an index of followers may lag.
    everybody = [*feed.edges.values(), feed.subscribed]
    name = f"remove {source} {position}"
    yield from for_all(context, feed, source, name, delete_from, everybody)
    if feed.heads:
        yield from refresh(context, feed, source)
