"""The bill: units, dollars and hot keys of a design under a workload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from keyfold.design.schema import Entity, Pattern, Schema
from keyfold.limits import (
    GB,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
    STORAGE_OVERHEAD_BYTES,
)
from keyfold.prices import HOURS_A_MONTH, SECONDS_A_MONTH, Prices
from keyfold.review.cost.figures import Figures
from keyfold.review.cost.reads import Path, Read, read
from keyfold.review.cost.workload import HORIZON_MONTHS, Rate, Workload
from keyfold.review.cost.writes import Write, write

UTILISATION = 0.7
"""Provisioned capacity that scales by itself is kept so full."""
WARM = 0.5
"""A key is called hot from this share of its partition's limit on."""


@dataclass(frozen=True)
class PatternLine:
    """A pattern's part of the bill."""

    pattern: Pattern
    read: Read
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

    write: Write
    rate: Rate
    dollars: float

    @property
    def units(self) -> float:
        """Write units a second."""
        return self.write.units * self.rate.average


@dataclass(frozen=True)
class PathLine:
    """A table or an index: what it takes, holds and serves."""

    path: Path
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
    """The busiest partition of a table or index, against what one partition can take."""

    path: Path
    key: str
    kind: str
    units: float
    limit: int

    @property
    def share(self) -> float:
        return self.units / self.limit

    @property
    def shards(self) -> int:
        """How many partitions its traffic needs."""
        return max(1, ceil(self.share))


@dataclass(frozen=True)
class Bill:
    """Everything a design costs."""

    schema: Schema
    prices: Prices
    patterns: tuple[PatternLine, ...]
    writes: tuple[WriteLine, ...]
    paths: tuple[PathLine, ...]
    hot: tuple[HotKey, ...]
    assumptions: tuple[str, ...]

    @cached_property
    def reads_dollars(self) -> float:
        return sum(line.dollars for line in self.patterns)

    @cached_property
    def writes_dollars(self) -> float:
        return sum(line.dollars for line in self.writes)

    @cached_property
    def storage_dollars(self) -> float:
        return sum(line.storage for line in self.paths)

    @property
    def dollars(self) -> float:
        """A month, on demand."""
        return self.reads_dollars + self.writes_dollars + self.storage_dollars

    @property
    def provisioned_dollars(self) -> float:
        """A month, provisioned for the peak of every table and index."""
        return sum(line.provisioned for line in self.paths) + self.storage_dollars

    @property
    def scaled_dollars(self) -> float:
        """A month, provisioned and scaled by itself."""
        return sum(line.scaled for line in self.paths) + self.storage_dollars

    @property
    def requests(self) -> float:
        """Reads a second."""
        return sum(line.rate.average for line in self.patterns)

    @property
    def index_share(self) -> float:
        """The share of reads that an index serves."""
        return self._share(lambda line: line.by_index)

    @property
    def consistent_share(self) -> float:
        """The share of reads that could be consistent: those that no global index serves."""
        by_name = self.schema.by_table

        def could(line: PatternLine) -> bool:
            path = line.read.path
            index = by_name[path.table].index(path.index) if path.index else None
            return index is None or index.local

        return self._share(could)

    def _share(self, holds: Callable[[PatternLine], bool]) -> float:
        total = self.requests
        return sum(x.rate.average for x in self.patterns if holds(x)) / total if total else 0.0

    @property
    def indexes(self) -> int:
        return sum(len(table.indexes) for table in self.schema.tables)

    @property
    def copies(self) -> int:
        return sum(1 for entity in self.schema.entities if entity.copy is not None)

    def path(self, path: Path) -> PathLine | None:
        return next((line for line in self.paths if line.path == path), None)


def bill(schema: Schema, workload: Workload) -> Bill:
    """What a design costs under a workload, the most expensive first."""
    figures = Figures(schema, workload)
    return _Counting(figures).bill()


