"""A page now and then counts itself, and names the pulled sources that look worth pushing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zlib import crc32

from keyfold.design.entity import Entity
from keyfold.design.predicate import FieldComparison, FieldPath
from keyfold.errors import AlreadyExists, ConditionFailed
from keyfold.maintain.feed.counts import DAY, pages_of
from keyfold.maintain.feed.policy import Crowd, EdgeRates, FadingCount, FeedPrices, sampling
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.writes import commit
from keyfold.values.size import item_size

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

MOST_BUSY = 8
BUSY_FROM = 8
"""Activities of a source on a page from which on the next page asks it for more; with heads, from
one more than they hold."""


@dataclass(frozen=True)
class SeenPage:
    """A page as it was read."""

    items: Sequence[Entity]
    pulled: Mapping[str, str]
    limit: int
    since: datetime | None = None
    """When the oldest of the reader's follows that are pulled was decided."""


def sample(
    context: Context, feed: Feed[Any], reader: str, person: Any | None, seen: SeenPage
) -> Flow[None]:
    """Count the page, if it is one of those that are counted."""
    policy, now = feed.chosen_policy, context.now()
    guess = Crowd(policy.pages, policy.days)
    reading = pages_of(person, now, seen.since or now)
    window = _window(feed, now, seen)
    shown = Counter(getattr(item, feed.source_field) for item in seen.items)
    copies = sum(count for source, count in shown.items() if source not in seen.pulled)
    prices = FeedPrices(_bytes(seen.items), feed.ttl / DAY)
    share = sampling(policy, prices, len(seen.pulled), copies / window, guess.joined(reading).rate)
    if _chance(f"{reader} {now.timestamp()} {len(seen.items)}") >= share:
        return
    counted = reading.sampled(share)
    worth = {}
    for source in seen.pulled:
        # Half a post more than was seen, since nothing seen is not nothing.
        posts = FadingCount(shown[source] + 0.5, window)
        rates = EdgeRates(counted, posts, window, seen.limit, prices, crowd=guess)
        saving = rates.saving(rates.reading.rate, posts.rate)
        if saving * policy.horizon > prices.up(rates.shown):
            worth[source] = saving
    least = feed.heads + 1 if feed.heads else BUSY_FROM
    busy = {s: n for s, n in shown.most_common(MOST_BUSY) if n >= least and s in seen.pulled}
    new = feed.support.reader(
        **{feed.reader_field: reader},
        at=now,
        seen=counted.seen,
        days=counted.days,
        noise=counted.noise,
        total=counted.total,
        window=window,
        lively=sum(1 for source in seen.pulled if shown[source]),
        busy=busy,
        want=sorted(worth, key=lambda source: -worth[source])[: policy.at_once],
    )
    # Whoever counted at the same moment was first; one sample less is no harm.
    with suppress(AlreadyExists, ConditionFailed):
        if person is None:
            yield from commit(context, [Put(new)])
        else:
            same = FieldComparison(FieldPath(("at",)), "=", person.at)
            yield from commit(context, [Put(new, absent=False, condition=same)])


def _window(feed: Feed[Any], now: datetime, seen: SeenPage) -> float:
    """Days that the page goes back; all that a feed shows, where it is not full."""
    if len(seen.items) < seen.limit:
        return feed.ttl / DAY
    oldest: datetime = getattr(seen.items[-1], feed.time_field)
    return max(1e-3, (now - oldest) / DAY)


def _bytes(items: Sequence[Entity]) -> float:
    if not items:
        return FeedPrices.item_bytes
    return float(item_size(items[0].__spec__.encode(items[0])))


def _chance(text: str) -> float:
    return crc32(text.encode()) / 2**32
