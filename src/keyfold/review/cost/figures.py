"""The numbers of a workload, with stated defaults where it says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil
from statistics import fmean

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
    Placement,
    Schema,
    SearchSchema,
)
from keyfold.prices import SECONDS_A_MONTH, Prices, prices
from keyfold.review.check.reach import Reach
from keyfold.review.cost import sizes
from keyfold.review.cost.workload import (
    ConsumerLoad,
    EntityLoad,
    FeedLoad,
    PatternLoad,
    Rate,
    ViewLoad,
    Workload,
    WriteLoad,
)
from keyfold.values.units import read_units, write_units

ITEMS = 10_000
PAGE = 25
RATE = 1.0
WRITE_RATE = 0.1
ASSUMED_WRITES: tuple[Action, ...] = ("create", "update")
PEAK_FACTOR = 3.0
COPIES = 3.0
PARTITIONS = 10.0
EACH = 10.0
HOT_FACTOR = 10.0
"""The most popular key is taken to get this multiple of the traffic of an average one."""
REMOVED_SECONDS = 2.0
"""How long it takes until a consumer has deleted the copies of a removed post."""
ALONE = ("email", "username", "handle", "slug")
"""Fields that have about as many values as there are items, in most designs."""


class Figures:
    """A design with its workload; every assumption that was needed is kept."""

    def __init__(self, schema: Schema, workload: Workload) -> None:
        self.schema, self.workload = schema, workload
        self.facts = Reach(schema)
        self._follows = _by_source(with_follows(schema))
        self._assumed: dict[str, None] = {}
        self._sizes: dict[str, dict[str, float]] = {}
        self._owners = {_plain(e.name) + "id": e for e in schema.entities if e.role == "canonical"}

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(self._assumed)

    def assume(self, sentence: str) -> None:
        self._assumed[sentence] = None

    @property
    def prices(self) -> Prices:
        asked = prices(self.workload.region)
        own = {**vars(asked), **self.workload.prices}
        return Prices(**own)

    # Entities

    def load(self, entity: EntitySchema) -> EntityLoad:
        stated = self.workload.entities.get(entity.name)
        if stated is None and entity.copy is not None:
            source = self.schema.by_entity.get(entity.copy.of)
            # A copy of the whole item is as large, and as varied, as its source.
            if source is not None and set(entity.by_field) == set(source.by_field):
                return replace(self.load(source), items=None, copies=None, share={})
        return stated or EntityLoad()

    def items(self, entity: EntitySchema) -> float:
        stated = self.load(entity).items
        if stated is not None:
            return stated
        if entity.copy is not None and (source := self.schema.by_entity.get(entity.copy.of)):
            return self.items(source) * self.copies(entity)
        if (feed := self._listing_removed(entity)) is not None:
            return self._removed(feed)
        self.assume(f"{entity.name} has {ITEMS:,} items")
        return float(ITEMS)

    def _listing_removed(self, entity: EntitySchema) -> FeedSchema | None:
        """The feed whose removed posts an entity lists."""
        feeds = (f for f in self.schema.feeds if ("removed", entity.name) in f.support)
        return next(feeds, None)

    def _removed(self, feed: FeedSchema) -> float:
        """Entries of the removed list, in all replicas."""
        rate = sum(
            load.rate or 0.0
            for load in self.workload.writes
            for effect in load.effects
            if effect.entity == feed.post and effect.action == "delete" and not load.expired
        )
        seconds = REMOVED_SECONDS + (feed.settled_after or 0.0)
        self.assume(f"a removed {feed.post} is listed for {seconds:g} seconds")
        return rate * seconds * (feed.replicas or 1)

    def copies(self, entity: EntitySchema) -> float:
        """How many items of a pointer one canonical item has."""
        assert entity.copy is not None, f"{entity.name} is not a pointer"
        stated = self.load(entity)
        if stated.copies is not None:
            return stated.copies
        source = self.schema.by_entity.get(entity.copy.of)
        if stated.items is not None and source is not None and self.load(source).items:
            return stated.items / self.items(source)
        if not entity.copy.each:
            return 1.0
        self.assume(f"each {entity.copy.of} has {COPIES:g} copies as {entity.name}")
        return COPIES

    def growth(self, entity: EntitySchema) -> float:
        return self.load(entity).growth or 0.0

    def attribute_bytes(self, entity: EntitySchema) -> dict[str, float]:
        """Bytes of every attribute; together they are the item's size."""
        if entity.name not in self._sizes:
            self._sizes[entity.name] = self._attribute_bytes(entity)
        return self._sizes[entity.name]

    def _attribute_bytes(self, entity: EntitySchema) -> dict[str, float]:
        load = self.load(entity)
        named = {a.field: a.name for a in entity.attributes}
        stated = {named.get(name, name): float(size) for name, size in load.attributes.items()}
        found: dict[str, float] = {**sizes.attributes(self.schema, entity), **stated}
        whole = load.bytes or entity.bytes
        if whole is None:
            if len(stated) < len(entity.attributes):
                about = round(sum(found.values()))
                self.assume(f"an item of {entity.name} takes {about:,} bytes, by its types")
            return found
        open_ = {name: size for name, size in found.items() if name not in stated}
        rest, total = whole - sum(stated.values()), sum(open_.values())
        if total and rest > 0:
            found |= {name: size * rest / total for name, size in open_.items()}
        return found

    def item_bytes(self, entity: EntitySchema) -> int:
        stated = self.load(entity).bytes or entity.bytes
        return stated or ceil(sum(self.attribute_bytes(entity).values()) - 1e-6)

    def read_units(self, entity: EntitySchema, *, consistent: bool) -> float:
        """Units of reading one item, on average."""
        return fmean(read_units(size, consistent=consistent) for size in self.item_sizes(entity))

    def write_units(self, entity: EntitySchema) -> float:
        """Units of writing one item, on average."""
        saving = self.item_bytes(entity) - self.written_bytes(entity)
        return fmean(write_units(max(1, size - saving)) for size in self.item_sizes(entity))

    def entry_sizes(self, entity: EntitySchema, index: Index) -> tuple[int, ...]:
        """Bytes of entries in an index: one size, or those of equal parts of all items."""
        entry = self.entry_bytes(entity, index)
        if index.projection != "ALL":
            return (entry,)
        return self.item_sizes(entity)

    def item_sizes(self, entity: EntitySchema) -> tuple[int, ...]:
        """Bytes of items: one size, or those of equal parts of them."""
        spread = self.load(entity).sizes
        return (self.item_bytes(entity),) if spread is None else spread.slices

    def written_bytes(self, entity: EntitySchema) -> int:
        """What a write of an item is billed for: of an indexed vector, four bytes a number."""
        saving = sizes.vector_saving(self.schema.by_table[entity.table], entity)
        return max(1, self.item_bytes(entity) - saving)

    def entry_bytes(self, entity: EntitySchema, index: Index) -> int:
        """Bytes of an item's entry in an index."""
        if index.projection == "ALL":
            return self.item_bytes(entity)
        held = self.attribute_bytes(entity)
        table = self.schema.by_table[entity.table]
        names = sizes.projected(table, index, set(held))
        return ceil(sum(held[name] for name in names) - 1e-6)

    def share(self, entity: EntitySchema, placement: Placement) -> float:
        """The share of an entity's items that an index holds."""
        shares = self.load(entity).share
        stated = shares.get(placement.index, shares.get(placement.name))
        if stated is not None:
            return stated
        if not placement.is_partial:
            return 1.0
        self.assume(f"half of all {entity.name} are in {placement.index}")
        return 0.5

    def distinct(self, entity: EntitySchema, fields: Iterable[str]) -> float:
        """How many different values a set of fields has, over an entity's items."""
        fields = tuple(fields)
        if (feed := self._listing_removed(entity)) is not None and fields == ("replica",):
            return float(feed.replicas or 1)
        items = max(self.items(entity), 1.0)
        found = 1.0
        for field in dict.fromkeys(fields):
            found *= self._distinct(entity, field, items)
        return max(1.0, min(found, items))

    def _distinct(self, entity: EntitySchema, field: str, items: float) -> float:
        load = self.load(entity)
        if field in load.distinct:
            return load.distinct[field]
        key = entity.key
        if self.is_own_id(entity, field) or (key is not None and key.fields == (field,)):
            return items
        attribute = entity.by_field.get(field)
        if attribute is not None:
            if attribute.shards or attribute.values:
                return float(attribute.shards or len(attribute.values))
            if attribute.type == "boolean":
                return 2.0
            if attribute.type in ("timestamp", "date") or _plain(field) in ALONE:
                return items
            if attribute.refers in self.schema.by_entity:
                return self.items(self.schema.by_entity[attribute.refers])
        for ending, owner in self._owners.items():
            if owner is not entity and _plain(field).endswith(ending):
                return self.items(owner)
        assumed = max(1.0, items / 10)
        self.assume(f"{entity.name}.{field} has {assumed:,.0f} different values")
        return assumed

    def is_own_id(self, entity: EntitySchema, field: str) -> bool:
        """Whether a field alone tells the items of an entity apart."""
        if entity.copy is not None:
            return False
        attribute = entity.by_field.get(field)
        if attribute is not None and attribute.refers:
            return False
        if any(unique.fields == (field,) for unique in entity.uniques):
            return True
        stated = self.load(entity).distinct.get(field)
        if stated is not None:
            return stated >= max(self.items(entity), 1.0)
        if entity.key is not None and set(entity.key.fields) == {field}:
            return True
        own = _plain(entity.name)
        if _plain(field) not in (f"{own}id", f"{own}code"):
            return False
        self.assume(f"no two {entity.name} have one {field}")
        return True

    def matched(self, entity: EntitySchema, fields: Iterable[str]) -> float:
        """Items of an entity that share one value of these fields."""
        return self.items(entity) / self.distinct(entity, fields)

    def hottest(self, entity: EntitySchema, fields: tuple[str, ...]) -> float:
        """The share of traffic that the most popular partition gets."""
        if self._listing_removed(entity) is not None and fields == ("replica",):
            return 1 / self.distinct(entity, fields)  # pages choose by chance
        stated = self.load(entity).hottest
        spreading = [f for f in fields if self._is_shard(entity, f)]
        shards = self.distinct(entity, spreading)
        shares = [stated[field] for field in fields if field in stated]
        if shares:
            return min(shares) / shards
        values = self.distinct(entity, [f for f in fields if f not in spreading])
        self.assume(
            f"the busiest key gets {HOT_FACTOR:g} times the traffic of an average one, where no "
            "share is stated (hottest)"
        )
        return min(1.0, HOT_FACTOR / values) / shards

    def _is_shard(self, entity: EntitySchema, field: str) -> bool:
        attribute = entity.by_field.get(field)
        return attribute is not None and attribute.shards is not None

    # Traffic

    def pattern(self, pattern: PatternSchema) -> PatternLoad:
        return self.workload.patterns.get(pattern.name, PatternLoad())

    def rate(self, pattern: PatternSchema) -> Rate:
        if pattern.name in self.workload.views:
            return Rate(0.0, 0.0)
        load = self.pattern(pattern)
        average = load.rate if load.rate is not None else pattern.rate
        if average is None:
            self.assume(f"{pattern.name} is called {RATE:g} time a second")
            average = RATE
        return self._rate(average, load.peak)

    def search_rate(self, search: SearchSchema) -> Rate:
        load = self.workload.patterns.get(search.name, PatternLoad())
        average = load.rate if load.rate is not None else search.rate
        if average is None:
            self.assume(f"{search.name} is called {RATE:g} time a second")
            average = RATE
        return self._rate(average, load.peak)

    @property
    def writes(self) -> tuple[WriteLoad, ...]:
        """What is written; a workload without writes is taken to write a little of everything."""
        if self.workload.writes or not self.schema.entities:
            return (*self.workload.writes, *self._expiries())
        self.assume(f"every write is called {WRITE_RATE:g} times a second, as none is stated")
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
        """What is created and not deleted goes by its time to live, or the items grow."""
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
                self.assume(f"{rate:.3g} {entity.name} expire a second, as so many are created")
                gone = (Effect("delete", entity.name),)
                yield WriteLoad(f"expire {entity.name}", gone, rate, expired=True)

    # What follows from writes

    def consumer(self, consumer: ConsumerSchema) -> ConsumerLoad:
        stated = self.workload.consumers.get(consumer.name)
        if stated is None and not consumer.effects:
            self.assume(f"{consumer.name} reads and writes nothing but its processed markers")
        return stated or ConsumerLoad()

    def feed(self, feed: FeedSchema) -> FeedLoad:
        stated = self.workload.feeds.get(feed.name)
        if stated is None:
            self.assume(f"no source of the feed {feed.name} pushes copies, and nobody reads it")
        return stated or FeedLoad()

    def view_rate(self, view: ViewLoad) -> Rate:
        return self._rate(RATE if view.rate is None else view.rate, view.peak)

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
        """What a change of an entity's items brings about, of one kind."""
        return [each for each in self._follows.get(entity.name, ()) if each.fact == fact]

    def jobs(self, entity: EntitySchema, event: str) -> list[Follows]:
        """The work over many items that a change asks for; feeds are priced by their own."""
        jobs = self.following(entity, "job")
        return [each for each in jobs if each.found is not None and event in each.on]

    def joins(self, entity: EntitySchema) -> bool:
        """Whether something joins the transactions in which its items are deleted or replaced."""
        return any(each.joins for each in self._follows.get(entity.name, ()))

    def processors(self, entity: EntitySchema) -> list[ConsumerSchema]:
        """The consumers of an entity's changes that are no structure of the design."""
        kept = {each.name for found in self._follows.values() for each in found}
        return [
            consumer
            for consumer in self.schema.consumers
            if entity.name in consumer.entities and consumer.name not in kept
        ]

    def posting(self, entity: EntitySchema) -> list[FeedSchema]:
        return [feed for feed in self.schema.feeds if feed.post == entity.name]

    def followed_by(self, entity: EntitySchema) -> list[FeedSchema]:
        """The feeds whose readers follow by this edge."""
        return [f for f in self.schema.feeds if entity.name in (f.edges or (f.edge,))]

    def support(self, feed: FeedSchema, kind: str) -> EntitySchema | None:
        """One of the entities that a feed keeps for itself: Source, Hint, Reader, Job, ..."""
        return self.schema.by_entity.get(dict(feed.support).get(kind.lower(), ""))

    def write_rate(self, write: WriteLoad) -> Rate:
        average = write.rate
        if average is None:
            self.assume(f"{write.name} is called {RATE:g} time a second")
            average = RATE
        return self._rate(average, write.peak)

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
            self.assume(f"{pattern.name} reads {PARTITIONS:g} {read} a call")
            return min(PARTITIONS, float(pattern.max_partitions or PARTITIONS))
        return float(pattern.max_partitions or 1 + len(pattern.other_partitions))

    def each(self, write: WriteLoad) -> float:
        if write.each is not None:
            return write.each
        self.assume(f"{write.name} writes {EACH:g} items where it says each")
        return EACH


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _by_source(schema: Schema) -> dict[str, list[Follows]]:
    """What the design keeps right, by the entity whose changes it follows."""
    found: dict[str, list[Follows]] = {}
    for each in schema.follows:
        if each.source in schema.by_entity and (not each.target or each.target in schema.by_entity):
            found.setdefault(each.source, []).append(each)
    return found
