"""What a feed counts: posts in the source's hint, pages in the reader's own item.

Posts are counted by addition alone, in the write that each post makes anyway: an event counts for
the more the later it is, which is the same as older ones fading. The condition on the newest
position lets a repeated record count once. Pages are sampled; a sample stands for those that were
not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import exp
from typing import TYPE_CHECKING, Any, Final

from keyfold.design.entity import Entity
from keyfold.design.predicate import Either, FieldComparison, FieldPath, Test
from keyfold.errors import ConditionFailed
from keyfold.maintain.feed.policy import (
    MEMORY,
    Crowd,
    EdgeRates,
    FadingCount,
    FeedPrices,
    Snapshot,
    crowd,
    post_count,
    unseen,
)
from keyfold.runtime.changes import Add, Change, Set, SetIfAbsent
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit
from keyfold_engine.values.size import item_size

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

LANDMARK: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""An event at this time has weight one."""
HIGHEST: Final = 280.0
"""The exponent of the largest weight that a DynamoDB number holds safely: year 2047."""
DAY: Final = timedelta(days=1)


def weight(at: datetime) -> float:
    """The weight of an event."""
    return exp(min(HIGHEST, (at - LANDMARK) / DAY / MEMORY))


def hint_changes(context: Context, feed: Feed[Any], activity: Entity) -> dict[str, Change]:
    """The change of a source's hint for a new activity."""
    at = min(context.now(), getattr(activity, feed.time_field))
    copy = feed.copy(activity, getattr(activity, feed.source_field))
    return {
        "last": Set(feed.position(activity)),
        "begun": SetIfAbsent(at),
        "posts": Add(1),
        "weight": Add(weight(at)),
        "item_bytes": Set(item_size(copy.__spec__.encode(copy))),
    }


def hint(context: Context, feed: Feed[Any], activity: Entity) -> Flow[None]:
    """Count an activity, and advance its source's hint."""
    last = FieldPath(("last",))
    newer = Either(Test("missing", last), FieldComparison(last, "<", feed.position(activity)))
    ref = feed.support.hint.key(source=getattr(activity, feed.source_field))
    with suppress(ConditionFailed):
        changes = hint_changes(context, feed, activity)
        yield from commit(context, [Update(ref, changes, newer, upsert=True)])


def posts_of(hint: Any | None, now: datetime) -> FadingCount:
    """A source's posting rate."""
    if hint is None or hint.begun is None:
        return post_count(0.0, 0.0, 0.0)
    return post_count(hint.weight / weight(now), (now - hint.begun) / DAY, hint.posts)


def pages_of(reader: Any | None, now: datetime, since: datetime) -> FadingCount:
    """A reader's page rate; an uncounted reader counts as unseen since `since`."""
    if reader is None:
        return unseen((now - since) / DAY)
    count = FadingCount(reader.seen, reader.days, reader.total, reader.noise)
    return count.aged((now - reader.at) / DAY)


def crowd_of(context: Context, feed: Feed[Any]) -> Flow[Crowd]:
    """The average reader of this feed."""
    ref = feed.support.crowd.key(name=feed.name)
    found = yield from find(context, ref, consistent=False)
    if found is None:
        return crowd(feed.chosen_policy, 0.0, 0.0, 0.0, 0.0)
    sums = (found.looks, found.rates, found.squares, found.noise)
    now = weight(context.now())
    return crowd(feed.chosen_policy, *(one / now for one in sums))


def note_readers(context: Context, feed: Feed[Any], counts: Sequence[FadingCount]) -> Flow[None]:
    """Add observations of some readers to the feed's average."""
    seen = [one for one in counts if one.days > 0]
    if not seen:
        return
    now = weight(context.now())
    sums = {
        "looks": float(len(seen)),
        "rates": sum(one.rate for one in seen),
        "squares": sum(one.rate**2 for one in seen),
        "noise": sum(one.noise / one.days**2 for one in seen),
    }
    changes: dict[str, Change] = {name: Add(value * now) for name, value in sums.items()}
    ref = feed.support.crowd.key(name=feed.name)
    yield from commit(context, [Update(ref, changes, upsert=True)])


def rates_of(
    feed: Feed[Any],
    now: datetime,
    others: Crowd,
    reader: Any | None,
    hint: Any | None,
    edge: Any | None,
) -> EdgeRates:
    """All rates of a reader and a source; `edge` is their mark or subscription."""
    at = edge.at if edge is not None and edge.at is not None else now
    switched = None
    if edge is not None and edge.at is not None and len(edge.counts) == 4:
        seen, total, posts, posted = edge.counts
        switched = Snapshot(seen, total, posts, posted, (now - at) / DAY, edge.moved)
    size = hint.item_bytes if hint is not None and hint.item_bytes else FeedPrices.item_bytes
    return EdgeRates(
        counted=pages_of(reader, now, at),
        posting=posts_of(hint, now),
        window=reader.window if reader is not None else 1.0,
        prices=FeedPrices(size, feed.ttl / DAY),
        switched=switched,
        crowd=others,
    )


def switched(rates: EdgeRates, now: datetime, *, moved: bool) -> dict[str, Any]:
    """The counts that a mark or subscription stores when it begins."""
    pages, posts = rates.counted, rates.posting
    counts = [float(f"{one:.6g}") for one in (pages.seen, pages.total, posts.seen)]
    return {"at": now, "counts": [*counts, posts.total], "moved": moved}
