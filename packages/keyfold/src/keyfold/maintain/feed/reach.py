"""How a source's posts reach its followers, for administrators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.maintain.feed.counts import posts_of
from keyfold.maintain.feed.edges import edges_to
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.reads import find

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

MOST_COUNTED = 10_000
MOST_REASONS = 20


@dataclass(frozen=True)
class FeedReach:
    """What was decided about a source."""

    posts: float
    """Posts per day, recently."""
    followers: int
    copied: int
    """Followers who get copies; both counts stop at 10,000."""
    promoted: bool | None
    """The promotion flag, if set: push to all, or pull for all."""
    reasons: dict[str, str]
    """The reasons for some of those who get copies."""


def reach(context: Context, feed: Feed[Any], source: str) -> Flow[FeedReach]:
    """Read it from the current tables."""
    known = yield from find(context, feed.support.hint.key(source=source))
    flag = None
    if feed.promotion is not None:
        flag = yield from find(context, feed.promotion_ref(source))
    followers = yield from _some(context, source, list(feed.edges.values()))
    copied = yield from _some(context, source, [feed.subscribed])
    reasons = {getattr(one, feed.reader_field): one.reason for one in copied[:MOST_REASONS]}
    return FeedReach(
        posts=0.0 if known is None else posts_of(known, context.now()).rate,
        followers=len(followers),
        copied=len(copied),
        promoted=None if flag is None else bool(flag.fanout_enabled),
        reasons=reasons,
    )


def _some(context: Context, source: str, edges: list[Any]) -> Flow[list[Any]]:
    found: list[Any] = []
    start: Any = None
    while len(found) < MOST_COUNTED:
        more, start = yield from edges_to(context, edges, source, start)
        found += more
        if start is None:
            break
    return found[:MOST_COUNTED]
