"""Push or pull, for one reader and one source: what is cheaper, and whether a switch pays.

Pushing writes a copy for each post. Pulling reads the source for each page. Both are counted with
weights that fade over a month, and compared in read units with everything that belongs to them. A
switch must pay for itself within the horizon, even if the rates are part of a standard error worse
than counted. The regret is what the other way would have saved since the last switch: below `least`
round trips nothing is switched a second time, from `guard` on it is switched whatever the rates
say. So no edge ever costs more than 1 + (guard + 1) / least times its better fixed way, and a few
round trips for its start and its end. ADR 19 has the proof.

All of this is arithmetic: the consumer and the simulator run the same lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp, sqrt
from typing import Final, Literal

from keyfold_engine.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES
from keyfold.prices import prices

Mode = Literal["pull", "push"]

MEMORY: Final = 28.0
"""Days after which an event counts for about a third. Stored counts depend on it."""
OVERHEAD_BYTES: Final = 100
"""What DynamoDB adds to each stored item."""
MARK_BYTES: Final = 100
COPY_READS: Final = 0.1
"""The list of subscribers, and the look whether the post still exists, for each copy."""
UP_WRITES: Final = 2.0
UP_READS: Final = 4.5
DOWN_WRITES: Final = 2.0
DOWN_READS: Final = 3.0
DAYS_A_MONTH: Final = 30.4
LASTING: Final = 60.0
"""Days that a follow is expected to last, at least."""
YOUNG: Final = 14.0
"""Days in which it shows whether a follow that is pushed is read."""
BUSY_FROM: Final = 8
"""Activities of a source on a page from which on the next page asks it for more at once."""
BUSY_MARGIN: Final = 1.25
"""How much more than on the last page a busy source is asked for."""
EARLY: Final = 3.0
"""How many times more pages of a new reader are counted: the first ones say most."""
FEWEST_LOOKS: Final = 40.0
"""Looks at readers before it is known what they are like."""
STANDS_FOR: Final = 10.0
"""Pages that a counted page represents, for a reader without counted pages."""
NOTED: Final = 288
"""Copies for each one whose reader is noted, for what readers are like."""
FIRST_NOTED: Final = 36
"""The same until that is known: each of the first decisions depends on it."""


@dataclass(frozen=True)
class FeedPolicy:
    """How a feed chooses between push and pull, and the bounds of that choice.

    `pages` and `days` are the first guess, until enough readers were sampled: an uncounted reader
    is assumed to read that many pages a day, observed for that many days. Guess high: too low a
    guess costs more.
    """

    pages: float = 8.0
    days: float = 0.7
    horizon: float = 30.0
    """Days within which a switch must pay for itself."""
    doubt: float = 0.6
    """Standard errors that are taken off a saving."""
    least: float = 2.0
    guard: float = 4.0
    samples: float = 0.01
    """What counting pages may cost, as a share of what it steers."""
    looks: int = 6
    """Copies for each one that looks whether its reader still reads, where that could end the
    copying; in the first two weeks, when less is known, a third of that."""
    at_once: int = 12
    """Switches that follow from one page, at most."""
    busiest: float | None = None
    """Sources with more posts a day are never pushed."""
    widest: int | None = None
    """Readers that a source is pushed to at most."""

    @property
    def faults(self) -> str:
        """Invalid settings; empty if all are valid."""
        bounds: dict[str, tuple[float | None, float]] = {
            "pages": (self.pages, 0.0),
            "days": (self.days, 0.0),
            "horizon": (self.horizon, 0.0),
            "doubt": (self.doubt, 0.0),
            "least": (self.least, 0.0),
            "guard": (self.guard, self.least),
            "samples": (self.samples, 0.0),
            "looks": (self.looks, 1.0),
            "at_once": (self.at_once, 1.0),
            "busiest": (self.busiest, 0.0),
            "widest": (self.widest, 0.0),
        }
        for name, (given, least) in bounds.items():
            if given is not None and not given >= least:
                return f"{name} of its policy must be at least {least:g}, not {given:g}."
        return ""

    def looks_at(self, days: float) -> int:
        """Copies for each look, for a follow that has been pushed for this many days."""
        return max(1, self.looks // 3) if days < YOUNG else self.looks


@dataclass(frozen=True)
class FeedPrices:
    """What the parts of a feed cost, in read units."""

    item_bytes: float = 400.0
    days: float = 30.0
    """How long a copy is kept."""

    @property
    def write(self) -> float:
        asked = prices()
        return asked.write / asked.read

    @property
    def copy(self) -> float:
        """A copy with its share of the fan-out, kept until it expires."""
        asked = prices()
        gigabytes = (self.item_bytes + OVERHEAD_BYTES) / 2**30
        kept = gigabytes * asked.storage * self.days / DAYS_A_MONTH / (asked.read / 1e6)
        return self.write * ceil(self.item_bytes / WRITE_UNIT_BYTES) + COPY_READS + kept

    @property
    def item(self) -> float:
        """One more item on a page."""
        return self.item_bytes / READ_UNIT_BYTES

    @property
    def down(self) -> float:
        return DOWN_WRITES * self.write + DOWN_READS

    def up(self, shown: float) -> float:
        return UP_WRITES * self.write + UP_READS + ceil(shown) * self.copy

    def pulled(self, shown: float) -> float:
        """What a page pays for pulling a source of which it shows so much.

        It does not read fewer copies for that: the first look takes a page of them.
        """
        asked = BUSY_MARGIN * shown if shown > BUSY_FROM else shown
        units = max(1, ceil(ceil(asked - 1e-3) * self.item - 1e-6))
        return units + MARK_BYTES / READ_UNIT_BYTES


@dataclass(frozen=True)
class FadingCount:
    """Events counted with fading weights, and for how many fading days."""

    seen: float
    days: float
    total: float = 0.0
    """Without fading, since counting began."""
    noise: float = 0.0
    """The variance of `seen` by sampling."""

    @property
    def rate(self) -> float:
        return self.seen / self.days

    def aged(self, days: float) -> FadingCount:
        """The same some days later."""
        kept = kept_share(days)
        return FadingCount(
            self.seen * kept,
            self.days * kept + MEMORY * (1 - kept),
            self.total,
            self.noise * kept * kept,
        )

    def sampled(self, share: float) -> FadingCount:
        """With one more event, which represents those that were not sampled."""
        more = 1 / share
        return FadingCount(self.seen + more, self.days, self.total + more, self.noise + more * more)


def kept_share(days: float) -> float:
    """What is left of a count after these days."""
    return exp(-max(0.0, days) / MEMORY)


def post_count(seen: float, days: float, total: float) -> FadingCount:
    """Posts of a source that has been counted for these days."""
    return FadingCount(seen + 0.1, MEMORY * (1 - kept_share(days)) + 0.5, total)


def unseen(days: float) -> FadingCount:
    """Pages of a reader without counted pages in these days."""
    return FadingCount(0.0, MEMORY * (1 - kept_share(days)))


@dataclass(frozen=True)
class Crowd:
    """What readers are like: the mean of their pages a day, and for how many days it counts."""

    pages: float
    days: float
    """For a reader whose counted pages represent `STANDS_FOR` each. For one whose pages are counted
    more rarely, and are known less, it is as many times more."""
    known: bool = True
    """Whether there were looks at enough readers."""

    @property
    def noted(self) -> int:
        """Copies for each one whose reader is noted."""
        return NOTED if self.known else FIRST_NOTED

    def blend(self, count: FadingCount) -> FadingCount:
        """A reader's own count beside what others do."""
        each = count.noise / count.seen if count.seen else STANDS_FOR
        days = self.days * each / STANDS_FOR
        seen = count.seen + self.pages * days
        noise = count.noise + self.pages * days * each
        return FadingCount(seen, count.days + days, count.total, noise)


