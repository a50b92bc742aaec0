"""The numbers of a workload, with stated defaults where it is silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from keyfold.design.consequence_words import with_follows
from keyfold.design.flow import Action
from keyfold.design.follows import FactKind
from keyfold.design.schema import (
    ConsumerSchema,
    Effect,
    EntitySchema,
    FeedSchema,
    Follows,
    Index,
    PatternSchema,
    Schema,
    SearchSchema,
    TableSchema,
)
from keyfold.maintain.shards import TYPE_NAME
from keyfold.prices import SECONDS_A_MONTH, Prices, prices
from keyfold.review.check.reach import Reach
from keyfold_workbench.cost.item_numbers import ItemNumbers
from keyfold_workbench.cost.workload import (
    ConsumerLoad,
    FeedLoad,
    PatternLoad,
    Rate,
    Workload,
    WriteLoad,
)

PAGE = 25
RATE = 1.0
WRITE_RATE = 0.1
ASSUMED_RATES = (
    f"every read {RATE:g} time a second where the design states no rate, "
    f"every write {WRITE_RATE:g} times a second"
)
ASSUMED_WRITES: tuple[Action, ...] = ("create", "update")
PEAK_FACTOR = 3.0
PARTITIONS = 10.0
EACH = 10.0


class DesignNumbers(ItemNumbers):
    """A design with its workload: its contents, reads, writes and consequences."""

    def __init__(self, schema: Schema, workload: Workload) -> None:
        super().__init__(schema, workload)
        self.is_assumed = workload == Workload()
        """No workload says anything: the bill says its rates at once, not call by call."""
        self.facts = Reach(schema)
        self._follows = _by_source(with_follows(schema))

    @property
    def prices(self) -> Prices:
        asked = prices(self.workload.region)
        own = {**vars(asked), **self.workload.prices}
        return Prices(**own)

    # Traffic

    def pattern(self, pattern: PatternSchema) -> PatternLoad:
        return self.workload.patterns.get(pattern.name, PatternLoad())

    def rate(self, read: PatternSchema | SearchSchema) -> Rate:
        load = self.workload.patterns.get(read.name, PatternLoad())
        return self._call_rate(read.name, read.rate if load.rate is None else load.rate, load.peak)

    @property
    def writes(self) -> tuple[WriteLoad, ...]:
        """The writes; a workload without any is assumed to write a little of everything."""
        if self.workload.writes or not self.schema.entities:
            return (*self.workload.writes, *self._expiries())
        if not self.is_assumed:
            every = f"every write is called {WRITE_RATE:g} times a second"
            self.assume(f"{every}, because none is stated")
        if self.schema.operations:
            return tuple(
                WriteLoad(o.name, o.effects, WRITE_RATE, atomic=bool(o.atomic))
                for o in self.schema.operations
            )
        return tuple(
            WriteLoad(f"{action} {entity.name}", (Effect(action, entity.name),), WRITE_RATE)
            for entity in self.schema.entities
            if entity.copy is None and entity.role not in ("counter", "support")
            for action in ASSUMED_WRITES
        )

    def _expiries(self) -> Iterator[WriteLoad]:
        """Created but not deleted items expire, or the table grows."""
        for entity in self.schema.entities:
            if entity.ttl is None or entity.copy is not None or entity.role == "support":
                continue
            rates: dict[str, float] = {}
            for load in self.workload.writes:
                for effect in load.effects:
                    if effect.entity == entity.name:
                        kind = "expire" if load.expired else effect.action
                        rates[kind] = rates.get(kind, 0.0) + (load.rate or 0.0)
            made = rates.get("create", 0.0) + rates.get("put", 0.0) - rates.get("delete", 0.0)
            rate = made - self.growth(entity) / SECONDS_A_MONTH
            if rate > 0 and "expire" not in rates:
                self.assume(f"{rate:.3g} {entity.name} expire per second, as many as are created")
                gone = (Effect("delete", entity.name),)
                yield WriteLoad(f"expire {entity.name}", gone, rate, expired=True)

    # What follows from writes

    def consumer(self, consumer: ConsumerSchema) -> ConsumerLoad:
        stated = self.workload.consumers.get(consumer.name)
        if stated is None and not consumer.effects:
            self.assume(f"{consumer.name} reads and writes only its processed markers")
        return stated or ConsumerLoad()

    def feed(self, feed: FeedSchema) -> FeedLoad:
        stated = self.workload.feeds.get(feed.name)
        if stated is None:
            self.assume(f"no source of the feed {feed.name} pushes copies, and nobody reads it")
        return stated or FeedLoad()

    def feed_rate(self, feed: FeedSchema) -> Rate:
        load = self.feed(feed)
        return self._rate(load.rate or 0.0, load.peak)

    def sources(self, feed: FeedSchema) -> float:
        """How many sources a reader of a feed follows."""
        stated = self.feed(feed).sources
        edge = self.schema.by_entity.get(feed.edge)
        if stated is not None or edge is None or edge.key is None:
            return stated or 0.0
        return self.matched(edge, edge.key.partition.fields)

    def followers(self, feed: FeedSchema) -> float:
        """How many followers get the average post."""
        stated = self.feed(feed).followers
        edge = self.schema.by_entity.get(feed.edge)
        if stated is not None or edge is None:
            return stated or 0.0
        seen = [placement.key.partition.fields for placement in edge.placements]
        seen += [e.key.partition.fields for e in self._mirrors(edge) if e.key]
        return self.matched(edge, seen[0]) if seen else 0.0

    def _mirrors(self, edge: EntitySchema) -> list[EntitySchema]:
        return [self.schema.by_entity[each.target] for each in self.following(edge, "copy")]

    def following(self, entity: EntitySchema, fact: FactKind) -> list[Follows]:
        """The consequences of one kind for an entity's changes."""
        return [each for each in self._follows.get(entity.name, ()) if each.fact == fact]

    def part_of(self, names: Iterable[str]) -> Schema:
        """The part of the design that a write of these entities touches."""
        known, reached = self.schema.by_entity, set[str]()
        asked = waiting = set(names)
        while waiting:
            reached |= waiting
            found = {each.target for n in waiting for each in self._follows.get(n, ())}
            found |= {known[n].copy.of for n in waiting if known[n].copy}  # type: ignore[union-attr]
            for feed in self._maintained_feeds:
                if feed.post in reached:
                    found |= {feed.item, feed.flag, *(feed.edges or (feed.edge,))}
            waiting = (found & known.keys()) - reached
        entities = tuple(
            entity
            for entity in self.schema.entities
            if entity.name in reached and (entity.role != "support" or entity.name in asked)
        )
        tables = tuple(
            replace(table, indexes=tuple(self._touched(table, reached)), vectors=())
            for table in self.schema.tables
            if any(entity.table == table.name for entity in entities)
        )
        follows = [one for n, several in self._follows.items() if n in reached for one in several]
        feeds = tuple(feed for feed in self._maintained_feeds if feed.post in reached)
        return Schema(
            self.schema.name,
            tables,
            tuple(e for e in entities if e.type_name != TYPE_NAME),
            follows=tuple(each for each in follows if each.sync != "none" and not _is_feed(each)),
            feeds=feeds,
            enforced=self.schema.enforced,
        )

    @property
    def _maintained_feeds(self) -> list[FeedSchema]:
        feeds = self.schema.feeds if self.schema.enforced else ()
        return [feed for feed in feeds if feed.flag and feed.mode != "fan_in"]

    def _touched(self, table: TableSchema, names: set[str]) -> Iterator[Index]:
        """The indexes that items of these entities may be in."""
        for index in table.indexes:
            placed = {entity.name for entity, _ in self.schema.placed_on(table.name, index.name)}
            if not placed or placed & names:
                yield index

    def processors(self, entity: EntitySchema) -> list[ConsumerSchema]:
        """The consumers of an entity's changes that are not declared structures."""
        kept = {each.name for found in self._follows.values() for each in found}
        return [
            consumer
            for consumer in self.schema.consumers
            if entity.name in consumer.entities and consumer.name not in kept
        ]

    def posting(self, entity: EntitySchema) -> list[FeedSchema]:
        return [feed for feed in self.schema.feeds if feed.post == entity.name]

    def write_rate(self, write: WriteLoad) -> Rate:
        return self._call_rate(write.name, write.rate, write.peak)

    def _call_rate(self, name: str, average: float | None, peak: float | None) -> Rate:
        if average is None:
            if not self.is_assumed:
                self.assume(f"{name} is called {RATE:g} time a second")
            average = RATE
        return self._rate(average, peak)

    def _rate(self, average: float, peak: float | None) -> Rate:
        if peak is not None:
            return Rate(average, max(average, peak))
        factor = self.workload.peak_factor
        if factor is None:
            self.assume(f"peaks are {PEAK_FACTOR:g} times the average where none is stated")
            factor = PEAK_FACTOR
        return Rate(average, average * max(factor, 1.0))

    def page(self, pattern: PatternSchema) -> float:
        if pattern.kind in ("latest", "exists"):
            return 1.0
        stated = self.pattern(pattern).page
        if stated is not None:
            return stated
        if pattern.limit is not None:
            self.assume(
                f"{pattern.name} reads full pages of {pattern.limit} where there are as many"
            )
            return float(pattern.limit)
        self.assume(f"{pattern.name} reads pages of {PAGE}")
        return float(PAGE)

    def partitions(self, pattern: PatternSchema) -> float:
        """How many partitions one call reads."""
        if pattern.kind != "merge" and not pattern.at_once:
            return 1.0
        stated = self.pattern(pattern).partitions
        if stated is not None:
            return max(stated, 1.0)
        if pattern.partitions:
            read = "items" if pattern.at_once else "partitions"
            self.assume(f"{pattern.name} reads {PARTITIONS:g} {read} per call")
            return min(PARTITIONS, float(pattern.max_partitions or PARTITIONS))
        return float(pattern.max_partitions or 1 + len(pattern.other_partitions))

    def each(self, write: WriteLoad) -> float:
        if write.each is not None:
            return write.each
        self.assume(f"{write.name} writes {EACH:g} items for an effect with `each`")
        return EACH


def _is_feed(each: Follows) -> bool:
    return each.fact == "job" and each.found is None


def _by_source(schema: Schema) -> dict[str, list[Follows]]:
    """Consequences by source entity."""
    found: dict[str, list[Follows]] = {}
    for each in schema.follows:
        if each.source in schema.by_entity and (not each.target or each.target in schema.by_entity):
            found.setdefault(each.source, []).append(each)
    return found
