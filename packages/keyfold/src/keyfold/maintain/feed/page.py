"""A page of a feed: the reader's copies and the pulled sources, merged newest first.

The activities themselves are always complete. Copies replace them only for sources without a
`Source` item in the reader's partition. Those items and the removed list say which copies do not
count, and are read first: copies are complete before a reader relies on them, and deleted before
their entry in the list is. Pulled sources are opened only when their newest activity can be on the
page. Heads are read with the copies, and sources are queried only for what is older.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.read import Page
from keyfold.design.template import HIGHEST
from keyfold.errors import PlanError
from keyfold.maintain.feed import heads, removed_list
from keyfold.maintain.feed.contents import glances, read_glances, run_concurrently
from keyfold.maintain.feed.newest_first import (
    LOWEST,
    PartitionRead,
    PlacedItem,
    backwards,
    is_left,
    next_newest,
)
from keyfold.maintain.feed.page_samples import SeenPage, sample
from keyfold.maintain.feed.policy import BUSY_MARGIN
from keyfold.maintain.feed.support_items import READER
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
"""About as many activities as one read unit holds; fewer would cost the same."""
HINTS_FROM = 24
"""With more pulled sources than this, and no earlier page, their hints are read first."""


@dataclass(frozen=True)
class _Known:
    """What one round of requests tells about a reader."""

    pulled: Mapping[str, str]
    """Sources, and the position from which they are read: the newest, or where copies end."""
    shadowed: Mapping[str, str]
    """Sources whose copies do not count, and up to which position."""
    removed: frozenset[str] | None
    """The names in the removed list; None if it is longer than what was read."""
    person: Any | None
    since: datetime | None
    """When the oldest of the reader's marks was created."""


@dataclass(frozen=True)
class _Pulled:
    """The contents of heads, and the sources themselves."""

    at_hand: Sequence[PartitionRead]
    sources: Mapping[str, PartitionRead]


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
    known = yield from _read_known(context, feed, reader, copies.bound)
    pulled = yield from _pulled(context, feed, reader, known, copies, limit)
    streams = [copies, *pulled.at_hand, *pulled.sources.values()]
    page: list[I] = []
    last, more = "", False
    while len(page) < limit and (found := (yield from next_newest(streams, limit - len(page)))):
        while len(page) < limit and found:
            some, found = found[: limit - len(page)], found[limit - len(page) :]
            removed = known.removed
            if removed is None:
                removed = yield from _removed_among(context, feed, known, copies, some)
            for one in some:
                if one.position == last:
                    continue
                activity = one.stream.spec.decode(one.item)
                if one.stream.spec is copies.spec:
                    source = getattr(activity, feed.source_field)
                    hidden = one.stream is copies and _is_shadowed(known, source, one.position)
                    if hidden or removed_list.name_of(source, one.position) in removed:
                        continue
                    page.append(activity)
                else:
                    page.append(feed.copy(activity, reader))
                last = one.position
        more = bool(found) or is_left(streams)
    given += len(page)
    if feed.policy is not None:
        asked = {s: one for s, one in pulled.sources.items() if one.begun}
        short = [] if before else [source for source, one in asked.items() if one.later]
        seen = SeenPage(page, known.pulled, limit, known.since, short, len(asked))
        yield from sample(context, feed, reader, known.person, seen)
    more = more and len(page) == limit and given < feed.cap
    return Page(page, seal(context.cursor_key, scope, [last, given]) if more else None)


def _read_known(context: Context, feed: Feed[Any], reader: str, newest: str) -> Flow[_Known]:
    """One round: the reader with their sources, and the removed list."""
    sources = Walk("Query", _sources(context, feed, reader))
    first, *listed = yield Parallel([sources.call(), *removed_list.removed_query(context, feed)])
    around = yield from rest(sources, first)
    spec = feed.support.source.__spec__
    person, now = None, context.clock.now()
    if around and around[0][spec.table.schema.sort]["S"] == READER:
        person = feed.support.reader.__spec__.decode(around.pop(0))
    found = [spec.decode(item) for item in around]
    live = [s for s in found if s.expires_at is None or s.expires_at.timestamp() > now]
    since = {s.source: s.since if s.state == "push" else HIGHEST for s in live}
    return _Known(
        pulled={s.source: min(newest, since[s.source]) for s in live if s.state != "gone"},
        shadowed=since,
        removed=removed_list.removed_names(feed, listed),
        person=person,
        since=min((s.at for s in live if s.at is not None), default=None),
    )


