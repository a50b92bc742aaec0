"""A page of a feed: the reader's copies and the pulled sources, merged newest first.

The activities themselves are always complete. Copies are read instead of them only for sources
that have no `Source` item in the reader's partition, and one round of requests tells which. Pulled
sources are opened only when their newest activity can be on the page.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.read import Page
from keyfold.design.template import HIGHEST
from keyfold.errors import PlanError
from keyfold.maintain.feed.contents import glance
from keyfold.maintain.feed.newest_first import (
    LOWEST,
    PartitionRead,
    backwards,
    is_left,
    next_newest,
)
from keyfold.maintain.feed.page_samples import SeenPage, sample
from keyfold.maintain.feed.support_items import READER, REPLICAS
from keyfold.runtime.batch import get_many
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import seal, unseal
from keyfold.runtime.flow import Flow, Parallel
from keyfold.runtime.walk import Walk, rest

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

I = TypeVar("I", bound=Entity)  # noqa: E741 - the item of a feed
Item = dict[str, Any]

MOST = 100
FIRST_READ = 11
"""About as many activities as one read unit holds; asking for fewer would cost the same."""
LISTED = 100
"""So much of the list of what was removed is read; where it is longer, each copy is asked for."""
HINTS_FROM = 24
"""With more pulled sources than this, and no page before to go by, their hints are read first."""


@dataclass(frozen=True)
class _Known:
    """What one round of requests says about a reader."""

    pulled: Mapping[str, str]
    """Sources, and the position from which on they are read: the newest, or what copies lack."""
    shadowed: Mapping[str, str]
    """Sources whose copies do not count, and up to which position."""
    removed: frozenset[tuple[str, str]]
    replica: int | None
    """The list of what was removed, if it is longer than what was read of it."""
    person: Any | None
    since: datetime | None
    """When the oldest of the reader's marks was made."""


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
    known = yield from _look_around(context, feed, reader, copies)
    streams = [copies, *(yield from _pulled(context, feed, known, copies, limit))]
    page: list[I] = []
    last, more = "", False
    while not more and (found := (yield from next_newest(streams, limit - len(page)))):
        removed = known.removed
        if known.replica is not None:
            shown = [one for one in found if one.stream is copies]
            removed = yield from _removed_among(context, feed, known.replica, shown)
        for place, one in enumerate(found):
            if one.position == last:
                continue
            activity = one.stream.spec.decode(one.item)
            if one.stream is copies:
                source = getattr(activity, feed.source_field)
                hidden = one.position < known.shadowed.get(source, "")
                if hidden or (source, one.position) in removed:
                    continue
                page.append(activity)
            else:
                page.append(feed.copy(activity, reader))
            last = one.position
            if len(page) == limit:
                given += limit
                more = place + 1 < len(found) or is_left(streams)
                break
        if len(page) == limit:
            break
    if feed.policy is not None:
        seen = SeenPage(page, known.pulled, limit, known.since)
        yield from sample(context, feed, reader, known.person, seen)
    more = more and given < feed.cap
    return Page(page, seal(context.cursor_key, scope, [last, given]) if more else None)


def _look_around(
    context: Context, feed: Feed[Any], reader: str, copies: PartitionRead
) -> Flow[_Known]:
    """One round: the newest copies, the reader with their sources, the removed list."""
    newest = copies.bound
    sources = _everything(context, feed.support.source, feed.source_ref(reader, "x").wire())
    replica = random.randrange(REPLICAS)
    listed = feed.support.removed.key(replica=replica, position="x", source="x")
    removed = _everything(context, feed.support.removed, listed.wire(), prefix="")
    lists = [Walk("Query", sources), Walk("Query", removed)]
    answers = yield Parallel([copies.next_call(), lists[0].call(), lists[1].call(LISTED)])
    copies.take(answers[0])
    around = yield from rest(lists[0], answers[1])
    gone = lists[1].take(answers[2])["Items"]
    spec, removals = feed.support.source.__spec__, feed.support.removed.__spec__
    person, now = None, context.clock.now()
    if around and around[0][spec.table.schema.sort]["S"] == READER:
        person = feed.support.reader.__spec__.decode(around.pop(0))
    found = [spec.decode(item) for item in around]
    live = [s for s in found if s.expires_at is None or s.expires_at.timestamp() > now]
    entries = [removals.decode(item) for item in gone]
    since = {s.source: s.since if s.state == "push" else HIGHEST for s in live}
    return _Known(
        pulled={s.source: min(newest, since[s.source]) for s in live if s.state != "gone"},
        shadowed=since,
        removed=frozenset((entry.source, entry.position) for entry in entries),
        replica=None if lists[1].ended else replica,
        person=person,
        since=min((s.at for s in live if s.at is not None), default=None),
    )


def _removed_among(
    context: Context, feed: Feed[Any], replica: int, found: Sequence[Any]
) -> Flow[frozenset[tuple[str, str]]]:
    """Which of these copies were removed, each asked for: the list is too long to be read."""
    copies = [one.stream.spec.decode(one.item) for one in found]
    refs = [
        feed.support.removed.key(
            replica=replica, source=getattr(copy, feed.source_field), position=one.position
        )
        for one, copy in zip(found, copies, strict=True)
    ]
    entries = (yield from get_many(context, refs)) if refs else []
    return frozenset((entry.source, entry.position) for entry in entries if entry is not None)


def _everything(context: Context, entity: type[Entity], key: Item, prefix: str = READER) -> Item:
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
    context: Context, feed: Feed[Any], known: _Known, copies: PartitionRead, limit: int
) -> Flow[list[PartitionRead]]:
    """The pulled sources that may have something to show.

    A whole page of copies says how far back the page can go, so that no more is asked for. A source
    that was busy on an earlier page is asked for a quarter more than it had there.
    """
    bounds = dict(known.pulled)
    if _are_mostly_quiet(known):
        hints = yield from _hints(context, feed, list(bounds))
        bounds = {s: min(bound, hints.get(s, bound) + LOWEST) for s, bound in bounds.items()}
    opened = [source for source, bound in bounds.items() if bound > copies.oldest]
    floor = copies.oldest if copies.exhausted else copies.bound
    first = max(FIRST_READ, ceil(limit / max(1, len(opened))) if copies.exhausted else 0)
    busy: Mapping[str, int] = known.person.busy if known.person is not None else {}
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
            min(limit + 1, max(first, ceil(1.25 * busy.get(source, 0)))),
        )
        for source in opened
    ]


def _are_mostly_quiet(known: _Known) -> bool:
    """Whether hints, half a unit each, are cheaper than asking every source."""
    if known.person is None:
        return len(known.pulled) > HINTS_FROM
    return bool(2 * known.person.lively < len(known.pulled))


def _hints(context: Context, feed: Feed[Any], sources: Sequence[str]) -> Flow[dict[str, str]]:
    """When sources were last active; without those that were not answered, which may be any time.

    Read eventually consistent, for half the price: a hint that is a moment old only makes an
    activity of this moment come with the next look. It never shows what is gone.
    """
    found = yield from glance(context, [feed.support.hint.key(source=s) for s in sources])
    return {sources[place]: "" if one is None else one.last for place, one in found.items()}


def _copies(
    context: Context, feed: Feed[Any], reader: str, newest: str, oldest: str, limit: int
) -> PartitionRead:
    spec = feed.item.__spec__
    partition = spec.key.attributes[0].render({feed.reader_field: reader}, owner=feed.name)
    request = backwards(context, spec)
    return PartitionRead(spec, request, partition, newest, oldest, oldest, limit + 1)
