"""The same model in full detail: every call is drawn with its key.

For small numbers of users. It shows what the flow model leaves out: randomness. Splits and capacity
are the same code; arrivals, keys and admission are not.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate
from math import exp
from zlib import crc32

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.load.schedule import Schedule
from keyfold_workbench.simulate.load.zipf import exponent
from keyfold_workbench.simulate.outcome import CallOutcome, RunOutcome, StoreOutcome
from keyfold_workbench.simulate.store import SimulatedStore
from keyfold_workbench.simulate.traffic import KeySpace, Kind, ScaleModel, TrafficLine

MOST_KEYS = 2_000_000
_SEEN_KEYS = 4_096


def simulate_calls(
    model: ScaleModel,
    schedule: Schedule,
    seconds: int,
    assumptions: Assumptions | None = None,
    seed: int = 0,
) -> RunOutcome:
    """Draw every call of these seconds."""
    return _Detail(model, schedule, assumptions or Assumptions(), seed).go(seconds)


class _Detail:
    def __init__(
        self, model: ScaleModel, schedule: Schedule, assumptions: Assumptions, seed: int
    ) -> None:
        self.schedule, self.assumptions = schedule, assumptions
        self.random = random.Random(seed)
        peaks = schedule.highest()
        self.stores = {
            spec.store: SimulatedStore(spec, model.lines, assumptions, peaks, seed + at)
            for at, spec in enumerate(model.stores)
        }
        self.spaces = {
            (spec.store, space.template): _Keys(space)
            for spec in model.stores
            for space in spec.spaces
        }
        self.calls: dict[tuple[str, str], list[TrafficLine]] = defaultdict(list)
        for line in model.lines:
            self.calls[line.call, line.profile].append(line)
        self.waiting: dict[Store, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.seen = RunOutcome(
            stores={store: StoreOutcome() for store in self.stores},
            calls={line.call: CallOutcome() for line in model.lines},
        )

    def go(self, seconds: int) -> RunOutcome:
        for now in range(seconds):
            factors = self.schedule.factors(float(now))
            spent: dict[tuple[Store, Kind, int], float] = defaultdict(float)
            arrived = []
            for (call, profile), lines in self.calls.items():
                rate = max((line.rate for line in lines if not line.streamed), default=0.0)
                arrived += [(call, lines)] * self._poisson(rate * factors[profile])
            self.random.shuffle(arrived)
            for call, lines in arrived:
                self._call(call, lines, spent)
            self._drain()
            for state in self.stores.values():
                state.pass_time(float(now), 1.0, factors)
        self.seen.seconds = float(seconds)
        for store, state in self.stores.items():
            self.seen.stores[store].partitions = state.count
        return self.seen

    def _poisson(self, mean: float) -> int:
        if mean > 50:
            return max(0, round(self.random.gauss(mean, mean**0.5)))
        limit, count, product = exp(-mean), 0, self.random.random()
        while product > limit:
            count += 1
            product *= self.random.random()
        return count

    def _call(
        self, call: str, lines: list[TrafficLine], spent: dict[tuple[Store, Kind, int], float]
    ) -> None:
        """Admit all parts of a call, or refuse the call and count it as lost."""
        seen = self.seen.calls[call]
        seen.calls += 1
        wanted = []
        refused = False
        for line in lines:
            place = self._place(line)
            at = line.store, line.kind, place
            wanted.append((line, at))
            if line.store.index is not None and line.kind == "write":
                waiting = sum(self.waiting[line.store].values())
                refused |= waiting >= self.assumptions.index_buffer + self._room(line.store)
            else:
                limit = self.stores[line.store].limits[line.kind]
                refused |= spent[at] + line.units > limit + line.units / 2
        for line, at in wanted:
            store = self.seen.stores[line.store]
            if refused:
                if line.kind == "read":
                    store.refused_read += line.units
                else:
                    store.refused_write += line.units
                continue
            spent[at] += line.units
            if line.kind == "read":
                store.read_units += line.units
            else:
                store.write_units += line.units
                if line.store.index is not None:
                    self.waiting[line.store][at[2]] += line.units
        seen.lost += refused

    def _room(self, store: Store) -> float:
        """What an index can take within the second without back-pressure."""
        return self.stores[store].limits["write"]

    def _drain(self) -> None:
        for store, queues in self.waiting.items():
            limit = self.stores[store].limits["write"]
            for place in list(queues):
                queues[place] = max(0.0, queues[place] - limit)
                if not queues[place]:
                    del queues[place]

    def _place(self, line: TrafficLine) -> int:
        """The partition of a drawn key."""
        state, keys = self.stores[line.store], self.spaces[line.store, line.space]
        rank = 0 if line.focus and self.random.random() < line.focus else keys.draw(self.random)
        if rank < len(keys.space.shares) or (line.focus and rank == 0):
            chosen = self.random.random()
            for number, partition in enumerate(state.partitions):
                for key, part in partition.held.items():
                    heavy = state.demand.keys[key]
                    if heavy.space == line.space and heavy.rank == rank:
                        chosen -= part
                        if chosen <= 0:
                            return number * _SEEN_KEYS
        point, passed = crc32(f"{line.space}{rank}".encode()) / 2**32, 0.0
        for number, partition in enumerate(state.partitions):
            whole = partition.width * partition.count
            if point < passed + whole:
                return number * _SEEN_KEYS + int((point - passed) / partition.width)
            passed += whole
        return 0


class _Keys:
    """Draws keys of one template by popularity rank."""

    def __init__(self, space: KeySpace) -> None:
        self.space = space
        count = int(min(max(space.keys, 1), MOST_KEYS))
        self.count = count
        self.steps: list[float] = []
        if space.shares and count > 1:
            s = exponent(space.keys, space.shares[0])
            self.steps = list(accumulate((rank + 1) ** -s for rank in range(count)))

    def draw(self, rng: random.Random) -> int:
        if not self.steps:
            return rng.randrange(self.count) + len(self.space.shares) if self.count > 1 else 0
        return bisect_left(self.steps, rng.random() * self.steps[-1])
