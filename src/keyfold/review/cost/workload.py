"""A workload: how often a design's patterns and writes are called, and how much it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keyfold.design.schema import Effect

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
    growth: float | None = None
    """Items that are added every month, deletions taken off."""
    copies: float | None = None
    """For a pointer: how many copies one canonical item has."""
    attributes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of single attributes, with their names."""
    distinct: Mapping[str, float] = field(default_factory=dict)
    """How many different values a field has."""
    hottest: Mapping[str, float] = field(default_factory=dict)
    """The share of an entity's traffic that the most popular value of a field gets."""
    share: Mapping[str, float] = field(default_factory=dict)
    """The share of items that are in a sparse index, by the index's name."""


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
    """The fields that its caller uses; nothing means all of them."""


@dataclass(frozen=True)
class WriteLoad:
    """How often something is written: an operation of the design, or one write by its words."""

    name: str
    effects: tuple[Effect, ...]
    rate: float | None = None
    peak: float | None = None
    each: float | None = None
    """How many items an effect that says `each` writes."""
    atomic: bool = False


@dataclass(frozen=True)
class Workload:
    """Everything that a cost follows from, besides the design."""

    entities: Mapping[str, EntityLoad] = field(default_factory=dict)
    patterns: Mapping[str, PatternLoad] = field(default_factory=dict)
    writes: tuple[WriteLoad, ...] = ()
    region: str = ""
    prices: Mapping[str, float] = field(default_factory=dict)
    stale_read: float = 1.0
    """What a read that may be stale is taken to cost on top, in read units: asking again."""
    peak_factor: float | None = None
