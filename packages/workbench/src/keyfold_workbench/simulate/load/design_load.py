"""From a design and its workload to a simulation: stores, keys and lines of load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from keyfold.design.schema import EntitySchema, KeyTemplates, PatternSchema, Schema
from keyfold.prices import SECONDS_A_MONTH
from keyfold_engine.limits import PARTITION_WRITE_UNITS
from keyfold_workbench.cost import Bill, bill
from keyfold_workbench.cost.charge import Part, Store
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import HORIZON_MONTHS, BurstLoad, Rate, Workload
from keyfold_workbench.simulate.load.schedule import DAY, Burst, Day, Schedule
from keyfold_workbench.simulate.load.zipf import exponent, shares
from keyfold_workbench.simulate.model.shard_reader import ShardWork
from keyfold_workbench.simulate.traffic import (
    ALWAYS,
    Contention,
    KeySpace,
    Kind,
    Mode,
    OnDemand,
    Provisioned,
    ScaleModel,
    StoreSpec,
    TrafficLine,
)

MOST_HEAVY = 64
"""At most this many keys of one template are tracked individually."""
LEAST_HEAVY = 0.05
"""A key is heavy if it takes this share of a partition's rate at the busiest time."""
OWN = "(keyfold's own items)"
BATCH = 100
RECORD_SECONDS = 0.012
"""A consumer's time for one record that causes a write: a read and a transaction."""
ATTEMPTS = 5
"""How often keyfold retries its own transactions that fail by conflicts only."""


@dataclass(frozen=True)
class Setup:
    """How a design is deployed: AWS settings and consumers."""

    provisioned: float | None = None
    """Provisioned for its peaks, with auto scaling at this utilisation; None is on demand."""
    cold: bool = False
    """All tables are new; otherwise they have seen this traffic before."""


@dataclass(frozen=True)
class DesignLoad:
    """A design under a workload, ready to be simulated."""

    schema: Schema
    workload: Workload
    model: ScaleModel
    schedule: Schedule
    bill: Bill
    setup: Setup


def design_load(schema: Schema, workload: Workload, setup: Setup | None = None) -> DesignLoad:
    """The load of a design under a workload."""
    return _Building(schema, workload, setup or Setup()).build()


