"""A workload: how often patterns and writes are called, and how much data there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keyfold.design.schema import Effect
from keyfold_workbench.cost.size_spread import SizeSpread

HORIZON_MONTHS = 12


@dataclass(frozen=True)
class Rate:
    """Calls a second: on average, and in the busiest second."""

    average: float
    peak: float


@dataclass(frozen=True)
class EntityLoad:
    """How many items an entity has and how large they are."""

    items: float | None = None
    bytes: int | None = None
    """Of an item, on average."""
    sizes: SizeSpread | None = None
    """Their distribution, if known."""
    growth: float | None = None
    """Items added every month, less deletions."""
    copies: float | None = None
    """For a pointer: how many copies one canonical item has."""
    attributes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of single attributes, with their names."""
    distinct: Mapping[str, float] = field(default_factory=dict)
    """How many different values a field has."""
    hottest: Mapping[str, float] = field(default_factory=dict)
    """The share of an entity's traffic for the most popular value of a field."""
    share: Mapping[str, float] = field(default_factory=dict)
    """The share of items in a sparse index, by index name."""


@dataclass(frozen=True)
class PatternLoad:
    """How an access pattern is called."""

    rate: float | None = None
    peak: float | None = None
    page: float | None = None
    """Items that one call reads."""
    partitions: float | None = None
    """For a merge: how many partitions one call reads."""
    needs: tuple[str, ...] = ()
    """The fields that its caller uses; empty means all."""


@dataclass(frozen=True)
class WriteLoad:
    """How often something is written: an operation of the design, or a single write."""

    name: str
    effects: tuple[Effect, ...]
    rate: float | None = None
    peak: float | None = None
    each: float | None = None
    """How many items an effect with `each` writes."""
    atomic: bool = False
    once: bool = False
    """Whether each call has a request id, for idempotency."""
    expired: bool = False
    """Whether items expire, which is free."""


@dataclass(frozen=True)
class ConsumerLoad:
    """A processor's work per record, which the design cannot know."""

    reads: tuple[str, ...] = ()
    """The access patterns that it calls."""
    writes: tuple[Effect, ...] = ()
    events: float = 0.0
    """Events that it emits."""
    share: float = 1.0
    """The share of its records for which it does this."""


@dataclass(frozen=True)
class FeedLoad:
    """How a feed is read, and how many of its follows are pushed."""

    rate: float | None = None
    peak: float | None = None
    page: float = 20.0
    sources: float | None = None
    """Sources that a reader follows."""
    followers: float | None = None
    """Followers of the source of an average post."""
    pushed: float | None = None
    """The share of follows whose authors are flagged; none by default."""


@dataclass(frozen=True)
class BurstLoad:
    """A one-time event that multiplies calls for a while."""

    name: str
    calls: tuple[str, ...]
    """Access patterns, writes and feeds by their names."""
    factor: float = 3.0
    seconds: float = 1800.0
    day: float = 1.0
    hour: float = 20.0
    focus: float = 0.0
    """The share of these calls that concerns one item: a celebrity, a post, a sale."""
    on: tuple[str, ...] = ()
    """The fields that hold that item's id: the burst concentrates on keys with them."""


@dataclass(frozen=True)
class Workload:
    """Everything that determines cost besides the design."""

    entities: Mapping[str, EntityLoad] = field(default_factory=dict)
    patterns: Mapping[str, PatternLoad] = field(default_factory=dict)
    writes: tuple[WriteLoad, ...] = ()
    consumers: Mapping[str, ConsumerLoad] = field(default_factory=dict)
    feeds: Mapping[str, FeedLoad] = field(default_factory=dict)
    recovery: bool | None = None
    """Point-in-time recovery; exported tables have it."""
    backups: float = 0.0
    """Full backups that are kept."""
    region: str = ""
    prices: Mapping[str, float] = field(default_factory=dict)
    stale_read: float | None = None
    """The cost of a possibly stale read, in read units; zero if not stated."""
    peak_factor: float | None = None
    users: float | None = None
    """The number of users behind these rates and items."""
    bursts: tuple[BurstLoad, ...] = ()

    @property
    def stale_weight(self) -> float:
        """The search's assumed cost of a stale read: reading again."""
        return 1.0 if self.stale_read is None else self.stale_read
