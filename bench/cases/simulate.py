"""How fast the simulation is: a month of gg_core."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import keyfold_systems
from bench.harness import Budget, Case, Outcome
from keyfold.design.target import load_schema
from keyfold_workbench import cost
from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.load.design_load import DesignLoad, design_load
from keyfold_workbench.simulate.load.schedule import DAY
from keyfold_workbench.simulate.load.users import scale_users
from keyfold_workbench.simulate.outcome import RunOutcome
from keyfold_workbench.simulate.run import Run

SYSTEM = "gg_core"
USERS, DAYS = 1e8, 30.0
MOST_SECONDS, MOST_BYTES = 120.0, 2e9


def speed(_: ExitStack, __: Budget) -> Iterator[Outcome]:
    bulk = Outcome("simulate", f"simulate, {SYSTEM} at 10^8 users, {DAYS:g} days in bulk", "")
    load = _load(USERS)
    started = time.perf_counter()
    outcome = Run(load.model, load.schedule, Assumptions()).go(DAYS * DAY)
    taken = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    bulk.goal = "under two minutes and 2 GB"
    bulk.met = taken < MOST_SECONDS and used < MOST_BYTES
    bulk.figures = {**_figures(outcome, taken), "memory": f"{used / 1e6:,.0f} MB"}
    bulk.figures["goal"] = f"{bulk.goal}: {'met' if bulk.met else 'not met'}"
    yield bulk


def _load(users: float) -> DesignLoad:
    schema = load_schema(f"keyfold_systems.{SYSTEM}.design:design")
    path = Path(keyfold_systems.__file__).parent / SYSTEM / "workload.yaml"
    return design_load(schema, scale_users(schema, cost.load(path, schema), users))


def _figures(outcome: RunOutcome, taken: float) -> dict[str, str]:
    requests = sum(call.calls for call in outcome.calls.values())
    return {
        "seconds": f"{taken:.2f}",
        "simulated calls": f"{requests:,.0f}",
        "simulated calls a second": f"{requests / taken:,.0f}",
    }


CASES = [Case("simulate", "The simulation of load", speed)]