class _Building:
    def __init__(self, schema: Schema, workload: Workload, setup: Setup) -> None:
        self.schema, self.workload, self.setup = schema, workload, setup
        self.figures = DesignNumbers(schema, workload)
        self.bill = bill(schema, workload)
        self.lines: list[TrafficLine] = []
        self.spaces: dict[tuple[Store, str], list[tuple[float, float, float, bool]]] = defaultdict(
            list
        )
        self.peaks: dict[str, float] = {}
        self.contentions: list[Contention] = []
        self.bursts = {call: burst for burst in workload.bursts for call in burst.calls}
        self.records: dict[str, float] = defaultdict(float)

    def build(self) -> DesignLoad:
        for line in self.bill.patterns:
            self._pattern(line.pattern, line.rate)
        for feed in self.bill.feeds:
            call = f"feed {feed.feed.name}"
            for part in feed.page.parts:
                self._part(part, feed.rate, call, "read")
        for write in self.bill.writes:
            self._write(write.write.name, write.write.parts, write.rate)
        schedule = self._schedule()
        model = self._model(schedule)
        return DesignLoad(self.schema, self.workload, model, schedule, self.bill, self.setup)

    # Lines

    def _profile(self, rate: Rate) -> str:
        if not rate.average:
            return ALWAYS
        factor = round(rate.peak / rate.average, 3)
        name = f"peaks {factor:g} times"
        self.peaks[name] = factor
        return name

    def _line(self, line: TrafficLine, hottest: float, keys: float, *, divisible: bool) -> None:
        if line.units <= 0:
            return
        weight = line.units * line.rate
        self.spaces[line.store, line.space].append((weight, hottest, keys, divisible))
        self.lines.append(line)
        burst = self.bursts.get(line.call)
        if burst is not None:
            focus = burst.focus if _is_about(burst, line.space) else 0.0
            self.lines.append(replace(line, profile=_burst_name(burst), focus=focus))

    def _pattern(self, pattern: PatternSchema, rate: Rate) -> None:
        from keyfold_workbench.cost.reads import read

        once = read(self.figures, pattern)
        profile = self._profile(rate)
        found = [
            a for a in self.figures.facts.reached(pattern) if a.entity.name in pattern.entities
        ] or list(self.figures.facts.reached(pattern))
        if found:
            entity, key = found[0].entity, found[0].key
            space = str(key.partition)
            hottest, keys = self._popularity(entity, key)
            hottest /= self.figures.partitions(pattern)
            divisible = pattern.kind in ("get", "exists") and self._is_divisible(entity, key)
        else:
            space, hottest, keys, divisible = pattern.name, 1.0, 1.0, False
        name = pattern.name
        line = TrafficLine(name, once.path, "read", once.units, rate.average, space, profile)
        self._line(line, hottest, keys, divisible=divisible)
        if once.fetched:
            fetched = TrafficLine(
                name, Store(pattern.table), "read", once.fetched, rate.average, OWN, profile
            )
            self._line(fetched, 1e-6, 1e6, divisible=True)

    def _write(self, name: str, parts: tuple[Part, ...], rate: Rate) -> None:
        direct = [part for part in parts if not part.streamed]
        written = [p for p in direct if not p.reading and p.why != "index"]
        transaction = len(written) > 1
        for part in parts:
            self._part(part, rate, name, "read" if part.reading else "write")
            if transaction and part.why == "counter" and not part.streamed:
                self._contention(name, part, rate)

    def _part(self, part: Part, rate: Rate, call: str, kind: Kind) -> None:
        store = part.path
        profile = self._profile(rate)
        entity = self.schema.by_entity.get(part.entity)
        streamed, units = part.streamed, part.units
        key = self._key(entity, store) if entity else None
        if entity is None or key is None:
            line = TrafficLine(call, store, kind, units, rate.average, OWN, profile, streamed)
            self._line(line, 1e-6, 1e6, divisible=True)
            return
        hottest, keys = self._popularity(entity, key)
        line = TrafficLine(
            call,
            store,
            kind,
            units,
            rate.average,
            str(key.partition),
            profile,
            streamed,
            items=part.items or (0.0 if kind == "read" else 1.0),
        )
        divisible = kind == "write" and self._is_divisible(entity, key)
        self._line(line, hottest, keys, divisible=divisible)
        if kind == "write" and store.index is None and not streamed:
            self.records[store.table] += rate.average * line.items

    def _key(self, entity: EntitySchema, store: Store) -> KeyTemplates | None:
        if store.index is None:
            return entity.key
        placed = entity.placement(store.index)
        return placed[0].key if placed else None

    def _popularity(self, entity: EntitySchema, key: KeyTemplates) -> tuple[float, float]:
        """The share of the hottest key, and the number of keys."""
        fields = key.partition.fields
        keys = self.figures.distinct(entity, fields)
        shared = self._stated_share(fields)
        if shared is not None and not self.figures.load(entity).hottest:
            return shared, keys
        return self.figures.hottest(entity, fields), keys

    def _stated_share(self, fields: tuple[str, ...]) -> float | None:
        """The popularity that another entity states for the same field."""
        found = [
            load.hottest[f]
            for load in self.workload.entities.values()
            for f in fields
            if f in load.hottest
        ]
        return max(found) if found and len(fields) == 1 else None

    def _is_divisible(self, entity: EntitySchema, key: KeyTemplates) -> bool:
        """Whether one key's items can be split, because their sort keys do not only rise."""
        if key.sort is None:
            return False
        slots = key.sort.slots
        return bool(slots) and not self.figures.facts.is_moment(entity, slots[0])

    def _contention(self, call: str, part: Part, rate: Rate) -> None:
        entity = self.schema.by_entity[part.entity]
        if entity.key is None or part.path.index is not None:
            return
        hottest, _ = self._popularity(entity, entity.key)
        name = f"{entity.key.partition} (no. 1)"
        at = rate.average * hottest
        made = Contention(call, name, at, self._profile(rate), ATTEMPTS, 0.0, rate.average)
        self.contentions.append(made)
        burst = self.bursts.get(call)
        if burst is not None and burst.focus and _is_about(burst, str(entity.key.partition)):
            self.contentions.append(
                replace(made, rate=rate.average * burst.focus, profile=_burst_name(burst))
            )

    # Stores

    def _schedule(self) -> Schedule:
        bursts = tuple(
            Burst(
                _burst_name(burst),
                burst.day * DAY + burst.hour * 3600,
                burst.seconds,
                max(0.0, burst.factor - 1),
            )
            for burst in self.workload.bursts
        )
        return Schedule(Day(), self.peaks, bursts=bursts)

    def _model(self, schedule: Schedule) -> ScaleModel:
        peaks = schedule.highest()
        wanted: dict[tuple[Store, Kind], float] = defaultdict(float)
        for line in self.lines:
            wanted[line.store, line.kind] += line.units * line.rate * peaks[line.profile]
        stores = []
        for path in self.bill.paths:
            read, write = wanted[path.path, "read"], wanted[path.path, "write"]
            table = self.schema.by_table.get(path.path.table)
            local = table is not None and any(index.local for index in table.indexes)
            growth = (path.bytes_later - path.bytes) / HORIZON_MONTHS / SECONDS_A_MONTH
            stores.append(
                StoreSpec(
                    path.path,
                    self._mode(read, write),
                    tuple(self._spaces(path.path)),
                    path.bytes if not self.setup.cold else 0.0,
                    growth,
                    local_indexes=local and path.path.index is None,
                    grown=not self.setup.cold,
                )
            )
        return ScaleModel(
            self.schema.name,
            tuple(stores),
            tuple(self.lines),
            tuple(self.contentions),
            tuple(self._consumers()),
            self.workload.users or 0.0,
            self.bill.assumptions,
        )

    def _mode(self, read: float, write: float) -> Mode:
        if self.setup.provisioned is not None:
            low = self.setup.provisioned
            most = max(40_000.0, 2 * read / low, 2 * write / low)
            if self.setup.cold:
                return Provisioned(5.0, 5.0, low, most)
            return Provisioned(max(5.0, read / 2), max(5.0, write / 2), low, most)
        if self.setup.cold:
            return OnDemand()
        return OnDemand(max(12_000.0, read), max(4_000.0, write))

    def _spaces(self, store: Store) -> Iterator[KeySpace]:
        for (of, template), entries in self.spaces.items():
            if of != store:
                continue
            total = sum(weight for weight, _, _, _ in entries)
            hottest = max(hottest for _, hottest, _, _ in entries)
            keys = max(keys for _, _, keys, _ in entries)
            firm = sum(weight for weight, _, _, divisible in entries if not divisible)
            least = LEAST_HEAVY * PARTITION_WRITE_UNITS / max(total * 5, 1e-9)
            heavy = shares(keys, exponent(keys, min(1.0, hottest)), MOST_HEAVY, least)
            yield KeySpace(template, heavy, keys, divisible=firm < total / 2)

    def _consumers(self) -> Iterator[tuple[str, ShardWork]]:
        for table in self.schema.tables:
            if table.stream:
                follows = any(line.streamed and line.kind == "write" for line in self.lines)
                seconds = BATCH * (RECORD_SECONDS if follows else 0.0005)
                yield table.name, ShardWork(BATCH, seconds)


def _is_about(burst: BurstLoad, template: str) -> bool:
    """Whether a burst concentrates on keys of this template rather than on each caller's own."""
    return any(f"{{{field}}}" in template or f"{{{field}:" in template for field in burst.on)


def _burst_name(burst: BurstLoad) -> str:
    return f"burst: {burst.name}"
