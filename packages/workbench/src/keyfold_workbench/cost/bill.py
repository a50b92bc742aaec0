"""The bill: units, dollars and hot keys of a design under a workload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from keyfold.design.schema import FeedSchema, PatternSchema, Schema
from keyfold.prices import Prices
from keyfold_workbench.cost.charge import PricedWrite, Store, Why
from keyfold_workbench.cost.feed_page import FeedPage
from keyfold_workbench.cost.reads import PricedRead
from keyfold_workbench.cost.workload import Rate

WARM = 0.5
"""A key counts as hot from this share of its partition's limit."""


@dataclass(frozen=True)
class PatternLine:
    """A pattern's part of the bill."""

    pattern: PatternSchema
    read: PricedRead
    rate: Rate
    dollars: float

    @property
    def units(self) -> float:
        """Read units a second."""
        return self.read.total * self.rate.average

    @property
    def by_index(self) -> bool:
        return self.read.path.index is not None


@dataclass(frozen=True)
class WriteLine:
    """A write's part of the bill."""

    write: PricedWrite
    rate: Rate
    dollars: float

    @property
    def units(self) -> float:
        """Write units a second."""
        return self.write.units * self.rate.average


@dataclass(frozen=True)
class FeedLine:
    """The pages of a feed."""

    feed: FeedSchema
    page: FeedPage
    rate: Rate
    dollars: float


@dataclass(frozen=True)
class PurposeLine:
    """The units of all writes with one purpose."""

    why: Why
    units: float
    read_units: float
    dollars: float


@dataclass(frozen=True)
class UpkeepLine:
    """Costs besides requests and storage."""

    name: str
    amount: str
    dollars: float


@dataclass(frozen=True)
class PathLine:
    """A table or index: its traffic, size and readers."""

    path: Store
    read: Rate
    written: Rate
    bytes: float
    bytes_later: float
    serves: tuple[str, ...]
    on_demand: float
    provisioned: float
    scaled: float
    storage: float

    @property
    def dollars(self) -> float:
        return self.on_demand + self.storage


@dataclass(frozen=True)
class HotKey:
    """The busiest partition of a table or index, compared with a partition's limit."""

    path: Store
    key: str
    kind: str
    units: float
    limit: int

    @property
    def share(self) -> float:
        return self.units / self.limit

    @property
    def shards(self) -> int:
        """The number of partitions that its traffic needs."""
        return max(1, ceil(self.share))


@dataclass(frozen=True)
class Bill:
    """The whole cost of a design."""

    schema: Schema
    prices: Prices
    patterns: tuple[PatternLine, ...]
    writes: tuple[WriteLine, ...]
    paths: tuple[PathLine, ...]
    feeds: tuple[FeedLine, ...]
    purposes: tuple[PurposeLine, ...]
    upkeep: tuple[UpkeepLine, ...]
    hot: tuple[HotKey, ...]
    assumptions: tuple[str, ...]
    assumed_rates: str = ""
    """How often every call is made, if no workload says anything."""

    @property
    def assumed(self) -> str:
        """Begins the headline of a report, if no workload says how often calls are made."""
        return f"Assumed: {self.assumed_rates}. " if self.assumed_rates else ""

    @cached_property
    def reads_dollars(self) -> float:
        asked = sum(line.dollars for line in self.patterns)
        return asked + sum(line.dollars for line in self.feeds)

    @cached_property
    def writes_dollars(self) -> float:
        return sum(line.dollars for line in self.writes)

    @cached_property
    def storage_dollars(self) -> float:
        return sum(line.storage for line in self.paths)

    @cached_property
    def upkeep_dollars(self) -> float:
        return sum(line.dollars for line in self.upkeep)

    @property
    def dollars(self) -> float:
        """Dollars per month, on demand."""
        requests = self.reads_dollars + self.writes_dollars
        return requests + self.storage_dollars + self.upkeep_dollars

    @property
    def provisioned_dollars(self) -> float:
        """Dollars per month, provisioned for the peak of every table and index."""
        return sum(line.provisioned for line in self.paths) + self._fixed_dollars

    @property
    def scaled_dollars(self) -> float:
        """Dollars per month, provisioned with auto scaling."""
        return sum(line.scaled for line in self.paths) + self._fixed_dollars

    @property
    def _fixed_dollars(self) -> float:
        return self.storage_dollars + self.upkeep_dollars

    @property
    def reads(self) -> float:
        """Reads a second."""
        return sum(line.rate.average for line in self.patterns)

    @property
    def requests(self) -> float:
        """Requests per second of these reads."""
        return sum(line.read.requests * line.rate.average for line in self.patterns)

    @property
    def index_share(self) -> float:
        """The share of reads that an index serves."""
        return self._share(lambda line: line.by_index)

    @property
    def consistent_share(self) -> float:
        """The share of reads that could be consistent: those not served by a global index."""
        by_name = self.schema.by_table

        def could(line: PatternLine) -> bool:
            path = line.read.path
            index = by_name[path.table].index(path.index) if path.index else None
            return index is None or index.local

        return self._share(could)

    def _share(self, holds: Callable[[PatternLine], bool]) -> float:
        held = sum(line.rate.average for line in self.patterns if holds(line))
        return held / self.reads if self.reads else 0.0

    @property
    def overloads(self) -> list[HotKey]:
        """Keys with more writes than one partition supports, worst first."""
        return [hot for hot in self.hot if hot.kind == "write" and hot.share > 1]

    @property
    def indexes(self) -> int:
        return sum(len(table.indexes) for table in self.schema.tables)

    @property
    def copies(self) -> int:
        return sum(1 for entity in self.schema.entities if entity.copy is not None)
