"""The units that stores granted and refused, in total and by hour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from keyfold_workbench.cost.part import Store
from keyfold_workbench.simulate.outcome import StoreOutcome
from keyfold_workbench.simulate.store import SimulatedStore
from keyfold_workbench.simulate.traffic import Kind, Provisioned

HOUR = 3600.0


class UnitLedger:
    """Counts units into each store's outcome."""

    def __init__(
        self, stores: Mapping[Store, SimulatedStore], outcomes: Mapping[Store, StoreOutcome]
    ) -> None:
        self.stores, self.outcomes = stores, outcomes
        self._hours: dict[Store, list[list[float]]] = defaultdict(list)

    def count(
        self, store: Store, kind: Kind, granted: float, refused: float, seconds: float
    ) -> None:
        """Count units per second granted and refused over a duration."""
        seen = self.outcomes[store]
        state = self.stores[store]
        if kind == "read":
            seen.read_units += granted * seconds
            seen.refused_read += refused * seconds
            seen.peak_read = max(seen.peak_read, granted)
        else:
            seen.write_units += granted * seconds
            seen.refused_write += refused * seconds
            seen.peak_write = max(seen.peak_write, granted)
        mode = state.spec.mode
        if isinstance(mode, Provisioned):
            bought = state.buckets[kind].rate * seconds
            if kind == "read":
                seen.capacity_read += bought
            else:
                seen.capacity_write += bought
        self._hours[store].append(
            [
                seconds,
                granted if kind == "read" else 0.0,
                granted if kind == "write" else 0.0,
                refused,
            ]
        )
        if sum(row[0] for row in self._hours[store]) >= 2 * HOUR:
            self.flush(store)

    def flush(self, store: Store) -> None:
        """Add the counts since the last full hour to the store's series."""
        rows = self._hours.pop(store, [])
        if not rows:
            return
        series, state = self.outcomes[store].series, self.stores[store]
        whole = sum(row[0] for row in rows) / 2 or 1.0
        series.read.append(sum(row[0] * row[1] for row in rows) / whole)
        series.written.append(sum(row[0] * row[2] for row in rows) / whole)
        series.refused.append(sum(row[0] * row[3] for row in rows) / whole)
        series.partitions.append(state.count)
        bought = state.buckets.get("write")
        series.capacity.append(bought.rate if bought else 1000.0 * state.count)
