"""What the policy needs to know of a source, read from the tables."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from keyfold.maintain.feed.edges import followers
from keyfold.maintain.feed.policy import Choice, Mode, Rates, choose
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.reads import find, read
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

WINDOW = timedelta(days=7)
DWELL = timedelta(days=1)
"""A source that was switched stays so for at least this long."""
MOST_COUNTED = 10_000
"""Beyond so many followers their number does not change the choice."""


def explain(
    context: Context, feed: Feed[Any], source: str, reads_per_follower: float
) -> Flow[Choice]:
    """The choice for a source as its tables are now."""
    state = yield from find(context, feed.support.state.key(source=source))
    current: Mode = state.mode if state is not None else "pull"
    rates = yield from measure(context, feed, source, reads_per_follower)
    return choose(rates, current)


def rebalance(
    context: Context, feed: Feed[Any], source: str, reads_per_follower: float
) -> Flow[Choice]:
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
        found, start = yield from followers(context, feed, source, start)
        count += len(found)
        if start is None:
            break
    recent = feed.activity.key.query(**{feed.source_field: source})  # type: ignore[attr-defined]
    since = {feed.time_field: context.now() - WINDOW}
    posts = yield from read(context, recent.since(**since).count(), {})
    return Rates(count, posts / WINDOW.days, reads_per_follower)
