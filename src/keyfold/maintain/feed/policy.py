"""Push or pull: which is cheaper for one source, and what one reader may pull.

Pushing writes one item for every follower of every post. Pulling reads the source's partition for
every page that any follower reads. Both grow with the number of followers, so that it cancels out:
what decides is how often a follower reads for each post. A write unit costs five read units, and
pulled partitions are read consistently, so pushing is the cheaper one from five reads a post on.
Pushing a busy account to a million followers is the expensive direction, however famous it is.

A page costs more with every source that its reader pulls. Few readers follow so many that they pull
more than a handful. Those get copies of all but the busiest, unless it would cost too much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from keyfold.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES
from keyfold.prices import prices

PULL_FROM = 2.0
"""A source is pushed where that is no dearer, and pulled again from so many times the price on."""

MOST_PULLED = 2
"""With so many pulled sources a page is within twice the requests, units and time of none."""
DEARER_FEED = 1.0
"""Copies for a reader may add so many times what their feed costs anyway."""
STAYING = 2.0
"""What is copied, or pulled, stays so until the difference is so many times as large."""
PAGE = 50

Mode = Literal["pull", "push"]


@dataclass(frozen=True)
class Rates:
    """What is known of a source and its followers, per day."""

    followers: int
    posts: float
    reads_per_follower: float
    item_bytes: int = 400


@dataclass(frozen=True)
class Decision:
    """A decision with its reasons, in units and dollars a day."""

    mode: Mode
    push_units: float
    pull_units: float
    push_dollars: float
    pull_dollars: float
    reason: str


def choose(rates: Rates, current: Mode = "pull") -> Decision:
    """What is cheaper; what is pushed stays so while it is not much dearer."""
    push_units = rates.posts * rates.followers * ceil(rates.item_bytes / WRITE_UNIT_BYTES)
    recent = max(1.0, min(rates.posts, 20.0))
    page_units = ceil(recent * rates.item_bytes / READ_UNIT_BYTES)
    pull_units = rates.reads_per_follower * rates.followers * page_units
    asked = prices()
    push, pull = push_units * asked.write / 1e6, pull_units * asked.read / 1e6
    dearer = push / pull if pull else float("inf")
    worth = 1.0 if current == "pull" else PULL_FROM
    mode: Mode = "push" if push == 0 or dearer <= worth else "pull"
    per_post = rates.reads_per_follower / rates.posts if rates.posts else float("inf")
    reason = (
        f"{rates.followers} followers read {per_post:.1f} pages per post: pushing costs "
        f"${push:.6f} a day, pulling ${pull:.6f}"
    )
    if mode == "push" and dearer > 1:
        reason += "; the difference is too small for a change"
    return Decision(mode, push_units, pull_units, push, pull, reason)


@dataclass(frozen=True)
class ReaderRates:
    """What is known of a reader, per day."""

    pages: float
    copies: float
    """Items that reach the feed from sources that push to everybody."""
    posts: Mapping[str, float]
    """Of each source that does not."""
    item_bytes: int = 400


@dataclass(frozen=True)
class ReaderChoice:
    """Which sources are copied for a reader, in dollars a day beside what the feed costs anyway."""

    copied: frozenset[str]
    extra_dollars: float
    feed_dollars: float
    reason: str


def choose_for_reader(rates: ReaderRates, copied: frozenset[str] = frozenset()) -> ReaderChoice:
    """Copy all but the busiest pulled sources where that is affordable, and else none."""

    def busy(source: str) -> float:
        return rates.posts[source] * (1 if source in copied else STAYING)

    asked, write = prices(), ceil(rates.item_bytes / WRITE_UNIT_BYTES)
    rest = sorted(rates.posts, key=busy, reverse=True)[MOST_PULLED:]
    page_units = ceil(PAGE * rates.item_bytes / READ_UNIT_BYTES) + 2
    feed = (rates.copies * write * asked.write + rates.pages * page_units * asked.read) / 1e6
    posts = sum(rates.posts[source] for source in rest)
    extra = (posts * write * asked.write - rates.pages * len(rest) * asked.read) / 1e6
    worth = DEARER_FEED * (STAYING if copied else 1)
    affordable = extra <= worth * feed
    if not rest:
        reason = f"{len(rates.posts)} pulled sources make no page long"
    else:
        reason = (
            f"copying {len(rest)} of {len(rates.posts)} pulled sources costs ${extra:.6f} a day "
            f"more, the feed ${feed:.6f}"
        )
        reason += "" if affordable else ": too much for shorter pages"
    return ReaderChoice(frozenset(rest if affordable else ()), extra, feed, reason)