class _Counting:
    def __init__(self, figures: Figures) -> None:
        self.figures, self.schema = figures, figures.schema
        self.prices = figures.prices
        self.reads: dict[Path, list[tuple[float, Rate]]] = defaultdict(list)
        self.written: dict[Path, list[tuple[float, Rate]]] = defaultdict(list)
        self.serves: dict[Path, list[str]] = defaultdict(list)
        self.heat: dict[tuple[Path, str, str], float] = defaultdict(float)

    def bill(self) -> Bill:
        patterns = [self._pattern(pattern) for pattern in self.schema.patterns]
        writes = list(self._writes())
        paths = list(self._paths())
        return Bill(
            self.schema,
            self.prices,
            tuple(sorted(patterns, key=lambda line: -line.dollars)),
            tuple(sorted(writes, key=lambda line: -line.dollars)),
            tuple(sorted(paths, key=lambda line: -line.dollars)),
            tuple(self._hot()),
            self.figures.assumptions,
        )

    def _pattern(self, pattern: Pattern) -> PatternLine:
        once, rate = read(self.figures, pattern), self.figures.rate(pattern)
        self.reads[once.path].append((once.units, rate))
        if once.fetched:
            self.reads[Path(pattern.table)].append((once.fetched, rate))
        self.serves[once.path].append(pattern.name)
        partitions = self.figures.partitions(pattern)
        for appearance in self.figures.facts.reached(pattern):
            entity = appearance.entity
            if entity.name not in pattern.entities:
                continue
            share = self.figures.hottest(entity, appearance.key.partition.fields)
            key = (once.path, str(appearance.key.partition), "read")
            self.heat[key] += once.units / partitions * rate.peak * share
            break
        dollars = once.total * rate.average * SECONDS_A_MONTH * self.prices.read / 1e6
        return PatternLine(pattern, once, rate, dollars)

    def _writes(self) -> Iterator[WriteLine]:
        for load in self.figures.writes:
            once, rate = write(self.figures, load), self.figures.write_rate(load)
            for part in once.parts:
                self.written[part.path].append((part.units, rate))
                entity = self.schema.by_entity[part.entity]
                if part.why != "marker":
                    self._heat_of_write(part.path, entity, part.units * rate.peak)
            dollars = once.units * rate.average * SECONDS_A_MONTH * self.prices.write / 1e6
            yield WriteLine(once, rate, dollars)

    def _heat_of_write(self, path: Path, entity: Entity, units: float) -> None:
        key = entity.key if path.index is None else None
        if path.index is not None:
            placed = entity.placement(path.index)
            key = placed[0].key if placed else None
        if key is not None:
            share = self.figures.hottest(entity, key.partition.fields)
            self.heat[path, str(key.partition), "write"] += units * share

    def _paths(self) -> Iterator[PathLine]:
        for table in self.schema.tables:
            for index in (None, *table.indexes):
                path = Path(table.name, index.name if index else None)
                now, later = self._stored(path)
                taken, put = _total(self.reads[path]), _total(self.written[path])
                yield PathLine(
                    path,
                    taken,
                    put,
                    now,
                    later,
                    tuple(self.serves[path]),
                    on_demand=self._on_demand(taken.average, put.average),
                    provisioned=self._provisioned(taken.peak, put.peak),
                    scaled=self._provisioned(
                        taken.average / UTILISATION, put.average / UTILISATION
                    ),
                    storage=now / GB * self.prices.storage,
                )

    def _stored(self, path: Path) -> tuple[float, float]:
        """Bytes now and a year later, what DynamoDB adds to each item included."""
        now = later = 0.0
        table = self.schema.by_table[path.table]
        index = table.index(path.index) if path.index else None
        for entity in self.schema.entities_of(path.table):
            items, growth = self.figures.items(entity), self.figures.growth(entity)
            if index is None:
                size, share = self.figures.item_bytes(entity), 1.0
            else:
                size = self.figures.entry_bytes(entity, index)
                share = sum(
                    self.figures.share(entity, placement)
                    for placement in entity.placement(index.name)[:1]
                )
            each = (size + STORAGE_OVERHEAD_BYTES) * share
            now += items * each
            later += max(0.0, items + growth * HORIZON_MONTHS) * each
        return now, later

    def _on_demand(self, reads: float, writes: float) -> float:
        asked = self.prices
        return (reads * asked.read + writes * asked.write) * SECONDS_A_MONTH / 1e6

    def _provisioned(self, reads: float, writes: float) -> float:
        read_capacity, write_capacity = max(1, ceil(reads)), max(1, ceil(writes))
        hourly = read_capacity * self.prices.read_hour + write_capacity * self.prices.write_hour
        return hourly * HOURS_A_MONTH

    def _hot(self) -> Iterator[HotKey]:
        found = [
            HotKey(
                path,
                key,
                kind,
                units,
                PARTITION_READ_UNITS if kind == "read" else PARTITION_WRITE_UNITS,
            )
            for (path, key, kind), units in self.heat.items()
        ]
        yield from sorted(found, key=lambda hot: -hot.share)


def _total(parts: list[tuple[float, Rate]]) -> Rate:
    return Rate(
        sum(units * rate.average for units, rate in parts),
        sum(units * rate.peak for units, rate in parts),
    )
