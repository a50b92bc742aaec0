"""The figures of a run."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.prices import SECONDS_A_MONTH
from keyfold_engine.limits import GB
from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.load.design_load import DesignLoad
from keyfold_workbench.simulate.load.schedule import DAY
from keyfold_workbench.simulate.outcome import RunOutcome
from keyfold_workbench.simulate.run import Run
from keyfold_workbench.simulate.traffic import Provisioned

TABLE_QUOTA = 40_000.0
"""Units per second of one table or index, unless AWS has raised the account's quota (DG)."""


@dataclass(frozen=True)
class Copying:
    """The lag of something maintained by the stream."""

    what: str
    usual: float
    worst: float
    """Seconds."""
    lost: float = 0.0


@dataclass(frozen=True)
class MonthCost:
    """Dollars per month, as far as the run covers."""

    reads: float
    writes: float
    storage: float
    beside: float

    @property
    def total(self) -> float:
        return self.reads + self.writes + self.storage + self.beside


@dataclass(frozen=True)
class QuotaNeed:
    """A quota increase to request from AWS."""

    store: Store
    kind: str
    units: float


@dataclass(frozen=True)
class Prediction:
    """The behaviour of a design under a load."""

    load: DesignLoad
    outcome: RunOutcome
    assumptions: Assumptions
    copying: tuple[Copying, ...]
    cost: MonthCost
    quotas: tuple[QuotaNeed, ...]

    @property
    def users(self) -> float:
        return self.load.model.users


def predict(load: DesignLoad, days: float = 30.0) -> Prediction:
    """Run a design under its load."""
    taken = Assumptions()
    outcome = Run(load.model, load.schedule, taken).go(days * DAY)
    return prediction_of(load, outcome, taken)


def prediction_of(load: DesignLoad, outcome: RunOutcome, taken: Assumptions) -> Prediction:
    """The figures of a finished run."""
    return Prediction(
        load,
        outcome,
        taken,
        tuple(_copying(outcome, taken)),
        _cost(load, outcome),
        tuple(
            QuotaNeed(store, kind, units)
            for store, seen in outcome.stores.items()
            for kind, units in (("read", seen.peak_read), ("write", seen.peak_write))
            if units > TABLE_QUOTA
        ),
    )


def _copying(outcome: RunOutcome, taken: Assumptions) -> list[Copying]:
    found = []
    usual, slow = taken.index_ms
    for store, seen in outcome.stores.items():
        if store.index is not None:
            drained = max(seen.peak_write, 1.0)
            waited = seen.buffered / drained
            found.append(Copying(f"index {store}", usual / 1000, slow / 1000 + waited))
    for table, queue in outcome.queues.items():
        base = taken.stream_ms / 1000
        found.append(Copying(f"stream of {table}", base, base + queue.lag, queue.lost))
    return found


def _cost(load: DesignLoad, outcome: RunOutcome) -> MonthCost:
    prices, months = load.bill.prices, outcome.seconds / SECONDS_A_MONTH
    reads = writes = storage = 0.0
    modes = {spec.store: spec.mode for spec in load.model.stores}
    for store, seen in outcome.stores.items():
        if isinstance(modes[store], Provisioned):
            reads += seen.capacity_read / 3600 * prices.read_hour
            writes += seen.capacity_write / 3600 * prices.write_hour
        else:
            reads += seen.read_units / 1e6 * prices.read
            writes += seen.write_units / 1e6 * prices.write
        storage += seen.bytes / GB * prices.storage
    return MonthCost(reads / months, writes / months, storage, load.bill.upkeep_dollars)