def _removed_among(
    context: Context,
    feed: Feed[Any],
    known: _Known,
    copies: PartitionRead,
    found: Sequence[PlacedItem],
) -> Flow[frozenset[str]]:
    """Which copies and head entries have lost their activity."""
    shown = []
    for one in found:
        if one.stream.spec is copies.spec:
            source = getattr(copies.spec.decode(one.item), feed.source_field)
            if one.stream is not copies or not _is_shadowed(known, source, one.position):
                shown.append((source, one.position))
    return (yield from removed_list.missing(context, feed, shown)) if shown else frozenset()


def _is_shadowed(known: _Known, source: str, position: str) -> bool:
    """Whether a copy does not count."""
    return position < known.shadowed.get(source, "")


def _sources(context: Context, feed: Feed[Any], reader: str) -> Item:
    """The request for the reader's own item and its marks."""
    table = feed.support.source.__table__.schema
    return {
        "TableName": context.physical(table),
        "ConsistentRead": True,
        "KeyConditionExpression": "#p = :p AND begins_with(#s, :s)",
        "ExpressionAttributeNames": {"#p": table.partition, "#s": table.sort},
        "ExpressionAttributeValues": {
            ":p": feed.source_ref(reader, "x").wire()[table.partition],
            ":s": {"S": READER},
        },
    }


def _pulled(
    context: Context,
    feed: Feed[Any],
    reader: str,
    known: _Known,
    copies: PartitionRead,
    limit: int,
) -> Flow[_Pulled]:
    """The pulled sources that may have something to show; the copies are read too.

    A full page of copies limits how far back the page can go. A source that was busy on an earlier
    page is asked for a quarter more than it had there.
    """
    bounds, at_hand, headed = dict(known.pulled), list[PartitionRead](), set[str]()
    busy: Mapping[str, int] = known.person.busy if known.person is not None else {}
    hints = [feed.support.hint.key(source=s) for s in _hinted_sources(feed, known, busy)]
    # Hints are read eventually consistent: one that is a moment old only makes an activity of this
    # moment come with the next look. It never shows what is gone. Heads are what a page shows.
    glimpses = glances(context, hints, consistent=feed.heads > 0)
    first, *answers = yield from run_concurrently([copies.next_call(), *glimpses])
    copies.take(first)
    if feed.heads:
        found = heads.opened(context, feed, reader, bounds, copies.oldest, answers)
        for source, (head, older) in found.items():
            at_hand.append(head)
            headed.add(source)
            bounds[source] = older
    else:
        for place, hint in read_glances(context, hints, answers).items():
            source, last = hints[place].values["source"], "" if hint is None else hint.last
            bounds[source] = min(bounds[source], last + LOWEST)
    opened = [source for source, bound in bounds.items() if bound > copies.oldest]
    floor = copies.oldest if copies.exhausted else copies.bound
    size = max(FIRST_READ, ceil(limit / max(1, len(opened))) if copies.exhausted else 0)
    spec = feed.activity.__spec__
    partition, request = spec.key.attributes[0], backwards(context, spec)
    asked = {
        source: PartitionRead(
            spec,
            request,
            partition.render({feed.source_field: source}, owner=feed.name),
            bounds[source],
            floor if bounds[source] > floor else copies.oldest,
            copies.oldest,
            min(limit + 1, max(size, ceil(BUSY_MARGIN * busy.get(source, 0)))),
            later=source in headed,
        )
        for source in opened
    }
    return _Pulled(at_hand, asked)


def _hinted_sources(feed: Feed[Any], known: _Known, busy: Mapping[str, int]) -> list[str]:
    """The pulled sources whose hints are read with the copies.

    Heads of all sources except those that had more on an earlier page than a head holds. Without
    heads, all or none: a hint is half a unit, cheaper than a query where most sources are quiet.
    """
    if feed.heads:
        return [source for source in known.pulled if source not in busy]
    if known.person is None:
        return list(known.pulled) if len(known.pulled) > HINTS_FROM else []
    quiet = bool(2 * known.person.lively < len(known.pulled))
    return list(known.pulled) if quiet else []


def _copies(
    context: Context, feed: Feed[Any], reader: str, newest: str, oldest: str, limit: int
) -> PartitionRead:
    spec = feed.item.__spec__
    partition = spec.key.attributes[0].render({feed.reader_field: reader}, owner=feed.name)
    request = backwards(context, spec)
    return PartitionRead(spec, request, partition, newest, oldest, oldest, limit + 1)
