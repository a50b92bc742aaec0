"""Failures on top of the load: each scenario runs on the same days."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from keyfold.errors import KeyfoldError
from keyfold.settings import nearest
from keyfold_workbench.simulate.disturbance import Disturbance
from keyfold_workbench.simulate.load.design_load import OWN, DesignLoad
from keyfold_workbench.simulate.load.schedule import DAY, Burst, Schedule
from keyfold_workbench.simulate.run import Run
from keyfold_workbench.simulate.traffic import KeySpace, Kind, ScaleModel, TrafficLine

STARTS = DAY + 20 * 3600 + 300
"""During the busiest minutes of the second day."""
RATE = 1_000.0
"""Default rate of a backfill or migration, in items per second."""


@dataclass
class PartitionsDown(Disturbance):
    """Lost leaders: their partitions accept no writes until new ones are elected."""

    share: float = 0.0
    """The share of all partitions; 0 means the hottest one of each table."""

    def begin(self, run: Run, now: float) -> None:
        factors = run.schedule.factors(now)
        for state in run.stores.values():
            ranked = sorted(state.partitions, key=lambda p: -state.demand.load(p, "write", factors))
            count = max(1, round(self.share * len(ranked)))
            for partition in ranked[:count]:
                state.down[id(partition)] = now + run.assumptions.leader_seconds


@dataclass
class ConsumersStopped(Disturbance):
    """No consumer reads the streams."""

    stops_consumers = True


@dataclass
class EndpointAway(Disturbance):
    """No new connection reaches the backend."""

    is_away = True


@dataclass
class RetryStorm(Disturbance):
    """Every call is sent several times, as after a deployment that treats all answers as
    failures.
    """

    times: float = 4.0

    def during(self, factors: dict[str, float]) -> None:
        for profile in factors:
            factors[profile] *= self.times


Staged = tuple[ScaleModel, Schedule, tuple[Disturbance, ...]]


@dataclass(frozen=True)
class ChaosScenario:
    """One failure."""

    name: str
    about: str
    stage: Callable[[DesignLoad, float], Staged]


def _plain(disturbance: Callable[[], Disturbance]) -> Callable[[DesignLoad, float], Staged]:
    return lambda load, _: (load.model, load.schedule, (disturbance(),))


def _background_job(
    name: str, reads: float, writes: float
) -> Callable[[DesignLoad, float], Staged]:
    """A job beside the traffic that writes every item, and so every index entry, once."""

    def stage(load: DesignLoad, rate: float) -> Staged:
        profile = f"chaos: {name}"
        lines, stores = list(load.model.lines), []
        for spec in load.model.stores:
            works: list[tuple[Kind, float]] = [("write", writes)]
            if spec.store.index is None:
                works.append(("read", reads))
            lines += [
                TrafficLine(name, spec.store, kind, units, rate, OWN, profile)
                for kind, units in works
                if units
            ]
            spaces = spec.spaces
            if all(space.template != OWN for space in spaces):
                spaces = (*spaces, KeySpace(OWN, (), 1e6))
            stores.append(replace(spec, spaces=spaces))
        model = replace(load.model, lines=tuple(lines), stores=tuple(stores))
        burst = Burst(profile, STARTS, 4 * 3600.0, 1.0)
        schedule = replace(load.schedule, bursts=(*load.schedule.bursts, burst))
        return model, schedule, ()

    return stage


SCENARIOS: dict[str, ChaosScenario] = {
    each.name: each
    for each in (
        ChaosScenario(
            "partition-down",
            "The leader of each table's hottest partition is lost in its busiest minutes.",
            _plain(lambda: PartitionsDown(STARTS, 2.0)),
        ),
        ChaosScenario(
            "zone-away",
            "An availability zone is lost: a third of all partitions elect new leaders.",
            _plain(lambda: PartitionsDown(STARTS, 2.0, share=1 / 3)),
        ),
        ChaosScenario(
            "consumers-stopped",
            "No consumer reads the streams for an hour.",
            _plain(lambda: ConsumersStopped(STARTS, 3600.0)),
        ),
        ChaosScenario(
            "endpoint-away",
            "No new connection reaches the Region's endpoint for two and a half hours.",
            _plain(lambda: EndpointAway(STARTS, 2.5 * 3600)),
        ),
        ChaosScenario(
            "retry-storm",
            "A deploy sends every call four times, for ten minutes.",
            _plain(lambda: RetryStorm(STARTS, 600.0)),
        ),
        ChaosScenario(
            "backfill",
            "A backfill writes items beside the traffic, for four hours.",
            _background_job("backfill", 0.0, 1.0),
        ),
        ChaosScenario(
            "migration",
            "A migration reads, copies and checks items beside the traffic, for four hours.",
            _background_job("migration", 1.0, 2.0),
        ),
    )
}


def scenario(name: str) -> ChaosScenario:
    if name not in SCENARIOS:
        raise KeyfoldError(f"Unknown scenario {name!r}; {nearest(name, SCENARIOS)}")
    return SCENARIOS[name]