def crowd(policy: FeedPolicy, looks: float, rates: float, squares: float, noise: float) -> Crowd:
    """From sums over looks at readers; the first guess until there are enough.

    The mean counts for many days where readers are alike, for few where they differ: as a gamma
    distribution of this mean and spread does beside counts of its own.
    """
    if looks < FEWEST_LOOKS:
        return Crowd(policy.pages, policy.days, known=False)
    mean = rates / looks
    spread = squares / looks - mean * mean - noise / looks
    return Crowd(mean, min(20.0, max(0.2, STANDS_FOR * mean / max(spread, 1e-6))))


@dataclass(frozen=True)
class Snapshot:
    """Both counts as they were when an edge began or was switched, and how many days ago."""

    pages: float
    pages_total: float
    posts: float
    posts_total: float
    days: float = 0.0
    moved: bool = True
    """Whether it was switched; else it is as it began."""


@dataclass(frozen=True)
class EdgeRates:
    """All that is known of one reader and one source."""

    counted: FadingCount
    """The reader's own pages."""
    posting: FadingCount
    window: float = 1.0
    """Days that a page goes back."""
    page: int = 50
    prices: FeedPrices = field(default_factory=FeedPrices)
    switched: Snapshot | None = None
    """The last switch; None if pages were not counted."""
    crowd: Crowd | None = None
    """What other readers are like, where the reader's own pages are too few to tell."""

    @property
    def reading(self) -> FadingCount:
        return self.counted if self.crowd is None else self.crowd.blend(self.counted)

    @property
    def shown_posts(self) -> float:
        """Posts of the source on a page."""
        return min(float(self.page), self.posting.rate * self.window)

    def saving(self, pages: float, posts: float) -> float:
        """What pushing saves over these pages and posts."""
        return pages * self.prices.pulled(self.shown_posts) - posts * self.prices.copy

    @property
    def error(self) -> float:
        """The standard error of a day's saving."""
        pages = self.reading.noise / self.reading.days**2
        posts = (self.posting.rate + 0.02) / (2 * self.posting.days)
        return sqrt(pages + self.prices.copy**2 * posts)

    def missed_savings(self, mode: Mode) -> tuple[float, float]:
        """What the other mode would have saved since the last switch: in total, and recently."""
        then = self.switched
        if then is None:
            return 0.0, 0.0
        kept = kept_share(then.days)
        whole = self.saving(
            self.counted.total - then.pages_total, self.posting.total - then.posts_total
        )
        lately = self.saving(
            self.counted.seen - then.pages * kept, self.posting.seen - then.posts * kept
        )
        return (whole, lately) if mode == "pull" else (-whole, -lately)


