"""Sixty days of a feed on a network: the policy of production beside choices that never change.

Posts and pages are those of a network, by days. What a page, a copy and a switch cost is what the
engine charges (tests/unit/maintain/test_feed_units.py holds both together). Pages are sampled and
copies look at their readers as in production, and only these decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import Protocol

import numpy as np

from bench.networks import DAYS, HISTORY, Network, Numbers
from keyfold.maintain.feed.policy import (
    MARK_BYTES,
    MEMORY,
    EdgeRates,
    FadingCount,
    FeedPolicy,
    FeedPrices,
    Mode,
    Snapshot,
    born,
    crowd,
    decide,
    fading,
    posting,
    sampling,
    unseen,
)

PAGE = 50
PRICES = FeedPrices(item_bytes=364, days=30)
MOST_REQUESTS = 600
HEADS = (2, 5, 8)
POST_UNITS = 2 * PRICES.write
HINT_BYTES, ENTRY_BYTES = 240, 311
"""A hint with an empty head, and what each activity adds to it."""
LOOK_UNITS = 0.5
NOTED = 32
"""One look in so many is noted for what readers are like."""


@dataclass
class Spent:
    """Read units, by what they were for, and how many requests pages took."""

    copies: float = 0.0
    pages: float = 0.0
    switching: float = 0.0
    counting: float = 0.0
    posts: float = 0.0
    switches: int = 0
    requests: Numbers = field(default_factory=lambda: np.zeros(MOST_REQUESTS))

    @property
    def read(self) -> float:
        """Pages."""
        return float(self.requests.sum())

    @property
    def total(self) -> float:
        return self.copies + self.pages + self.switching + self.counting + self.posts

    def percentile(self, share: float) -> int:
        whole = np.cumsum(self.requests)
        return int(np.searchsorted(whole, share * whole[-1]))

    @property
    def most(self) -> int:
        return int(np.flatnonzero(self.requests)[-1])

    def within(self, requests: int) -> float:
        return float(self.requests[: requests + 1].sum() / self.requests.sum())


class Chooser(Protocol):
    """Says for each edge whether it is pushed."""

    def start(self, network: Network) -> Numbers: ...
    def born(self, edges: Numbers, day: int) -> Numbers: ...
    def after(self, day: int, pushed: Numbers) -> tuple[Numbers, float]: ...


@dataclass
class Fixed:
    """A choice that never changes."""

    pushed: Numbers

    def start(self, network: Network) -> Numbers:  # noqa: ARG002 - always the same
        return self.pushed.copy()

    def born(self, edges: Numbers, day: int) -> Numbers:  # noqa: ARG002
        chosen: Numbers = self.pushed[edges]
        return chosen

    def after(self, day: int, pushed: Numbers) -> tuple[Numbers, float]:  # noqa: ARG002
        return pushed, 0.0


def shared(items: Numbers) -> Numbers:
    """Units of a pulled source, by what the page shows of it."""
    whole: Numbers = np.maximum(1.0, np.ceil(np.ceil(items - 1e-3) * PRICES.item - 1e-6))
    return whole


class Deciding:
    """The policy, deciding at sampled pages and at copies that look."""

    def __init__(
        self, policy: FeedPolicy | None = None, seed: int = 7, begin: Mode | None = None
    ) -> None:
        self.policy = policy or FeedPolicy()
        self.dice = np.random.default_rng(seed)
        self.begin = begin

    def start(self, network: Network) -> Numbers:
        self.network = network
        weights = fading(1) ** np.arange(HISTORY)[::-1]
        self.posts = network.posts[:, :HISTORY] @ weights
        self.posts_total = network.posts[:, :HISTORY].sum(1)
        self.reading: list[FadingCount] = [unseen(0)] * network.users
        self.looks = np.zeros(4)
        self.crowd = crowd(self.policy, *self.looks)
        edges = len(network.author)
        self.switched: list[Snapshot | None] = [None] * edges
        self.at = np.zeros(edges, int)
        order = np.argsort(network.reader, kind="stable")
        cuts = np.searchsorted(network.reader[order], np.arange(network.users + 1))
        self.of_reader = [order[a:b] for a, b in pairwise(cuts)]
        pushed = self.born(np.arange(edges), 0)
        if self.begin is not None:
            pushed[:] = self.begin == "push"
        return pushed

    def rates(self, edge: int, day: int) -> EdgeRates:
        network = self.network
        author, reader = network.author[edge], network.reader[edge]
        days = float(HISTORY + day)
        then = self.switched[edge]
        if then is not None:
            then = Snapshot(
                then.pages,
                then.pages_total,
                then.posts,
                then.posts_total,
                float(day - self.at[edge]),
                then.moved,
            )
        return EdgeRates(
            self.reading[reader],
            posting(float(self.posts[author]), days, float(self.posts_total[author])),
            float(network.window[reader, min(day, DAYS - 1)]),
            PAGE,
            PRICES,
            then,
            self.crowd,
        )

    def snapshot(self, edge: int, day: int, moved: bool) -> None:
        rates = self.rates(edge, day)
        self.at[edge] = day
        self.switched[edge] = Snapshot(
            rates.counted.seen,
            rates.counted.total,
            rates.posting.seen,
            rates.posting.total,
            0.0,
            moved,
        )

    def born(self, edges: Numbers, day: int) -> Numbers:
        chosen = []
        for edge in edges:
            self.snapshot(edge, day, moved=False)
            chosen.append(born(self.rates(edge, day), self.policy) == "push")
        return np.array(chosen, bool)

    def after(self, day: int, pushed: Numbers) -> tuple[Numbers, float]:
        network, policy = self.network, self.policy
        posts, pages = network.posts[:, HISTORY + day], network.pages[:, day]
        alive, spent = network.active(day), 0.0
        self.posts = self.posts * fading(1) + posts
        self.posts_total = self.posts_total + posts
        self.reading = [one.aged(1) for one in self.reading]
        self.looks *= fading(1)
        wanted = pushed.copy()
        rate = (self.posts + 0.1) / (MEMORY * (1 - fading(HISTORY + day)) + 0.5)
        for reader in np.flatnonzero(pages):
            edges = self.of_reader[reader][alive[self.of_reader[reader]]]
            pulled = edges[~pushed[edges]]
            copies = float(rate[network.author[edges[pushed[edges]]]].sum())
            expected = self.crowd.joined(self.reading[reader]).rate
            share = sampling(policy, PRICES, len(pulled), copies, expected)
            drawn = self.dice.binomial(int(pages[reader]), share)
            if not drawn:
                continue
            spent += drawn * PRICES.write
            for _ in range(drawn):
                self.reading[reader] = self.reading[reader].sampled(share)
            switches = 0
            for edge in sorted(pulled, key=lambda edge: rate[network.author[edge]]):
                decision = decide(self.rates(edge, day), "pull", policy)
                # The page says itself who is worth a look.
                spent += LOOK_UNITS if decision.saving > 0 else 0.0
                if decision.switch and switches < policy.at_once:
                    wanted[edge] = True
                    self.snapshot(edge, day, moved=True)
                    switches += 1
        copied = alive & pushed & (posts[network.author] > 0)
        for edge in map(int, np.flatnonzero(copied)):
            looks = self.dice.binomial(int(posts[network.author[edge]]), 1 / policy.looks)
            spent += looks * LOOK_UNITS
            if looks and not self.dice.integers(NOTED):
                one = self.reading[network.reader[edge]]
                self.looks += [1, one.rate, one.rate**2, one.noise / one.days**2]
                spent += PRICES.write
            if looks and decide(self.rates(edge, day), "push", policy).switch:
                wanted[edge] = False
                self.snapshot(edge, day, moved=True)
        self.crowd = crowd(policy, *map(float, self.looks))
        return wanted, spent


def post_units(heads: int) -> float:
    """A post with its hint; one with a head is read before it is written, and looked at later."""
    if not heads:
        return POST_UNITS
    return PRICES.write * (1 + ceil((HINT_BYTES + heads * ENTRY_BYTES) / 1024)) + 1.5


def page_costs(
    network: Network, day: int, pulled: Numbers, heads: int = 0
) -> tuple[Numbers, Numbers]:
    """Read units and requests of a page of each reader, as `read_page` reads it."""
    users, reader = network.users, network.reader
    shown = np.where(network.active(day), network.shown[:, day], 0.0)
    whole = np.bincount(reader, shown, users)
    ours = np.where(pulled, shown, 0.0)
    copies = np.maximum(0.0, whole - np.bincount(reader, ours, users))
    count = np.bincount(reader[pulled], minlength=users)
    marks = np.maximum(1.0, np.ceil(count * MARK_BYTES / 4096))
    # The first look at the copies takes a whole page of them, if there are so many.
    there = copies * PRICES.days / network.window[:, day]
    first = np.minimum(there, PAGE + 1)
    busy = ours > (heads or 8)
    asked = shared(np.where(busy, 1.25 * ours, ours)) * pulled
    again = np.where(busy, 0.15, 0.0)
    some = np.minimum(1.0, ours)
    plain = np.bincount(reader, asked, users)
    hinted = 0.5 * count + np.bincount(reader, asked * some, users)
    use = hinted < plain
    opened = np.where(use, np.ceil(count / 100) + np.bincount(reader, some * pulled, users), count)
    sources = np.where(use, hinted, plain)
    if heads:
        # Those that had more on an earlier page than a head holds are asked at once.
        asking = np.bincount(reader, busy, users)
        opened = np.ceil((count - asking) / 100) + asking
        sources = count - asking + np.bincount(reader, np.where(busy, asked, 0.0), users)
    requests = 3 + opened + np.bincount(reader, again, users)
    units = np.maximum(1.0, np.ceil(first * PRICES.item - 1e-6))
    return units + marks + 1 + sources, requests


def run(network: Network, chooser: Chooser) -> Spent:
    """All sixty days."""
    return run_beside(network, chooser, (0,))[0]


def run_beside(network: Network, chooser: Chooser, heads: Sequence[int]) -> dict[int, Spent]:
    """All sixty days, with heads of each length: nothing is decided otherwise for them."""
    ways = {newest: Spent() for newest in heads}
    pushed = chooser.start(network)
    for day in range(DAYS):
        alive = network.active(day)
        moved = 0.0
        new = np.flatnonzero(network.begin == day)
        if day > 0 and len(new):
            pushed[new] = chooser.born(new, day)
            moved += _up(network, new[pushed[new]], day)
        posts, pages = network.posts[:, HISTORY + day], network.pages[:, day]
        copies = float((posts[network.author] * (alive & pushed)).sum()) * PRICES.copy
        wanted, counting = chooser.after(day, pushed)
        up, down = alive & wanted & ~pushed, alive & pushed & ~wanted
        moved += _up(network, np.flatnonzero(up), day) + down.sum() * PRICES.down
        for newest, spent in ways.items():
            units, requests = page_costs(network, day, alive & ~pushed, newest)
            places = np.minimum(np.round(requests).astype(int), MOST_REQUESTS - 1)
            np.add.at(spent.requests, places, pages)
            spent.copies += copies
            spent.pages += float((units * pages).sum())
            spent.counting += counting
            spent.switching += moved
            spent.posts += float(posts.sum()) * post_units(newest)
            spent.switches += int(up.sum() + down.sum())
        pushed = wanted
    return ways


def _up(network: Network, edges: Numbers, day: int) -> float:
    return sum(PRICES.up(float(network.shown[edge, day])) for edge in edges)


WEIGHTS = (0.6, 0.75, 0.9, 1.0, 1.15, 1.4)


def hindsight(network: Network, weight: float) -> tuple[Numbers, Numbers]:
    """Good fixed choices by authors and by edges, known afterwards; weights lean to one side."""
    push, pull = np.zeros(len(network.author)), np.zeros(len(network.author))
    for day in range(DAYS):
        alive, shown = network.active(day), network.shown[:, day]
        posts, pages = network.posts[:, HISTORY + day], network.pages[:, day]
        push += np.where(alive, posts[network.author] * PRICES.copy, 0)
        each = shared(shown) + MARK_BYTES / 4096
        pull += np.where(alive, pages[network.reader] * each, 0)
    push *= weight
    by_author = np.bincount(network.author, pull) > np.bincount(network.author, push)
    return by_author[network.author], pull > push


@dataclass(frozen=True)
class Comparison:
    """One network: every fixed choice beside the policy."""

    push: Spent
    pull: Spent
    author: Spent
    """The best fixed choice by authors, known afterwards."""
    edge: Spent
    ours: Spent
    headed: dict[int, Spent]
    """The same decisions with heads, by how many activities they hold."""

    @property
    def ways(self) -> dict[str, Spent]:
        return {
            "pull": self.pull,
            "push": self.push,
            "best by authors": self.author,
            "best by edges": self.edge,
            "policy": self.ours,
        }

    @property
    def with_heads(self) -> dict[str, Spent]:
        return {f"policy, heads of {newest}": spent for newest, spent in self.headed.items()}

    @property
    def shares(self) -> dict[str, float]:
        """Each way over the best of those that are fixed by authors."""
        best = min(self.push.total, self.pull.total, self.author.total)
        return {way: spent.total / best for way, spent in self.ways.items()}

    @property
    def over_fixed(self) -> float:
        return self.ours.total / min(self.push.total, self.pull.total, self.author.total)

    @property
    def over_edges(self) -> float:
        best = min(self.push.total, self.pull.total, self.author.total, self.edge.total)
        return self.ours.total / best


def compare(network: Network, chooser: Chooser) -> Comparison:
    network.prepare(PAGE, PRICES.days)
    edges = len(network.author)
    ways = [hindsight(network, weight) for weight in WEIGHTS]
    authors = [run(network, Fixed(author)) for author, _ in ways]
    singly = [run(network, Fixed(edge)) for _, edge in ways]
    ours = run_beside(network, chooser, (0, *HEADS))
    return Comparison(
        push=run(network, Fixed(np.ones(edges, bool))),
        pull=run(network, Fixed(np.zeros(edges, bool))),
        author=min(authors, key=lambda one: one.total),
        edge=min(singly, key=lambda one: one.total),
        ours=ours[0],
        headed={newest: ours[newest] for newest in HEADS},
    )
