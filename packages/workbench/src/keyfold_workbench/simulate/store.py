"""One table or index under load: its partitions, its capacity, and their growth."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from math import ceil

from keyfold_engine.limits import PARTITION_WRITE_UNITS
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.demand import Factors, StoreDemand, by_kind
from keyfold_workbench.simulate.grant import Grant, Pressure, Reason
from keyfold_workbench.simulate.model.auto_scaler import AutoScaling
from keyfold_workbench.simulate.model.bucket import Bucket
from keyfold_workbench.simulate.model.partition import (
    PARTITION_BYTES,
    StorePartition,
    partitions_needed,
)
from keyfold_workbench.simulate.model.splits import divide
from keyfold_workbench.simulate.traffic import (
    KINDS,
    Kind,
    Provisioned,
    StoreSpec,
    TrafficLine,
)

MOST_PARTITIONS = 500_000


class SimulatedStore:
    """The state of a store during a run."""

    def __init__(
        self,
        spec: StoreSpec,
        lines: Iterable[TrafficLine],
        assumptions: Assumptions,
        peaks: Factors,
        seed: int = 0,
    ) -> None:
        self.spec, self.assumptions = spec, assumptions
        self.limits: dict[Kind, float] = {
            "read": assumptions.partition_reads,
            "write": float(PARTITION_WRITE_UNITS),
        }
        self.demand = StoreDemand(spec, lines, self.limits)
        self.bytes = spec.bytes
        self.splits = 0
        self._warm = False
        self._granted: dict[Kind, float] = {"read": 0.0, "write": 0.0}
        self.buckets: dict[Kind, Bucket] = {}
        self.scaling: dict[Kind, AutoScaling] = {}
        mode = spec.mode
        if isinstance(mode, Provisioned):
            rates: dict[Kind, float] = {"read": mode.read, "write": mode.write}
            for kind in KINDS:
                self.buckets[kind] = Bucket.full(rates[kind], assumptions.burst_seconds)
                if mode.target is not None:
                    self.scaling[kind] = AutoScaling(rates[kind], mode.target, maximum=mode.most)
        self.partitions = self._first(random.Random(seed))
        if spec.grown:
            self._settle(peaks)
        self._bound = self._bounds()

    @cached_property
    def _flat(self) -> dict[str, float]:
        return {line.profile: 1.0 for line in self.demand.lines}

    # Partitions

    @property
    def count(self) -> int:
        return sum(partition.count for partition in self.partitions)

    def _first(self, rng: random.Random) -> list[StorePartition]:
        mode = self.spec.mode
        if isinstance(mode, Provisioned):
            count = partitions_needed(mode.read, mode.write, self.bytes)
        elif self.spec.grown:
            count = max(4, partitions_needed(0, 0, self.bytes))
        else:
            count = max(4, partitions_needed(mode.warm_read, mode.warm_write, self.bytes))
        count = min(self.spec.partitions or count, MOST_PARTITIONS)
        held: dict[int, dict[int, float]] = {}
        for number, _ in enumerate(self.demand.keys):
            held.setdefault(rng.randrange(count), {})[number] = 1.0
        listed = [StorePartition(1 / count, keys) for _, keys in sorted(held.items())]
        others = count - len(listed)
        return [*listed, *([StorePartition(1 / count, count=others)] if others else [])]

    def _settle(self, peaks: Factors) -> None:
        """Split as years of such days would have, as far as splits help."""
        limit = self.assumptions.heat_threshold
        for _ in range(40):
            hot = [p for p in self.partitions if self.demand.heat(p, peaks) >= limit]
            split = [self._split(partition, peaks) for partition in hot]
            if not any(split):
                return

    def _split(self, partition: StorePartition, factors: Factors) -> bool:
        if self.count >= MOST_PARTITIONS:
            partition.stuck = True
            return False
        loads = {
            key: self.demand.key_heat(key, factors) * part for key, part in partition.held.items()
        }
        bulk = self.demand.bulk_heat(factors) * partition.width
        divisible = {key: self.demand.keys[key].divisible for key in partition.held}
        halves = divide(partition, loads, divisible, bulk)
        if halves is None:
            partition.splits_at = partition.hot_since = None
            partition.stuck = True
            return False
        at = self.partitions.index(partition)
        if partition.count > 1 or not partition.held:
            both = replace(halves[0], width=partition.width / 2, count=2 * partition.count)
            self.partitions[at : at + 1] = [both]
        else:
            self.partitions[at : at + 1] = list(halves)
        self.splits += partition.count
        self._bound = self._bounds()
        return True

    def _bounds(self) -> dict[str, list[tuple[str, float]]]:
        """Upper bounds of any partition's demand, by kind and profile."""
        self._widest = max(partition.width for partition in self.partitions)
        found: dict[tuple[Kind, str], float] = {}
        for partition in self.partitions:
            loads = self.demand.loads(partition)
            for kind in KINDS:
                for profile, units in loads[kind]:
                    found[kind, profile] = max(found.get((kind, profile), 0.0), units)
        return by_kind(found)

    def bound(self, kind: Kind, factors: Factors) -> float:
        """An upper bound of any partition's demand, in units per second."""
        return sum(units * factors[profile] for profile, units in self._bound[kind])

    def is_cool(self, factors: Factors) -> bool:
        """Whether no partition can be near its limit, now or just before."""
        if self._warm:
            return False
        return all(
            self.bound(kind, factors) < self.assumptions.heat_threshold * self.limits[kind]
            for kind in KINDS
        )

    @property
    def is_settled(self) -> bool:
        """Whether no split is due."""
        return not self._warm and not self.scaling

    # Time

    def grant(self, kind: Kind, factors: Factors, seconds: float) -> Grant:
        """What is granted of the lines' demand."""
        total = self.demand.wanted(kind, factors)
        ratio, reason = self._table_ratio(kind, total, seconds)
        if ratio >= 1 and self.is_cool(factors):
            self._take(kind, total, seconds)
            return Grant(total, total)
        limit = self.limits[kind]
        granted, least = 0.0, 1.0
        fractions: list[float] = []
        tightest: StorePartition | None = None
        for partition in self.partitions:
            asked = self.demand.load(partition, kind, factors)
            fraction = min(1.0, limit / asked) if asked > 0 else 1.0
            if fraction < least - 1e-12:
                least, tightest = fraction, partition
            fractions.append(fraction)
            granted += partition.count * asked * fraction
        found: Reason | None = "key range" if tightest is not None else None
        if total > 0 and granted > ratio * total + 1e-9:
            scale = ratio * total / granted
            fractions = [each * scale for each in fractions]
            granted, found = ratio * total, reason
        self._take(kind, granted, seconds)
        if found is None:
            return Grant(total, total)
        return Grant(total, granted, found, tightest, fractions)

    def pressure(self, factors: Factors, share: float, seconds: float) -> Pressure:
        """How well an index absorbs this share of its table's writes."""
        limit, excess, most = self.limits["write"], 0.0, 0.0
        for partition in self.partitions:
            asked = self.demand.load(partition, "write", factors) * share
            excess += partition.count * max(0.0, asked - limit)
            most = max(most, asked)
        held, spare = limit / most if most > limit else 1.0, limit - most
        total = self.demand.wanted("write", factors) * share
        if "write" in self.buckets:
            bucket = self.buckets["write"]
            possible = bucket.rate + bucket.tokens / seconds
            if total - excess > possible:
                excess = total - possible
                held = min(held, bucket.rate / total)
            spare = min(spare, possible - total)
        return Pressure(total, excess, max(0.0, spare), held)

    def _table_ratio(self, kind: Kind, total: float, seconds: float) -> tuple[float, Reason | None]:
        if total <= 0 or kind not in self.buckets:
            return 1.0, None
        bucket = self.buckets[kind]
        possible = bucket.rate + bucket.tokens / seconds
        return (possible / total, "provisioned") if total > possible else (1.0, None)

    def drain(self, rate: float, seconds: float) -> None:
        """Write the units per second that arrived from a table."""
        self._take("write", rate, seconds)

    def _take(self, kind: Kind, rate: float, seconds: float) -> None:
        if kind in self.buckets:
            self.buckets[kind].take(rate, seconds)
        self._granted[kind] = rate

    def pass_time(self, now: float, seconds: float, factors: Factors) -> None:
        """Split partitions by heat and size; adjust capacity."""
        self.bytes += self.spec.growth * seconds
        self._size_splits()
        if not self.is_cool(factors):
            self._heat_splits(now + seconds, factors)
        for kind, scaling in self.scaling.items():
            bucket = self.buckets[kind]
            bucket.set_rate(scaling.minute(now + seconds, self._granted[kind]))
            self._ensure(partitions_needed(0, 0, 0) if kind == "read" else ceil(bucket.rate / 1000))

    def _heat_splits(self, now: float, factors: Factors) -> None:
        taken = self.assumptions
        for partition in list(self.partitions):
            if partition.stuck:
                continue
            hot = self.demand.heat(partition, factors) >= taken.heat_threshold
            if not hot:
                partition.hot_since = None
            elif partition.hot_since is None:
                partition.hot_since = now
            since = partition.hot_since
            if (
                partition.splits_at is None
                and since is not None
                and (now - since >= taken.hot_seconds)
            ):
                partition.splits_at = now + taken.copy_seconds
            if partition.splits_at is not None and now >= partition.splits_at:
                self._split(partition, factors)
        self._warm = any(p.hot_since is not None or p.splits_at for p in self.partitions)

    def _ensure(self, count: int) -> None:
        """Have at least this number of partitions, evenly."""
        while self.count < min(count, MOST_PARTITIONS):
            widest = max(self.partitions, key=lambda p: p.width)
            if not self._split(widest, self._flat):
                return

    def _size_splits(self) -> None:
        if self._widest * self.bytes <= PARTITION_BYTES:
            return
        for partition in list(self.partitions):
            while partition.width * self.bytes > PARTITION_BYTES and partition in self.partitions:
                if not self._split(partition, self._flat):
                    break
