"""The run: time advances in steps of a minute or less, with constant load in each.

Heavy keys are tracked individually, all others as a flow. Nothing is random, so a run is
reproducible and its step length is independent of the request rate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.grant import Grant
from keyfold_workbench.simulate.load.schedule import Schedule
from keyfold_workbench.simulate.model import conflicts
from keyfold_workbench.simulate.model.backpressure import IndexBuffer
from keyfold_workbench.simulate.model.partition import StorePartition
from keyfold_workbench.simulate.model.retries import refusal
from keyfold_workbench.simulate.model.shard_reader import ShardQueue
from keyfold_workbench.simulate.outcome import (
    CallOutcome,
    ContentionOutcome,
    FirstThrottle,
    QueueOutcome,
    RunOutcome,
    StoreOutcome,
)
from keyfold_workbench.simulate.store import SimulatedStore
from keyfold_workbench.simulate.traffic import Kind, ScaleModel, TrafficLine

CallAt = tuple[str, str]
"""A call and its load profile."""
SETTLED_STEPS = 10
"""How much longer steps are if no partition is about to split."""
NEGLIGIBLE = 1e-4


def run(
    model: ScaleModel,
    schedule: Schedule,
    seconds: float,
    assumptions: Assumptions | None = None,
    *,
    step: float = 60.0,
) -> RunOutcome:
    """Simulate a system over time."""
    return Run(model, schedule, assumptions or Assumptions()).go(seconds, step)


@dataclass
class LoadStep:
    """A time of constant load."""

    now: float
    seconds: float
    factors: dict[str, float]
    taken: dict[CallAt, float] = field(default_factory=dict)
    """The share of each call that is accepted, where it is less than all."""

    def take(self, at: CallAt, fraction: float) -> None:
        self.taken[at] = min(self.taken.get(at, 1.0), fraction)


class Run:
    """The state of a system during a run."""

    def __init__(self, model: ScaleModel, schedule: Schedule, assumptions: Assumptions) -> None:
        self.model, self.schedule, self.assumptions = model, schedule, assumptions
        peaks = schedule.highest()
        self.stores = {
            spec.store: SimulatedStore(spec, model.lines, assumptions, peaks, at)
            for at, spec in enumerate(model.stores)
        }
        self.outcome = RunOutcome(
            stores={store: StoreOutcome() for store in self.stores},
            calls={line.call: CallOutcome() for line in model.lines},
        )
        self.tables = [store for store in self.stores if store.index is None]
        self.indexes = {
            table: [s for s in self.stores if s.table == table.table and s.index is not None]
            for table in self.tables
        }
        self.buffers = {
            store: IndexBuffer(assumptions.index_buffer)
            for store in self.stores
            if store.index is not None
        }
        self.work = dict(model.consumers)
        self.queues = {table: ShardQueue() for table in self.work}
        self.outcome.queues = {table: QueueOutcome() for table in self.work}
        self._rates: dict[CallAt, float] = {}
        for line in model.lines:
            if not line.streamed:
                self._rates[line.at] = max(self._rates.get(line.at, 0.0), line.rate)
        self._seen: set[tuple[Store, Kind, str]] = set()
        self._streamed = {line.at for line in model.lines if line.streamed}

    def go(self, seconds: float, step: float = 60.0) -> RunOutcome:
        now = 0.0
        while now < seconds - 1e-9:
            settled = all(state.is_settled for state in self.stores.values())
            usual = step * SETTLED_STEPS if settled and step >= 60 else step
            length = self.schedule.step(now, seconds, usual)
            self.step(now, length)
            now += length
        self.outcome.seconds = seconds
        for store, state in self.stores.items():
            seen = self.outcome.stores[store]
            seen.partitions, seen.splits, seen.bytes = state.count, state.splits, state.bytes
        return self.outcome

    def step(self, now: float, seconds: float) -> None:
        step = LoadStep(now, seconds, self.schedule.factors(now))
        for table in self.tables:
            self._table(table, step)
        self._calls(step)
        self._contend(step)
        for state in self.stores.values():
            state.pass_time(now, seconds, step.factors)
        self.outcome.steps += 1

    # One table with its indexes

    def _table(self, table: Store, step: LoadStep) -> None:
        state = self.stores[table]
        self._note(table, "read", state.grant("read", step.factors, step.seconds), step)
        writes = state.grant("write", step.factors, step.seconds)
        self._note(table, "write", writes, step)
        held = 1.0
        for index in self.indexes[table]:
            held = min(held, self._index(table, index, step, writes.fraction))
        if held < 1.0:
            for line in state.demand.lines:
                if line.kind == "write":
                    step.take(line.at, held)
            seen = self.outcome.stores[table]
            # An index that accepted less is already counted with the table's own units.
            seen.refused_write += writes.granted * (1 - held) * step.seconds
            seen.write_units -= writes.granted * (1 - held) * step.seconds
        self._stream(table, step, writes.fraction * held)

    def _index(self, table: Store, index: Store, step: LoadStep, accepted: float) -> float:
        state, buffer = self.stores[index], self.buffers[index]
        factors, seconds = step.factors, step.seconds
        self._note(index, "read", state.grant("read", factors, seconds), step)
        if state.is_cool(factors) and "write" not in state.buckets and buffer.waiting <= 0:
            offered = state.demand.wanted("write", factors) * accepted
            self._count(index, "write", offered, 0.0, seconds)
            return 1.0
        pressure, before = state.pressure(factors, accepted, seconds), buffer.waiting
        fraction = buffer.pass_on(pressure.excess, pressure.spare, pressure.held, seconds)
        drained = (before - buffer.waiting) / seconds
        written = max(0.0, pressure.offered * fraction + drained)
        state.drain(written, seconds)
        seen = self.outcome.stores[index]
        seen.buffered = max(seen.buffered, buffer.waiting)
        self._count(index, "write", written, pressure.offered * (1 - fraction), seconds)
        if fraction < 1 - 1e-9:
            self._first_of_index(table, index, step, pressure.offered)
        return fraction

    def _first_of_index(self, table: Store, index: Store, step: LoadStep, wanted: float) -> None:
        state, factors = self.stores[index], step.factors
        tightest = max(state.partitions, key=lambda p: state.demand.load(p, "write", factors))
        asked = state.demand.load(tightest, "write", factors)
        limit = state.limits["write"]
        bought = state.buckets.get("write")
        if bought is not None and bought.rate / max(wanted, 1e-9) < limit / max(asked, 1e-9):
            grant = Grant(wanted, bought.rate, "provisioned", None)
        else:
            grant = Grant(wanted, wanted, "key range", tightest)
        self._remember(table, "write", grant, step, through=index)

    # Recording

    def _count(
        self, store: Store, kind: Kind, granted: float, refused: float, seconds: float
    ) -> None:
        """Count units per second granted and refused over a duration."""
        seen, state = self.outcome.stores[store], self.stores[store]
        bought = state.buckets[kind].rate * seconds if kind in state.buckets else 0.0
        if kind == "read":
            seen.read_units += granted * seconds
            seen.refused_read += refused * seconds
            seen.peak_read = max(seen.peak_read, granted)
            seen.capacity_read += bought
        else:
            seen.write_units += granted * seconds
            seen.refused_write += refused * seconds
            seen.peak_write = max(seen.peak_write, granted)
            seen.capacity_write += bought

    def _note(self, store: Store, kind: Kind, grant: Grant, step: LoadStep) -> None:
        self._count(store, kind, grant.granted, grant.refused, step.seconds)
        if grant.fractions is None:
            return
        state, seen, factors = self.stores[store], self.outcome.stores[store], step.factors
        if grant.tightest is not None:
            hot = state.demand.load(grant.tightest, kind, factors) / state.limits[kind]
            if hot > seen.hottest:
                seen.hottest = hot
                seen.hottest_key = state.demand.hottest_key(grant.tightest, kind, factors)
        if grant.refused <= 1e-9:
            return
        tight = [
            (partition, 1 - fraction)
            for partition, fraction in zip(state.partitions, grant.fractions, strict=True)
            if fraction < 1
        ]
        for line in state.demand.lines:
            if line.kind == kind and factors[line.profile]:
                step.take(line.at, self._fraction(state, line, tight))
        self._remember(store, kind, grant, step)

    @staticmethod
    def _fraction(
        state: SimulatedStore, line: TrafficLine, tight: list[tuple[StorePartition, float]]
    ) -> float:
        """The share of a line's calls that is accepted; `tight` are the refusing partitions."""
        rest, refused = state.demand.rest(line), 0.0
        for partition, lost in tight:
            part = rest * partition.width * partition.count
            for key, held in partition.held.items():
                heavy = state.demand.keys[key]
                if heavy.space == line.space:
                    part += state.demand.share(line, heavy.rank) * held
            refused += part * lost
        return max(0.0, 1.0 - refused)

    def _remember(
        self, store: Store, kind: Kind, grant: Grant, step: LoadStep, through: Store | None = None
    ) -> None:
        place, factors = through or store, step.factors
        assert grant.reason is not None
        if (place, kind, grant.reason) in self._seen:
            return
        self._seen.add((place, kind, grant.reason))
        state, key = self.stores[place], ""
        wanted, limit = grant.wanted, grant.granted
        if grant.tightest is not None and grant.reason == "key range":
            key = state.demand.hottest_key(grant.tightest, kind, factors)
            wanted = state.demand.load(grant.tightest, kind, factors)
            limit = state.limits[kind]
        elif kind in state.buckets:
            limit = state.buckets[kind].rate
        space = key.split(" (no. ")[0]
        hot = sorted(
            (
                line
                for line in state.demand.lines
                if line.kind == kind and space in ("", line.space)
            ),
            key=lambda line: -line.units * line.rate * factors[line.profile],
        )
        calls = tuple(dict.fromkeys(line.call for line in hot[:3]))
        self.outcome.firsts.append(
            FirstThrottle(
                step.now, store, kind, grant.reason, key, wanted, limit, state.count, through, calls
            )
        )

    # Calls, streams, transactions

    def _calls(self, step: LoadStep) -> None:
        for at, rate in self._rates.items():
            call, profile = at
            seen = self.outcome.calls[call]
            made = rate * step.factors[profile] * step.seconds
            if not made:
                continue
            seen.calls += made
            fraction = step.taken.get(at, 1.0)
            if fraction >= 1 - 1e-9:
                seen.sends += made
                continue
            answered = refusal(fraction)
            seen.sends += made * answered.sends
            seen.lost += made * (1 - fraction)
            seen.throttled_seconds += step.seconds
            if answered.refused > seen.worst:
                seen.worst, seen.worst_at = answered.refused, step.now

    def _stream(self, table: Store, step: LoadStep, accepted: float) -> None:
        work, factors, taken = self.work.get(table.table), step.factors, step.taken
        if work is None:
            return
        state, queue = self.stores[table], self.queues[table.table]
        records = sum(
            line.rate * line.items * factors[line.profile]
            for line in state.demand.lines
            if line.kind == "write"
        )
        units = state.demand.wanted("write", factors)
        hottest = min(state.bound("write", factors), state.limits["write"])
        arriving = accepted * records * (hottest / units if units else 0.0)
        slowed = min((taken[at] for at in self._streamed & taken.keys()), default=1.0)
        queue.pass_time(step.seconds, arriving, work.rate * slowed)
        seen = self.outcome.queues[table.table]
        seen.records += records * accepted * step.seconds
        seen.lag, seen.lost = queue.longest, queue.lost

    def _contend(self, step: LoadStep) -> None:
        for each in self.model.contentions:
            rate = each.rate * step.factors[each.profile]
            hold = self.assumptions.hold_seconds
            if rate * hold < NEGLIGIBLE:
                continue
            sent, lost = conflicts.attempt_rate(rate, hold, each.attempts)
            share = conflicts.cancelled_share(sent, hold)
            seen = self.outcome.contentions.setdefault(each.call, ContentionOutcome(each.key))
            seen.lost += rate * lost * step.seconds
            if share > seen.cancelled:
                seen.cancelled, seen.rate, seen.at = share, rate, step.now
