"""A page of a feed: the reader's copies and the pulled sources, merged newest first.

A source's activities from its boundary on are read as copies, older ones from the source. The
boundary is the later of the flag and the follow, and a margin: copies of that time are complete,
however late the index of followers was. So a page needs nothing but the follows, their flags, the
copies and the sources, and what is not followed is not shown, copied or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Final, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.read import Page
from keyfold.design.template import HIGHEST
from keyfold.errors import PlanError
from keyfold.maintain.feed.edges import sources_of
from keyfold.maintain.feed.newest_first import (
    PartitionRead,
    backwards,
    is_left,
    next_newest,
)
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import seal, unseal
from keyfold.runtime.flow import Call, Flow, Parallel
from keyfold.runtime.walk import in_chunks
from keyfold_engine.limits import BATCH_GET_ITEMS

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

I = TypeVar("I", bound=Entity)  # noqa: E741 - the item of a feed

MOST: Final = 100
FIRST_READ: Final = 8
"""As many activities of 500 bytes as four kilobytes hold; fewer would cost the same."""


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
    newest, oldest = before or feed.prefix + HIGHEST, feed.oldest(context.now())
    if limit < 1 or newest <= oldest:
        return Page([])
    followed = yield from sources_of(context, feed.edges, reader)
    since = yield from boundaries(context, feed, followed)
    streams = _streams(context, feed, reader, followed, since, newest, oldest, limit)
    page: list[I] = []
    last, more = "", False
    while len(page) < limit and (found := (yield from next_newest(streams, limit - len(page)))):
        while len(page) < limit and found:
            one = found.pop(0)
            shown = one.stream.spec.decode(one.item)
            if one.stream.spec is feed.item.__spec__:
                source = getattr(shown, feed.source_field)
                if one.position < since.get(source, HIGHEST):
                    continue
                page.append(shown)
            else:
                page.append(feed.copy(shown, reader))
            last = one.position
        more = bool(found) or is_left(streams)
    given += len(page)
    more = more and len(page) == limit and given < feed.cap
    return Page(page, seal(context.cursor_key, scope, [last, given]) if more else None)


def boundaries(
    context: Context, feed: Feed[Any], followed: Mapping[str, datetime | None]
) -> Flow[dict[str, str]]:
    """The position of each flagged source from which on its copies count.

    Flags are read eventually consistent, for half the price: one that is a moment old is as good
    as a stream that is. A flag that was not answered counts as none.
    """
    if feed.push is None:
        return {}
    flag, found = feed.push.entity.__spec__, dict[str, str]()
    dated = {source: since for source, since in followed.items() if since is not None}
    [author] = flag.key.address
    table = context.physical(flag.table.schema)
    keys = (feed.push.ref(source).wire() for source in dated)
    calls = [
        Call("BatchGetItem", {"RequestItems": {table: {"Keys": some}}})
        for some in in_chunks(keys, BATCH_GET_ITEMS)
    ]
    answers = (yield Parallel(calls)) if calls else []
    for item in (item for answer in answers for item in answer["Responses"].get(table, ())):
        one = flag.decode(item)
        enabled = feed.push.since_when(one)
        if enabled is not None:
            source = getattr(one, author)
            found[source] = feed.boundary(enabled, dated[source])
    return found


def _streams(
    context: Context,
    feed: Feed[Any],
    reader: str,
    sources: Iterable[str],
    since: Mapping[str, str],
    newest: str,
    oldest: str,
    limit: int,
) -> list[PartitionRead]:
    """The copies that count, and what of each source is not copied."""
    bounds = {source: min(newest, since.get(source, newest)) for source in sources}
    pulled = {source: bound for source, bound in bounds.items() if bound > oldest}
    size = max(FIRST_READ, ceil(limit / max(1, len(pulled))))
    spec = feed.activity.__spec__
    partition, request = spec.key.attributes[0], backwards(context, spec)
    streams = [
        PartitionRead(
            spec,
            request,
            partition.render({feed.source_field: source}, owner=feed.name),
            bound,
            oldest,
            oldest,
            min(limit + 1, size),
        )
        for source, bound in pulled.items()
    ]
    low = max(oldest, min(since.values(), default=newest))
    if low < newest:
        copies = feed.item.__spec__
        home = copies.key.attributes[0].render({feed.reader_field: reader}, owner=feed.name)
        many = backwards(context, copies)
        streams.append(PartitionRead(copies, many, home, newest, low, low, limit + 1))
    return streams