@dataclass(frozen=True)
class Decision:
    """Which way a reader gets a source's posts from now on, and why."""

    mode: Mode
    saving: float
    """Read units a day that the other way would save; negative if this one is cheaper."""
    price: float
    """Read units of a switch."""
    switch: bool
    reason: str


def decide(rates: EdgeRates, mode: Mode, policy: FeedPolicy) -> Decision:
    """Stay, or switch."""
    gain, prices = rates.saving(rates.reading.rate, rates.posting.rate), rates.prices
    up, down = prices.up(rates.shown_posts), prices.down
    better, price = (gain, up) if mode == "pull" else (-gain, down)
    said = f"{rates.reading.rate:.2g} pages for {rates.posting.rate:.2g} posts a day"
    bounded = policy.busiest is not None and rates.posting.rate > policy.busiest
    if bounded:
        switch, why = mode == "push", f"more than {policy.busiest:g} posts a day are pulled"
    else:
        whole, lately = rates.missed_savings(mode)
        trip = up + down
        pays = (better - policy.doubt * rates.error) * policy.horizon > price
        moved = rates.switched is not None and rates.switched.moved
        free = not moved or max(whole, lately) >= policy.least * trip
        switch = (pays and free) or whole >= policy.guard * trip
        why = f"{'push' if gain > 0 else 'pull'} saves {abs(gain):.2g} read units a day"
    other: Mode = "push" if mode == "pull" else "pull"
    return Decision(other if switch else mode, better, price, switch, f"{said}: {why}")


def born(rates: EdgeRates, policy: FeedPolicy) -> Mode:
    """How a new follow begins: by the rates alone, since there is nothing to give up yet."""
    if policy.busiest is not None and rates.posting.rate > policy.busiest:
        return "pull"
    gain = rates.saving(rates.reading.rate, rates.posting.rate)
    return "push" if gain * LASTING > rates.prices.up(rates.shown_posts) else "pull"


def sample_share(
    policy: FeedPolicy,
    prices: FeedPrices,
    pulled: float,
    copies: float,
    pages: float,
    watched: float,
) -> float:
    """The share of a reader's pages to count: copies and pages are those of a day, `watched` is for
    how many days the reader has been counted."""
    steered = pulled + prices.copy * copies / max(pages, 0.05)
    share = max(1 / 256, policy.samples * steered / prices.write)
    return min(0.5, share * (1 + EARLY / (1 + watched)))
