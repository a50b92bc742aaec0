"""A page of a feed: the reader's copies and the pulled sources, merged newest first.

The activities themselves are always complete. Copies are read instead of them only for sources
that have no `Source` item in the reader's partition, and one round of requests tells which. Pulled
sources are opened only when their newest activity can be on the page.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.formats import iso
from keyfold.design.read import Page
from keyfold.design.template import HIGHEST
from keyfold.errors import PlanError
from keyfold.limits import BATCH_GET_ITEMS
from keyfold.maintain.feed.support import REPLICAS, SOURCE_PREFIX
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import seal, unseal
from keyfold.runtime.flow import Call, Flow, Parallel

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

I = TypeVar("I", bound=Entity)  # noqa: E741 - the item of a feed
Item = dict[str, Any]

MOST = 100
CONCURRENCY = 16
HINTS_FROM = 24
"""With more pulled sources than this, their hints are read first."""
FIRST_READ = 8
"""About as many activities as one read unit holds; asking for fewer would cost the same."""


@dataclass
class _Stream:
    """One partition, read from new to old."""

    request: Item
    sort: str
    decode: Callable[[Item], Entity]
    bound: str
    """No unread item is newer than this."""
    size: int
    opened: bool = False
    exhausted: bool = False
    waiting: list[Item] = field(default_factory=list)

    def next_call(self) -> Call:
        return Call("Query", {**self.request, "Limit": self.size})

    def take(self, answer: Item) -> None:
        self.opened = True
        self.waiting += answer["Items"]
        last = answer.get("LastEvaluatedKey")
        self.exhausted = last is None
        self.size = min(self.size * 4, MOST + 1)
        if last is not None:
            self.request = {**self.request, "ExclusiveStartKey": last}
            self.bound = last[self.sort]["S"]

    @property
    def head(self) -> str | None:
        """The newest position that this stream may still give."""
        if self.waiting:
            position: str = self.waiting[0][self.sort]["S"]
            return position
        return None if self.exhausted else self.bound

    @property
    def hungry(self) -> bool:
        return not self.waiting and not self.exhausted


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
    oldest = _oldest(context, feed)
    copies = _copies(context, feed, reader, before, oldest, limit)
    known = yield from _look_around(context, feed, reader, copies)
    streams = [copies, *(yield from _pulled(context, feed, known, before, oldest, limit))]
    page: list[I] = []
    last: str | None = None
    while len(page) < limit:
        stream = yield from _newest(streams, limit - len(page))
        if stream is None:
            return Page(page)
        item = stream.waiting.pop(0)
        position: str = item[stream.sort]["S"]
        if position == last:
            continue
        activity = stream.decode(item)
        if stream is copies:
            source = getattr(activity, feed.source_field)
            if source in known.shadowed or (source, position) in known.removed:
                continue
            page.append(activity)  # type: ignore[arg-type]
        else:
            page.append(feed.copy(activity, reader))
        last = position
    if given + len(page) >= feed.cap or all(stream.head is None for stream in streams):
        return Page(page)
    return Page(page, seal(context.cursor_key, scope, [last, given + len(page)]))


def _look_around(context: Context, feed: Feed[Any], reader: str, copies: _Stream) -> Flow[_Known]:
    """One round: the newest copies, the sources that are pulled or hidden, the removed list."""
    sources = _everything(context, feed.support.source, feed.source_ref(reader, "x").wire())
    replica = random.randrange(REPLICAS)
    listed = feed.support.removed.key(replica=replica, position="x", source="x")
    removed = _everything(context, feed.support.removed, listed.wire(), prefix="")
    answers = yield Parallel([copies.next_call(), Call("Query", sources), Call("Query", removed)])
    copies.take(answers[0])
    around = yield from _rest(sources, answers[1])
    gone = yield from _rest(removed, answers[2])
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


def _rest(request: Item, answer: Item) -> Flow[list[Item]]:
    items: list[Item] = list(answer["Items"])
    while "LastEvaluatedKey" in answer:
        more = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}
        answer = yield Call("Query", more)
        items += answer["Items"]
    return items


def _pulled(
    context: Context, feed: Feed[Any], known: _Known, before: str | None, oldest: str, limit: int
) -> Flow[list[_Stream]]:
    streams = []
    bounds = dict.fromkeys(known.pulled, before or HIGHEST)
    if len(bounds) > HINTS_FROM:
        hints = yield from _hints(context, feed, known.pulled)
        bounds = {source: min(bound, hints.get(source, bound)) for source, bound in bounds.items()}
    size = min(limit, FIRST_READ)
    for source, bound in bounds.items():
        if bound <= oldest:
            continue
        key = feed.activity.__spec__.key
        partition = key.attributes[0].render({feed.source_field: source}, owner=feed.name)
        request = _backwards(context, feed.activity, partition, before, oldest)
        decode = feed.activity.__spec__.decode
        streams.append(_Stream(request, key.attributes[1].attribute, decode, bound, size))
    return streams


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
            left = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", ())
            for source in [s for s in sources if left and _hint_key(feed, s) in left]:
                del found[source]
    return found


def _hint_key(feed: Feed[Any], source: str) -> Item:
    key: Item = feed.support.hint.key(source=source).wire()
    return key


def _copies(
    context: Context, feed: Feed[Any], reader: str, before: str | None, oldest: str, limit: int
) -> _Stream:
    key = feed.item.__spec__.key
    partition = key.attributes[0].render({feed.reader_field: reader}, owner=feed.name)
    request = _backwards(context, feed.item, partition, before, oldest)
    decode = feed.item.__spec__.decode
    return _Stream(request, key.attributes[1].attribute, decode, before or HIGHEST, limit + 1)


def _backwards(
    context: Context, entity: type[Entity], partition: Item, before: str | None, oldest: str
) -> Item:
    """Newest first, from behind a position down to the oldest that a feed shows."""
    spec = entity.__spec__
    prefix = spec.key.templates.sort.literal_prefix if spec.key.templates.sort else ""
    # Positions are unique; one that ends before this character is the next older one.
    high = f"{before[:-1]}{chr(ord(before[-1]) - 1)}{HIGHEST}" if before else prefix + HIGHEST
    return {
        "TableName": context.physical(spec.table.schema),
        "KeyConditionExpression": "#p = :p AND #s BETWEEN :low AND :high",
        "ExpressionAttributeNames": {
            "#p": spec.table.schema.partition,
            "#s": spec.table.schema.sort,
        },
        "ExpressionAttributeValues": {
            ":p": partition,
            ":low": {"S": oldest},
            ":high": {"S": high},
        },
        "ScanIndexForward": False,
        "ConsistentRead": True,
    }


def _oldest(context: Context, feed: Feed[Any]) -> str:
    sort = feed.activity.__spec__.key.templates.sort
    assert sort is not None, "checked when declared"
    return sort.literal_prefix + iso(context.now() - feed.ttl)


def _newest(streams: list[_Stream], missing: int) -> Flow[_Stream | None]:
    """The stream with the newest item; those that may have a newer one are read first.

    A round of reads takes along all streams that will be asked for this page anyway: those whose
    bound is among the newest so many positions that are missing.
    """
    while True:
        known = max((s.waiting[0][s.sort]["S"] for s in streams if s.waiting), default="")
        if not any(s.hungry and s.bound >= known for s in streams):
            ready = [s for s in streams if s.waiting]
            return max(ready, key=lambda s: s.head or "") if ready else None
        cut = _position_at(streams, missing)
        batch = [s for s in streams if not s.exhausted and s.bound >= cut]
        batch = sorted(batch, key=lambda s: s.bound, reverse=True)[:CONCURRENCY]
        answers = yield Parallel([stream.next_call() for stream in batch])
        for stream, answer in zip(batch, answers, strict=True):
            stream.take(answer)


def _position_at(streams: list[_Stream], place: int) -> str:
    """The position at a place in the feed, as far as it is known."""
    positions: list[str] = [item[s.sort]["S"] for s in streams for item in s.waiting]
    positions += [s.bound for s in streams if not s.exhausted]
    return sorted(positions, reverse=True)[:place][-1]
