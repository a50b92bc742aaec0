"""The removed list of gg_core at 10^8 users, by replicas; `python -m bench.removed_list` prints it.

Once as it usually is, and once as long as it gets while a consumer is hours behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import keyfold_systems
from keyfold.design.schema import Schema
from keyfold.design.target import load_schema
from keyfold_workbench import cost
from keyfold_workbench.cost.workload import Workload
from keyfold_workbench.simulate.answer.prediction import Prediction, predict
from keyfold_workbench.simulate.load.design_load import design_load
from keyfold_workbench.simulate.load.users import scale_users

USERS = 1e8
REPLICAS = (4, 16, 48, 80)
BEHIND = 40_000
"""Removals that nobody has carried out: two a second, for five hours."""
DAYS = 3.0


@dataclass(frozen=True)
class Shape:
    """What a number of replicas does."""

    replicas: int
    entries: float
    """Of the list, in each replica."""
    hottest: float
    """Units a second that one replica is asked for, in the busiest hour."""
    failed: float
    """The share of pages."""
    units: float
    """Read units of a page."""
    first: str
    """The key that throttles first."""


def shapes() -> Iterator[Shape]:
    path = Path(keyfold_systems.__file__).parent / "gg_core" / "workload.yaml"
    design = load_schema("keyfold_systems.gg_core.design:design")
    for behind in (False, True):
        for replicas in REPLICAS:
            schema = _with_replicas(design, replicas)
            workload = scale_users(schema, cost.load(path, schema), USERS)
            workload = replace(workload, arrival=replace(workload.arrival, bursts=()))
            if behind:
                workload = _with_entries(workload, BEHIND * replicas)
            yield _shape(replicas, predict(design_load(schema, workload), DAYS))


def _with_replicas(schema: Schema, replicas: int) -> Schema:
    feeds = tuple(replace(feed, replicas=replicas) for feed in schema.feeds)
    return replace(schema, feeds=feeds)


def _with_entries(workload: Workload, items: float) -> Workload:
    listed = replace(workload.entities["HomeRemoved"], items=items)
    return replace(workload, entities={**workload.entities, "HomeRemoved": listed})


def _shape(replicas: int, answer: Prediction) -> Shape:
    model, peaks = answer.load.model, answer.load.schedule.highest()
    hottest = sum(
        line.units * line.rate * peaks[line.profile] / replicas
        for line in model.lines
        if "_REMOVED#" in line.space and line.kind == "read"
    )
    [feed] = answer.load.bill.feeds
    listed = answer.load.workload.entities["HomeRemoved"].items or 0.0
    outcome = answer.outcome
    first = outcome.first.key if outcome.first else "none"
    lost = outcome.calls["feed home"].lost_share
    return Shape(replicas, listed / replicas, hottest, lost, feed.page.units, first)


def main() -> None:
    for one in shapes():
        print(
            f"| {one.replicas} | {one.entries:,.0f} | {one.units:.1f} | {one.hottest:,.0f} | "
            f"{one.failed:.0%} | {one.first} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
