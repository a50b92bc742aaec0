"""A feed of up to 10^8 users, by readers that are drawn; `python -m bench.feed_scale` draws it.

Followers by rank are a Zipf law with exponent 0.78, which a power law of degrees with exponent 2.28
gives; posts and pages are lognormal. Rates are taken as known: what learning and switching cost is
what `bench.feed_days` measures. The rule is that of production.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

from bench.feed_days import PAGE, PRICES, shared
from bench.lines import lines
from bench.networks import Numbers
from keyfold.maintain.feed.policy import MARK_BYTES, EdgeRates, FadingCount, FeedPolicy, born
from keyfold.prices import prices

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
EXPONENT, FOLLOWS, READERS = 0.78, 50, 2000
PEAK = 3.0
"""The busiest hour over the mean."""
TABLE_WRITES, PARTITION_READS = 40_000.0, 3000.0
SUBSCRIPTION_BYTES = 200
TOP = 400


@dataclass(frozen=True)
class Day:
    """A day of a network, and what is largest in it."""

    users: int
    popular_post_most: bool
    push: float
    pull: float
    policy: float
    """Dollars."""
    units: float
    requests: float
    """Of an average page."""
    copied: float
    """The share of follows that are pushed."""
    widest: float
    """Copies of one post."""
    listing: float
    """Read units of the longest list of subscribers."""
    busiest: float
    """Reads a second of the partition that most readers pull."""
    gained: float
    """Follows a second of the most followed, on a day on which all of them come."""
    copies: float
    """Copies a second, in the busiest hour."""

    @property
    def seconds(self) -> float:
        """Of the widest fan-out, at all that a table takes by default."""
        return self.widest / TABLE_WRITES


def day(users: int, popular_post_most: bool) -> Day:
    dice = np.random.default_rng(3)
    rank = _drawn(dice, users, READERS * FOLLOWS)
    reader = np.repeat(np.arange(READERS), FOLLOWS)
    pages = np.minimum(dice.lognormal(0, 1, READERS) * 5 / np.exp(0.5), 60)
    posts = _posts(rank, users, popular_post_most)
    inflow = np.bincount(reader, posts, READERS)
    window = np.minimum(30.0, PAGE / np.maximum(inflow, 1e-9))
    shown = np.minimum(PAGE, posts * window[reader])
    pull = shared(shown) + MARK_BYTES / 4096
    pushed = np.array(
        [
            _is_pushed(float(pages[r]), float(p), float(window[r]))
            for r, p in zip(reader, posts, strict=True)
        ]
    )
    base, scale = float((pages * 7).sum()), users / READERS * prices().read / 1e6
    pulled = pages[reader] * pull

    def dollars(way: Numbers) -> float:
        return float(base + (pulled * ~way).sum() + (posts * way).sum() * PRICES.copy) * scale

    asked = np.bincount(reader, ~pushed, READERS)
    top = np.unique(np.concatenate([np.arange(1, 101), np.geomspace(1, users, TOP).astype(int)]))
    followers = _followers(top.astype(float), users)
    rates = _posts(top.astype(float), users, popular_post_most)
    many = np.sort(np.minimum(dice.lognormal(0, 1, 400) * 5 / np.exp(0.5), 60))
    gets = np.array([[_is_pushed(float(one), float(r), 5.0) for one in many] for r in rates])
    copied = followers * gets.mean(1)
    reads = followers * (many * ~gets).mean(1) / 86_400 * PEAK
    return Day(
        users,
        popular_post_most,
        push=dollars(np.ones_like(pushed)),
        pull=dollars(np.zeros_like(pushed)),
        policy=dollars(pushed),
        units=float((base + (pulled * ~pushed).sum()) / pages.sum()),
        requests=float(3 + np.average(asked, weights=pages)),
        copied=float(pushed.mean()),
        widest=float(copied.max()),
        listing=float(copied.max() * SUBSCRIPTION_BYTES / 4096),
        busiest=float(reads.max()),
        gained=float(followers.max() / 86_400 * PEAK),
        copies=float((posts * pushed).sum() / READERS * users / 86_400 * PEAK),
    )


def _is_pushed(pages: float, posts: float, window: float) -> bool:
    rates = EdgeRates(FadingCount(pages, 1.0), FadingCount(posts, 1.0), window, PAGE, PRICES)
    return born(rates, FeedPolicy()) == "push"


def _drawn(dice: np.random.Generator, users: int, size: int) -> Numbers:
    """Ranks of those who are followed."""
    left = 1 - EXPONENT
    whole: Numbers = np.floor((1 + dice.random(size) * (users**left - 1)) ** (1 / left))
    return whole


def _followers(rank: Numbers, users: int) -> Numbers:
    left = 1 - EXPONENT
    whole = (users**left - 1) / left
    found: Numbers = np.minimum(users / 2, users * FOLLOWS * rank**-EXPONENT / whole)
    return found


def _posts(rank: Numbers, users: int, popular_post_most: bool) -> Numbers:
    """Half a post a day on average, 50 at most: by the rank of followers, or by chance."""
    sigma, normal = 1.6, NormalDist()
    places = (rank - 0.5) / users if popular_post_most else (rank * 2654435761 % 2**32) / 2**32
    z = np.array([normal.inv_cdf(1 - min(max(one, 1e-9), 1 - 1e-9)) for one in places])
    rates: Numbers = np.minimum(50.0, 0.5 * np.exp(sigma * z - sigma**2 / 2))
    return rates


SHARDS = (1, 4, 16)


def hot(one: Day, shards: int) -> tuple[float, float, float]:
    """A celebrity in so many shards: reads a second of one replica of the newest posts, seconds to
    list the subscribers of a post, follows a second of one shard."""
    return one.busiest / shards, one.listing / (PARTITION_READS * shards), one.gained / shards


def days() -> Iterator[Day]:
    for popular in (False, True):
        for users in SIZES:
            yield day(users, popular)


def draw(folder: Path) -> None:
    """The plots of the page, and its table on the terminal."""
    found = list(days())
    for popular, name in ((False, "feed-scale"), (True, "feed-scale-popular")):
        some = [one for one in found if one.popular_post_most == popular]
        title = "Dollars a day, the popular post most" if popular else "Dollars a day"
        ways = {
            way: [(one.users, getattr(one, way)) for one in some]
            for way in ("pull", "push", "policy")
        }
        (folder / f"{name}.svg").write_text(lines(title, "users", "dollars", ways), "utf-8")
    some = [one for one in found if not one.popular_post_most]
    limits = {
        "copies of a post": [(one.users, one.widest) for one in some],
        "copies a second": [(one.users, one.copies) for one in some],
        "reads of one source": [(one.users, max(0.1, one.busiest)) for one in some],
    }
    plot = lines("What is largest", "users", "a post, or a second of the busiest hour", limits)
    (folder / "feed-scale-limits.svg").write_text(plot, "utf-8")
    most = [one for one in found if one.popular_post_most]
    reads = {
        f"{shards} of it": [(one.users, max(0.01, hot(one, shards)[0])) for one in most]
        for shards in SHARDS
    }
    plot = lines("The source that is pulled most", "users", "reads a second of one replica", reads)
    (folder / "feed-scale-hot.svg").write_text(plot, "utf-8")
    for one in found[2:5] + found[7:]:
        for shards in SHARDS:
            figures = " | ".join(f"{figure:,.1f}" for figure in hot(one, shards))
            way = "yes" if one.popular_post_most else "no"
            print(f"| {one.users:,} | {way} | {shards} | {figures} |")
    for one in found:
        print(
            f"| {one.users:,} | {'yes' if one.popular_post_most else 'no'} | {one.push:,.2f} | "
            f"{one.pull:,.2f} | {one.policy:,.2f} | {one.copied:.0%} | {one.units:.1f} | "
            f"{one.requests:.1f} | {one.widest:,.0f} | {one.seconds:,.1f} | {one.listing:,.0f} | "
            f"{one.copies:,.0f} | {one.busiest:,.1f} |"
        )


if __name__ == "__main__":
    draw(Path("docs/guide/images"))
