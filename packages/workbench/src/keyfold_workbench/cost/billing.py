"""Adds up a bill: every pattern, write, feed, table and index under a workload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import ceil

from keyfold.design.schema import EntitySchema, FeedSchema, PatternSchema, Schema
from keyfold.prices import HOURS_A_MONTH, SECONDS_A_MONTH
from keyfold_engine.limits import (
    GB,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
    STORAGE_OVERHEAD_BYTES,
)
from keyfold_workbench.cost import feed_page, upkeep
from keyfold_workbench.cost.bill import (
    Bill,
    FeedLine,
    HotKey,
    PathLine,
    PatternLine,
    PurposeLine,
    WriteLine,
)
from keyfold_workbench.cost.charge import SUPPORT, Store, Why
from keyfold_workbench.cost.design_numbers import ASSUMED_RATES, DesignNumbers
from keyfold_workbench.cost.reads import read
from keyfold_workbench.cost.workload import HORIZON_MONTHS, Rate, Workload
from keyfold_workbench.cost.writes import write

UTILISATION = 0.7
"""The target utilisation of auto scaling."""


def bill(schema: Schema, workload: Workload) -> Bill:
    """The cost of a design under a workload, most expensive first."""
    figures = DesignNumbers(schema, workload)
    return _Counting(figures).bill()


class _Counting:
    def __init__(self, figures: DesignNumbers) -> None:
        self.figures, self.schema = figures, figures.schema
        self.prices = figures.prices
        self.reads: dict[Store, list[tuple[float, Rate]]] = defaultdict(list)
        self.written: dict[Store, list[tuple[float, Rate]]] = defaultdict(list)
        self.serves: dict[Store, list[str]] = defaultdict(list)
        self.heat: dict[tuple[Store, str, str], float] = defaultdict(float)
        self.purposes: dict[tuple[Why, bool], float] = defaultdict(float)

    def bill(self) -> Bill:
        patterns = [self._pattern(pattern) for pattern in self.schema.patterns]
        pages = [line for feed in self.schema.feeds for line in self._feed(feed)]
        writes = list(self._writes())
        paths = list(self._paths())
        return Bill(
            self.schema,
            self.prices,
            tuple(sorted(patterns, key=lambda line: -line.dollars)),
            tuple(sorted(writes, key=lambda line: -line.dollars)),
            tuple(sorted(paths, key=lambda line: -line.dollars)),
            tuple(pages),
            tuple(sorted(self._purposes(), key=lambda line: -line.dollars)),
            tuple(upkeep.lines(self.figures, paths, writes)),
            tuple(self._hot()),
            self.figures.assumptions,
            ASSUMED_RATES if self.figures.is_assumed else "",
        )

    def _feed(self, feed: FeedSchema) -> Iterator[FeedLine]:
        page, rate = feed_page.page(self.figures, feed), self.figures.feed_rate(feed)
        if page is None:
            return
        for part in page.parts:
            self.reads[part.path].append((part.units, rate))
        yield FeedLine(feed, page, rate, self._dollars(page.units, 0.0, rate))

    def _pattern(self, pattern: PatternSchema) -> PatternLine:
        once, rate = read(self.figures, pattern), self.figures.rate(pattern)
        self.reads[once.path].append((once.units, rate))
        if once.fetched:
            self.reads[Store(pattern.table)].append((once.fetched, rate))
        self.serves[once.path].append(pattern.name)
        partitions = self.figures.partitions(pattern)
        for appearance in self.figures.facts.reached(pattern):
            entity = appearance.entity
            # A scan goes through all partitions, one after the other.
            if entity.name not in pattern.entities or pattern.partition is None:
                continue
            share = self.figures.hottest(entity, appearance.key.partition.fields)
            key = (once.path, str(appearance.key.partition), "read")
            self.heat[key] += once.units / partitions * rate.peak * share
            break
        return PatternLine(pattern, once, rate, self._dollars(once.total, 0.0, rate))

    def _writes(self) -> Iterator[WriteLine]:
        for load in self.figures.writes:
            once, rate = write(self.figures, load), self.figures.write_rate(load)
            for part in once.parts:
                units = self.reads if part.reading else self.written
                units[part.path].append((part.units, rate))
                self.purposes[part.why, part.reading] += part.units * rate.average
                if part.entity and not part.reading:
                    entity = self.schema.by_entity[part.entity]
                    self._heat_of_write(part.path, entity, part.units * rate.peak)
            yield WriteLine(once, rate, self._dollars(once.read_units, once.units, rate))

    def _purposes(self) -> Iterator[PurposeLine]:
        for why in dict.fromkeys(why for why, _ in self.purposes):
            units, looked = self.purposes[why, False], self.purposes[why, True]
            yield PurposeLine(why, units, looked, self._on_demand(looked, units))

    def _dollars(self, reads: float, writes: float, rate: Rate) -> float:
        return self._on_demand(reads * rate.average, writes * rate.average)

    def _heat_of_write(self, path: Store, entity: EntitySchema, units: float) -> None:
        key = entity.key if path.index is None else None
        if path.index is not None:
            placed = entity.placement(path.index)
            key = placed[0].key if placed else None
        if key is not None:
            fields = self.figures.spreading(entity, key.partition)
            self.heat[path, str(key.partition), "write"] += units * self.figures.hottest(
                entity, fields
            )

    def _paths(self) -> Iterator[PathLine]:
        for table in self.schema.tables:
            for index in (None, *table.indexes):
                path = Store(table.name, index.name if index else None)
                yield self._path(path, *self._storage(path))
        if self.written[SUPPORT]:
            held = upkeep.marker_bytes(self.purposes["processed marker", False])
            yield self._path(SUPPORT, held, held)

    def _path(self, path: Store, now: float, later: float) -> PathLine:
        taken, put = _total(self.reads[path]), _total(self.written[path])
        return PathLine(
            path,
            taken,
            put,
            now,
            later,
            tuple(self.serves[path]),
            on_demand=self._on_demand(taken.average, put.average),
            provisioned=self._provision(taken.peak, put.peak),
            scaled=self._provision(taken.average / UTILISATION, put.average / UTILISATION),
            storage=now / GB * self.prices.storage,
        )

    def _storage(self, path: Store) -> tuple[float, float]:
        """Bytes now and a year later, including DynamoDB's overhead per item."""
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
            if index is None:
                each += upkeep.unique_bytes(self.figures, entity)
            now += items * each
            later += max(0.0, items + growth * HORIZON_MONTHS) * each
        if index is None and table is self.schema.tables[0]:
            held = upkeep.request_bytes(self.figures)
            now, later = now + held, later + held
        return now, later

    def _on_demand(self, reads: float, writes: float) -> float:
        asked = self.prices
        return (reads * asked.read + writes * asked.write) * SECONDS_A_MONTH / 1e6

    def _provision(self, reads: float, writes: float) -> float:
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
