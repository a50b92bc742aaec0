"""What the policy needs to know of a source and of a reader, read from the tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from keyfold.design.entity import Entity
from keyfold.maintain.feed.edges import followers
from keyfold.maintain.feed.merging import CONCURRENCY
from keyfold.maintain.feed.policy import (
    Decision,
    Mode,
    Rates,
    ReaderChoice,
    ReaderRates,
    choose,
    choose_for_reader,
)
from keyfold.maintain.feed.posting import copies_of
from keyfold.maintain.feed.switching import pull, subscribe
from keyfold.runtime.batch import get_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow, Parallel
from keyfold.runtime.query import query_request
from keyfold.runtime.reads import find, read
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

WINDOW = timedelta(days=7)
DWELL = timedelta(days=1)
"""A source that was switched stays so for at least this long."""
MOMENT = timedelta(minutes=1)
SAMPLE = 16
"""So many activities, two read units, say how busy a source is."""
MOST_COUNTED = 10_000
"""Beyond so many followers their number does not change the choice."""


def explain(
    context: Context, feed: Feed[Any], source: str, reads_per_follower: float
) -> Flow[Decision]:
    """The choice for a source as its tables are now."""
    state = yield from find(context, feed.support.state.key(source=source))
    current: Mode = state.mode if state is not None else "pull"
    rates = yield from measure(context, feed, source, reads_per_follower)
    return choose(rates, current)


def rebalance(
    context: Context, feed: Feed[Any], source: str, reads_per_follower: float
) -> Flow[Decision]:
    """Switch a source where the choice says so; a promotion flag that is set stays in force."""
    state = yield from find(context, feed.support.state.key(source=source))
    choice = yield from explain(context, feed, source, reads_per_follower)
    if choice.mode == (state.mode if state is not None else "pull"):
        return choice
    if state is not None and context.now() - state.changed_at < DWELL:
        return choice
    if feed.promotion is not None:
        key = feed.promotion.__spec__.key.templates.partition.fields[0]
        flag = yield from find(context, feed.promotion.key(**{key: source}))  # type: ignore[attr-defined]
        if flag is not None:
            return choice
    yield from commit(context, feed.switching(source, choice.mode, choice.reason, context.now()))
    return choice


def measure(
    context: Context, feed: Feed[Any], source: str, reads_per_follower: float
) -> Flow[Rates]:
    """Followers and posts a day over the last week."""
    count, start = 0, None
    while count < MOST_COUNTED:
        found, start = yield from followers(context, feed.edges.values(), source, start)
        count += len(found)
        if start is None:
            break
    recent = feed.activity.key.query(**{feed.source_field: source})  # type: ignore[attr-defined]
    since = {feed.time_field: context.now() - WINDOW}
    posts = yield from read(context, recent.since(**since).count(), {})
    return Rates(count, posts / WINDOW.days, reads_per_follower)


def explain_reader(
    context: Context, feed: Feed[Any], reader: str, pages: float
) -> Flow[ReaderChoice]:
    """The choice for a reader as the tables are now."""
    choice, _ = yield from _choose_for(context, feed, reader, pages)
    return choice


def rebalance_reader(
    context: Context, feed: Feed[Any], reader: str, pages: float
) -> Flow[ReaderChoice]:
    """Subscribe the reader to what the choice says, and let them pull the rest."""
    choice, copied = yield from _choose_for(context, feed, reader, pages)
    for source in sorted(copied - choice.copied):
        yield from pull(context, feed, reader, source)
    for source in sorted(choice.copied - copied):
        yield from subscribe(context, feed, reader, source)
    return choice


def _choose_for(
    context: Context, feed: Feed[Any], reader: str, pages: float
) -> Flow[tuple[ReaderChoice, frozenset[str]]]:
    marks = yield from _all_of(context, feed.support.source, feed, reader)
    subscriptions = yield from _all_of(context, feed.support.subscription, feed, reader)
    subscribed = frozenset(one.source for one in subscriptions)
    known = sorted(subscribed | {mark.source for mark in marks if mark.state == "pull"})
    states = yield from get_many(context, [feed.support.state.key(source=s) for s in known])
    own = [s for s, state in zip(known, states, strict=True) if state is None or not state.pushing]
    posts = yield from _posts(context, feed, own)
    copies = yield from copies_of(context, feed, reader)
    common = [copy for copy in copies if getattr(copy, feed.source_field) not in subscribed]
    days = WINDOW.days if len(copies) < feed.cap else _age(context, feed, copies[-1])
    recent = [copy for copy in common if _age(context, feed, copy) <= WINDOW.days]
    rates = ReaderRates(pages, len(recent) / min(days, WINDOW.days), posts)
    copied = subscribed & posts.keys()
    return choose_for_reader(rates, copied), copied


def _posts(context: Context, feed: Feed[Any], sources: Sequence[str]) -> Flow[dict[str, float]]:
    """Posts a day of each source, by its newest few of the last week."""
    spec, since = feed.activity.__spec__, {feed.time_field: context.now() - WINDOW}
    found: dict[str, float] = {}
    for start in range(0, len(sources), CONCURRENCY):
        chunk = sources[start : start + CONCURRENCY]
        calls = []
        for source in chunk:
            query = feed.activity.key.query(**{feed.source_field: source})  # type: ignore[attr-defined]
            request = query_request(context, query.since(**since).descending(), {})
            calls.append(Call("Query", {**(request or {}), "Limit": SAMPLE}))
        for source, answer in zip(chunk, (yield Parallel(calls)), strict=True):
            items = [spec.decode(item) for item in answer["Items"]]
            days = WINDOW.days if len(items) < SAMPLE else _age(context, feed, items[-1])
            found[source] = len(items) / days
    return found


def _age(context: Context, feed: Feed[Any], item: Entity) -> float:
    """In days, and never none at all."""
    age: timedelta = context.now() - getattr(item, feed.time_field)
    return max(age, MOMENT) / timedelta(days=1)


def _all_of(context: Context, entity: Any, feed: Feed[Any], reader: str) -> Flow[list[Any]]:
    """A reader's support items of one kind."""
    query, cursor, found = entity.key.query(**{feed.reader_field: reader}), None, []
    while True:
        page = yield from read(context, query.consistent(), {}, cursor=cursor)
        found += page
        cursor = page.cursor
        if cursor is None:
            return found
