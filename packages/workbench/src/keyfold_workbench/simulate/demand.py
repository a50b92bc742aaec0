"""The demand on a store: its traffic by key and by partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from keyfold_workbench.simulate.model.partition import StorePartition
from keyfold_workbench.simulate.traffic import KINDS, Kind, StoreSpec, TrafficLine

Factors = Mapping[str, float]


@dataclass(frozen=True)
class HeavyKey:
    """A key that is tracked individually."""

    name: str
    space: str
    rank: int
    divisible: bool
    units: Mapping[tuple[Kind, str], float]
    """Units per second by kind and profile, at a factor of 1."""


class StoreDemand:
    """The traffic of one store, divided between its heavy keys and all others."""

    def __init__(
        self, spec: StoreSpec, lines: Iterable[TrafficLine], limits: Mapping[Kind, float]
    ) -> None:
        self.spec, self.limits = spec, limits
        self.lines = [line for line in lines if line.store == spec.store]
        self._spaces = {space.template: space for space in spec.spaces}
        self.keys, self.bulk = self._weigh()

    def _weigh(self) -> tuple[list[HeavyKey], dict[tuple[Kind, str], float]]:
        keys: list[HeavyKey] = []
        bulk: dict[tuple[Kind, str], float] = {}
        for space in self.spec.spaces:
            lines = [line for line in self.lines if line.space == space.template]
            for rank in range(max(len(space.shares), 1 if any(x.focus for x in lines) else 0)):
                units: dict[tuple[Kind, str], float] = {}
                for line in lines:
                    slot = (line.kind, line.profile)
                    part = line.units * line.rate * self.share(line, rank)
                    units[slot] = units.get(slot, 0.0) + part
                divisible = space.divisible and not self.spec.local_indexes
                keys.append(HeavyKey(space.name(rank), space.template, rank, divisible, units))
            for line in lines:
                slot = (line.kind, line.profile)
                left = line.units * line.rate * self.rest(line)
                bulk[slot] = bulk.get(slot, 0.0) + left
        return keys, bulk

    def share(self, line: TrafficLine, rank: int) -> float:
        """The share of a line for one heavy key."""
        shares = self._spaces[line.space].shares
        usual = shares[rank] if rank < len(shares) else 0.0
        return usual * (1 - line.focus) + (line.focus if rank == 0 else 0.0)

    def rest(self, line: TrafficLine) -> float:
        """The share of a line for all other keys."""
        return self._spaces[line.space].rest * (1 - line.focus)

    def load(self, partition: StorePartition, kind: Kind, factors: Factors) -> float:
        """Units per second demanded of one partition."""
        total = 0.0
        for profile, units in self.loads(partition)[kind]:
            total += units * factors[profile]
        return total

    def loads(self, partition: StorePartition) -> dict[str, list[tuple[str, float]]]:
        """Units per second by kind, for each profile at a factor of 1."""
        if partition.loads is None:
            found = {slot: units * partition.width for slot, units in self.bulk.items()}
            for key, part in partition.held.items():
                for slot, units in self.keys[key].units.items():
                    found[slot] = found.get(slot, 0.0) + units * part
            partition.loads = by_kind(found)
        return partition.loads

    def wanted(self, kind: Kind, factors: Factors) -> float:
        """Units per second demanded of the store."""
        return sum(units * factors[profile] for profile, units in self._all[kind])

    @cached_property
    def _all(self) -> dict[str, list[tuple[str, float]]]:
        total = dict(self.bulk)
        for key in self.keys:
            for slot, units in key.units.items():
                total[slot] = total.get(slot, 0.0) + units
        return by_kind(total)

    def heat(self, partition: StorePartition, factors: Factors) -> float:
        """A partition's demand as a share of its limits, for reads or writes."""
        return max(self.load(partition, kind, factors) / self.limits[kind] for kind in KINDS)

    def key_heat(self, key: int, factors: Factors) -> float:
        """One key's demand as a share of a partition's limits."""
        units = self.keys[key].units
        return max(
            sum(u * factors[p] for (of, p), u in units.items() if of == kind) / self.limits[kind]
            for kind in KINDS
        )

    def bulk_heat(self, factors: Factors) -> float:
        """The demand of all other keys as a share of a partition's limits."""
        return max(
            sum(u * factors[p] for (of, p), u in self.bulk.items() if of == kind)
            / self.limits[kind]
            for kind in KINDS
        )

    def hottest_key(self, partition: StorePartition, kind: Kind, factors: Factors) -> str:
        """The key that heats a partition; empty if many do."""

        def load_of(key: int) -> float:
            units = self.keys[key].units
            mine = sum(u * factors[p] for (of, p), u in units.items() if of == kind)
            return mine * partition.held[key]

        top = max(partition.held, key=load_of, default=None)
        if top is None or load_of(top) < 0.3 * self.load(partition, kind, factors):
            return ""
        return self.keys[top].name


def by_kind(units: Mapping[tuple[Kind, str], float]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {kind: [] for kind in KINDS}
    for (kind, profile), each in units.items():
        if each:
            found[kind].append((profile, each))
    return found
