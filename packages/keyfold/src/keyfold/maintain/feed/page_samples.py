"""Sampled pages: some pages count themselves, and propose pulled sources to push."""

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
from keyfold.maintain.feed.policy import (
    BUSY_FROM,
    Crowd,
    EdgeRates,
    FadingCount,
    FeedPrices,
    sample_share,
)
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.writes import commit
from keyfold_engine.values.size import item_size

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

MOST_BUSY = 8


@dataclass(frozen=True)
class SeenPage:
    """A page as it was read."""

    items: Sequence[Entity]
    pulled: Mapping[str, str]
    limit: int
    since: datetime | None = None
    """When the oldest pulled follow of the reader was decided."""
    short: Sequence[str] = ()
    """Sources that were queried because their heads were too short."""
    asked: int = 0
    """How many sources were asked, for that or since no head was read."""


def sample(
    context: Context, feed: Feed[Any], reader: str, person: Any | None, seen: SeenPage
) -> Flow[None]:
    """Count the page, if it is sampled."""
    policy, now = feed.chosen_policy, context.now()
    guess = Crowd(policy.pages, policy.days)
    reading = pages_of(person, now, seen.since or now)
    window = _window(feed, now, seen)
    shown = Counter(getattr(item, feed.source_field) for item in seen.items)
    copies = sum(count for source, count in shown.items() if source not in seen.pulled)
    prices = FeedPrices(_bytes(seen.items), feed.ttl / DAY)
    share = sample_share(
        policy, prices, len(seen.pulled), copies / window, guess.blend(reading).rate, reading.days
    )
    if _chance(f"{reader} {now.timestamp()} {len(seen.items)}") >= share:
        return
    counted = reading.sampled(share)
    worth = {}
    for source in seen.pulled:
        # Half a post more than was seen, since zero observed is not zero.
        posts = FadingCount(shown[source] + 0.5, window)
        rates = EdgeRates(counted, posts, window, seen.limit, prices, crowd=guess)
        saving = rates.saving(rates.reading.rate, posts.rate)
        if saving * policy.horizon > prices.up(rates.shown_posts):
            worth[source] = saving
    least = feed.heads + 1 if feed.heads else BUSY_FROM
    # A page of copies is one request for each of these, heads are one more: what is left of twice
    # as many is for sources that have to be asked.
    spare = 1 if feed.removed is None else 2
    short = sorted(seen.short, key=lambda source: shown[source])[: max(0, seen.asked - spare)]
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
        short=short[:MOST_BUSY] or None,
    )
    # A concurrent sample was first; losing one is harmless.
    with suppress(AlreadyExists, ConditionFailed):
        if person is None:
            yield from commit(context, [Put(new)])
        else:
            same = FieldComparison(FieldPath(("at",)), "=", person.at)
            yield from commit(context, [Put(new, absent=False, condition=same)])


def _window(feed: Feed[Any], now: datetime, seen: SeenPage) -> float:
    """The days that the page covers; the whole feed if the page is not full."""
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
