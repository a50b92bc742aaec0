"""Sixty days of a feed on a network: the policy of production beside choices that never change.

Posts and pages are those of a network, by days. What a page, a copy and a switch cost is what the
engine charges (packages/keyfold/tests/unit/maintain/test_feed_units.py holds both together). Pages are sampled and
copies look at their readers as in production, and only these decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from typing import Protocol

import numpy as np

from bench.networks import DAYS, HISTORY, Network, Numbers
from keyfold_engine.limits import WRITE_UNIT_BYTES
from keyfold.maintain.feed.heads import LONG_FOR, SHORT_BYTES
from keyfold.maintain.feed.policy import (
    BUSY_FROM,
    BUSY_MARGIN,
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
    kept_share,
    post_count,
    sample_share,
    unseen,
)

PAGE = 50
PRICES = FeedPrices(item_bytes=364, days=30)
MOST_REQUESTS = 600
NEWEST = 12
POST_UNITS = 2 * PRICES.write
HINT_BYTES, NAMES_BYTES, ENTRY_BYTES = 240, 125, 126
"""A hint without a head, and compressed: what is once in a head, and what each activity adds."""
SHORT = int((SHORT_BYTES - HINT_BYTES - NAMES_BYTES) / ENTRY_BYTES)
HEADS = {
    "short heads": (SHORT, SHORT),
    "long heads": (NEWEST, NEWEST),
    "heads as asked": (SHORT, NEWEST),
}
LOOK_UNITS = 0.5
TWICE_PUSH = 6
"""The requests that a page should be within."""


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


class HeadLengths:
    """How many activities the head of each source has: none, `short` ones until pages ask for
    more, or all `most` from the beginning."""

    def __init__(self, users: int, short: int, most: int, seed: int = 5) -> None:
        self.short, self.most = short, most
        self.has = np.full(users, float(short))
        self.until = np.zeros(users)
        self.dice = np.random.default_rng(seed)

    def posted(self, day: int, posts: Numbers) -> float:
        """Heads grow with posts while they may be long; gives what all posts cost."""
        if not self.most:
            return float(posts.sum()) * POST_UNITS
        may = np.where(self.until > day, self.most, self.short)
        meanwhile = np.minimum(may, self.has + posts / 2)
        self.has = np.where(posts > 0, np.minimum(may, self.has + posts), self.has)
        # The hint is read before it is written, and looked at in the consumer.
        each = PRICES.write * (1 + hint_units(meanwhile)) + 2 * LOOK_UNITS
        return float((posts * each).sum())

    def asked(self, network: Network, day: int, short: Numbers, shares: Numbers) -> float:
        """Counted pages name heads that should be longer; gives what that costs."""
        if self.most == self.short:
            return 0.0
        drawn = self.dice.binomial(network.pages[:, day].astype(int), shares) > 0
        named = network.author[short & drawn[network.reader]]
        months = LONG_FOR / timedelta(days=1)
        sources = np.unique(named)
        new = sources[self.until[sources] < day + months / 2]
        self.until[new] = day + 1 + months
        return float(LOOK_UNITS * len(named) + PRICES.write * hint_units(self.has[new]).sum())


def hint_units(entries: Numbers) -> Numbers:
    """Write units of a hint with so many activities in its head."""
    whole: Numbers = np.ceil((HINT_BYTES + NAMES_BYTES + entries * ENTRY_BYTES) / WRITE_UNIT_BYTES)
    return whole


class Chooser(Protocol):
    """Says for each edge whether it is pushed."""

    shares: Numbers
    """Of each reader's pages, those that are counted."""

    def start(self, network: Network) -> Numbers: ...
    def born(self, edges: Numbers, day: int) -> Numbers: ...
    def after(self, day: int, pushed: Numbers) -> tuple[Numbers, float]: ...


@dataclass
class Fixed:
    """A choice that never changes."""

    pushed: Numbers
    shares: Numbers = field(default_factory=lambda: np.zeros(0))

    def start(self, network: Network) -> Numbers:
        self.shares = np.zeros(network.users)
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
        self.network, self.shares = network, np.zeros(network.users)
        weights = kept_share(1) ** np.arange(HISTORY)[::-1]
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
            post_count(float(self.posts[author]), days, float(self.posts_total[author])),
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
        self.posts = self.posts * kept_share(1) + posts
        self.posts_total = self.posts_total + posts
        self.reading = [one.aged(1) for one in self.reading]
        self.looks *= kept_share(1)
        wanted = pushed.copy()
        rate = (self.posts + 0.1) / (MEMORY * (1 - kept_share(HISTORY + day)) + 0.5)
        for reader in np.flatnonzero(pages):
            edges = self.of_reader[reader][alive[self.of_reader[reader]]]
            pulled = edges[~pushed[edges]]
            copies = float(rate[network.author[edges[pushed[edges]]]].sum())
            expected = self.crowd.blend(self.reading[reader]).rate
            watched = self.reading[reader].days
            share = sample_share(policy, PRICES, len(pulled), copies, expected, watched)
            self.shares[reader] = share
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
            days, count = float(day - self.at[edge]), int(posts[network.author[edge]])
            if self.dice.binomial(count, 1 / self.crowd.noted):
                one = self.reading[network.reader[edge]]
                self.looks += [1, one.rate, one.rate**2, one.noise / one.days**2]
                spent += PRICES.write + LOOK_UNITS
            looks = self.dice.binomial(count, 1 / policy.looks_at(days))
            if not looks:
                continue
            rates = self.rates(edge, day)
            if not decide(replace(rates, counted=unseen(days)), "push", policy).switch:
                continue
            spent += looks * LOOK_UNITS
            if decide(rates, "push", policy).switch:
                wanted[edge] = False
                self.snapshot(edge, day, moved=True)
        self.crowd = crowd(policy, *map(float, self.looks))
        return wanted, spent


