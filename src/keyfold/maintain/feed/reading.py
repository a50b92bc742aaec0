"""A page of a feed: the reader's copies and the pulled sources, merged newest first.

The activities themselves are always complete. Copies are read instead of them only for sources
that have no `Source` item in the reader's partition, and one round of requests tells which. Pulled
sources are opened only when their newest activity can be on the page.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.read import Page
from keyfold.design.template import HIGHEST
from keyfold.errors import PlanError
from keyfold.limits import BATCH_GET_ITEMS
from keyfold.maintain.feed.merging import (
    CONCURRENCY,
    LOWEST,
    PartitionRead,
    backwards,
    is_left,
    next_newest,
)
from keyfold.maintain.feed.support import REPLICAS, SOURCE_PREFIX
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import seal, unseal
from keyfold.runtime.flow import Call, Flow, Parallel
from keyfold.runtime.walk import Walk, rest, unprocessed_keys

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

I = TypeVar("I", bound=Entity)  # noqa: E741 - the item of a feed
Item = dict[str, Any]

MOST = 100
HINTS_FROM = 24
"""With more pulled sources than this, their hints are read first."""
FIRST_READ = 8
"""About as many activities as one read unit holds; asking for fewer would cost the same."""


@dataclass(frozen=True)
class _Known:
    """What one round of requests says about a reader."""

    pulled: Sequence[str]
    shadowed: frozenset[str]
    """Sources whose copies do not count: they are pulled, or hidden."""
    removed: frozenset[tuple[str, str]]


def read_page(
    context: Context, feed: Feed[I], reader: str, limit: int, cursor: str | None
) -> Flow[Page[I]]:
    """Up to `limit` items; the cursor is the last position, whatever the sources are by then."""
    if not 1 <= limit <= MOST:
        raise PlanError(f"a page of a feed has 1 to {MOST} items, not {limit}")
    scope = f"feed:{feed.name}:{reader}"
    before, given = None, 0
    if cursor is not None:
        before, given = unseal(context.cursor_key, scope, cursor)
    limit = min(limit, feed.cap - given)
    if limit < 1:
        return Page([])
    oldest = feed.oldest(context.now())
    if before is not None and before <= oldest:
        return Page([])
    copies = _copies(context, feed, reader, before or feed.prefix + HIGHEST, oldest, limit)
    newest = copies.bound
    known = yield from _look_around(context, feed, reader, copies)
    pulled = yield from _pulled(context, feed, known, newest, copies, limit)
    streams = [copies, *pulled]
    page: list[I] = []
    last = ""
    while found := (yield from next_newest(streams, limit - len(page))):
        for place, one in enumerate(found):
            if one.position == last:
                continue
            activity = one.stream.spec.decode(one.item)
            if one.stream is copies:
                source = getattr(activity, feed.source_field)
                if source in known.shadowed or (source, one.position) in known.removed:
                    continue
                page.append(activity)
            else:
                page.append(feed.copy(activity, reader))
            last = one.position
            if len(page) == limit:
                given += limit
                more = given < feed.cap and (place + 1 < len(found) or is_left(streams))
                return Page(page, seal(context.cursor_key, scope, [last, given]) if more else None)
    return Page(page)


def _look_around(
    context: Context, feed: Feed[Any], reader: str, copies: PartitionRead
) -> Flow[_Known]:
    """One round: the newest copies, the sources that are pulled or hidden, the removed list."""
    sources = _everything(context, feed.support.source, feed.source_ref(reader, "x").wire())
    replica = random.randrange(REPLICAS)
    listed = feed.support.removed.key(replica=replica, position="x", source="x")
    removed = _everything(context, feed.support.removed, listed.wire(), prefix="")
    lists = [Walk("Query", sources), Walk("Query", removed)]
    answers = yield Parallel([copies.next_call(), *(walk.call() for walk in lists)])
    copies.take(answers[0])
    around = yield from rest(lists[0], answers[1])
    gone = yield from rest(lists[1], answers[2])
    spec, removals = feed.support.source.__spec__, feed.support.removed.__spec__
    now = context.clock.now()
    found = [spec.decode(item) for item in around]
    live = [s for s in found if s.expires_at is None or s.expires_at.timestamp() > now]
    entries = [removals.decode(item) for item in gone]
    return _Known(
        pulled=[s.source for s in live if s.state == "pull"],
        shadowed=frozenset(s.source for s in live),
        removed=frozenset((entry.source, entry.position) for entry in entries),
    )


def _everything(
    context: Context, entity: type[Entity], key: Item, prefix: str = SOURCE_PREFIX
) -> Item:
    table = entity.__table__.schema
    request: Item = {
        "TableName": context.physical(table),
        "ConsistentRead": True,
        "KeyConditionExpression": "#p = :p",
        "ExpressionAttributeNames": {"#p": table.partition},
        "ExpressionAttributeValues": {":p": key[table.partition]},
    }
    if prefix:
        request["KeyConditionExpression"] += " AND begins_with(#s, :s)"
        request["ExpressionAttributeNames"]["#s"] = table.sort
        request["ExpressionAttributeValues"][":s"] = {"S": prefix}
    return request


def _pulled(
    context: Context, feed: Feed[Any], known: _Known, newest: str, copies: PartitionRead, limit: int
) -> Flow[list[PartitionRead]]:
    """The pulled sources that may have something to show.

    A whole page of copies says how far back the page can go, so that no more is asked for.
    """
    bounds = dict.fromkeys(known.pulled, newest)
    if len(bounds) > HINTS_FROM:
        hints = yield from _hints(context, feed, known.pulled)
        bounds = {s: min(newest, hints.get(s, newest) + LOWEST) for s in known.pulled}
    opened = [source for source, bound in bounds.items() if bound > copies.oldest]
    floor, size = copies.oldest, max(FIRST_READ, ceil(limit / max(1, len(opened))))
    if not copies.exhausted:
        floor, size = copies.bound, limit
    spec = feed.activity.__spec__
    partition, request = spec.key.attributes[0], backwards(context, spec)
    return [
        PartitionRead(
            spec,
            request,
            partition.render({feed.source_field: source}, owner=feed.name),
            bounds[source],
            floor if bounds[source] > floor else copies.oldest,
            copies.oldest,
            size,
        )
        for source in opened
    ]


def _hints(context: Context, feed: Feed[Any], sources: Sequence[str]) -> Flow[dict[str, str]]:
    """When sources were last active; without those that were not answered, which may be any time.

    Read eventually consistent, for half the price: a hint that is a moment old only makes an
    activity of this moment come with the next look. It never shows what is gone.
    """
    spec = feed.support.hint.__spec__
    table = context.physical(spec.table.schema)
    calls, found = [], dict.fromkeys(sources, "")
    for start in range(0, len(sources), BATCH_GET_ITEMS):
        chunk = sources[start : start + BATCH_GET_ITEMS]
        keys = [_hint_key(feed, source) for source in chunk]
        calls.append(Call("BatchGetItem", {"RequestItems": {table: {"Keys": keys}}}))
    for start in range(0, len(calls), CONCURRENCY):
        for answer in (yield Parallel(calls[start : start + CONCURRENCY])):
            for item in answer["Responses"].get(table, ()):
                hint = spec.decode(item)
                found[hint.source] = hint.last
            left = unprocessed_keys(answer, table)
            for source in [s for s in sources if left and _hint_key(feed, s) in left]:
                del found[source]
    return found


def _hint_key(feed: Feed[Any], source: str) -> Item:
    key: Item = feed.support.hint.key(source=source).wire()
    return key


def _copies(
    context: Context, feed: Feed[Any], reader: str, newest: str, oldest: str, limit: int
) -> PartitionRead:
    spec = feed.item.__spec__
    partition = spec.key.attributes[0].render({feed.reader_field: reader}, owner=feed.name)
    request = backwards(context, spec)
    return PartitionRead(spec, request, partition, newest, oldest, oldest, limit + 1)