@dataclass(frozen=True)
class PageCosts:
    """Of a page of each reader; and by edges, whether it names the head as too short."""

    units: Numbers
    requests: Numbers
    short: Numbers


def page_costs(
    network: Network, day: int, pulled: Numbers, heads: HeadLengths | None = None
) -> PageCosts:
    """Read units and requests, as `read_page` reads it."""
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
    busy = ours > BUSY_FROM
    asked = shared(np.where(busy, BUSY_MARGIN * ours, ours)) * pulled
    short = np.zeros(len(reader), bool)
    if heads is not None and heads.most:
        # Those that had more on an earlier page than any head holds are asked at once.
        direct = ours > heads.most
        has = heads.has[network.author]
        short = pulled & ~direct & (ours > has)
        headed = np.bincount(reader[pulled & ~direct], minlength=users)
        opened = np.ceil(headed / 100) + np.bincount(reader[direct | short], minlength=users)
        older = np.where(short, shared(ours - has), 0.0)
        sources = headed + np.bincount(
            reader, np.where(direct, shared(BUSY_MARGIN * ours), older), users
        )
        again = np.where(direct, 0.15, 0.0)
    else:
        some = np.minimum(1.0, ours)
        plain = np.bincount(reader, asked, users)
        hinted = 0.5 * count + np.bincount(reader, asked * some, users)
        use = hinted < plain
        few = np.ceil(count / 100) + np.bincount(reader, some * pulled, users)
        opened, sources = np.where(use, few, count), np.where(use, hinted, plain)
        again = np.where(busy, 0.15, 0.0)
    requests = 3 + opened + np.bincount(reader, again, users)
    units = np.maximum(1.0, np.ceil(first * PRICES.item - 1e-6))
    named = _first_of_each(reader, ours, short, requests - TWICE_PUSH)
    return PageCosts(units + marks + 1 + sources, requests, named)


def _first_of_each(reader: Numbers, shown: Numbers, among: Numbers, most: Numbers) -> Numbers:
    """Of some edges, those that show least, up to a number for each reader."""
    edges = np.flatnonzero(among)
    edges = edges[np.lexsort((shown[edges], reader[edges]))]
    place = np.arange(len(edges)) - np.searchsorted(reader[edges], reader[edges])
    chosen = np.zeros(len(reader), bool)
    chosen[edges[place < np.round(most[reader[edges]])]] = True
    return chosen


def run(network: Network, chooser: Chooser) -> Spent:
    """All sixty days."""
    return run_beside(network, chooser, {"": (0, 0)})[""]


def run_beside(
    network: Network, chooser: Chooser, heads: Mapping[str, tuple[int, int]]
) -> dict[str, Spent]:
    """All sixty days, with heads of each kind: nothing is decided otherwise for them."""
    ways = {name: (Spent(), HeadLengths(network.users, *kind)) for name, kind in heads.items()}
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
        for spent, lengths in ways.values():
            costs = page_costs(network, day, alive & ~pushed, lengths)
            places = np.minimum(np.round(costs.requests).astype(int), MOST_REQUESTS - 2)
            counted = pages * chooser.shares
            np.add.at(spent.requests, places, pages - counted)
            np.add.at(spent.requests, places + 1, counted)
            spent.copies += copies
            spent.pages += float((costs.units * pages).sum())
            spent.counting += counting + lengths.asked(network, day, costs.short, chooser.shares)
            spent.switching += moved
            spent.posts += lengths.posted(day, posts)
            spent.switches += int(up.sum() + down.sum())
        pushed = wanted
    return {name: spent for name, (spent, _) in ways.items()}


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
    headed: dict[str, Spent]
    """The same decisions with heads, of each kind."""

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
        return {f"policy, {kind}": spent for kind, spent in self.headed.items()}

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
    ours = run_beside(network, chooser, {"": (0, 0), **HEADS})
    return Comparison(
        push=run(network, Fixed(np.ones(edges, bool))),
        pull=run(network, Fixed(np.zeros(edges, bool))),
        author=min(authors, key=lambda one: one.total),
        edge=min(singly, key=lambda one: one.total),
        ours=ours[""],
        headed={kind: ours[kind] for kind in HEADS},
    )
