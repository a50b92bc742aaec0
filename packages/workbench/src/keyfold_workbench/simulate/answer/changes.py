"""The smallest changes that help, each tried in the simulation before it is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from keyfold_workbench.simulate.answer.prediction import Prediction, prediction_of
from keyfold_workbench.simulate.load.design_load import DesignLoad, Setup, design_load
from keyfold_workbench.simulate.load.schedule import DAY
from keyfold_workbench.simulate.outcome import FirstThrottle
from keyfold_workbench.simulate.run import Run

TRIAL_DAYS = 3.0
"""Bursts come on the first days, so a trial needs no month."""
MOST_ROUNDS = 8
MOST_SHARDS = 100_000
ENOUGH, PARTLY = 0.05, 0.7
"""A change helps, or helps in part, if at most this share of the refusals remains."""


@dataclass(frozen=True)
class TriedCure:
    """A change and its effect."""

    name: str
    place: str
    helps: bool
    lost_before: float
    lost_after: float
    dollars_before: float
    dollars_after: float
    note: str = ""


@dataclass(frozen=True)
class Cure:
    """Changes tried in order; those that help are kept for the next."""

    tried: tuple[TriedCure, ...]
    after: Prediction

    @property
    def helping(self) -> tuple[TriedCure, ...]:
        return tuple(change for change in self.tried if change.helps)


def cure(start: Prediction) -> Cure:
    """Find the smallest changes until nothing is refused or nothing helps."""
    tried: list[TriedCure] = []
    current = _trial(start, start.load.setup)
    given_up: set[tuple[str, str]] = set()
    for _ in range(MOST_ROUNDS):
        problem = _worst(current, given_up)
        if problem is None:
            break
        place = f"{problem.place} {problem.kind}"
        for name, setup, note in _candidates(current, problem):
            if (name, place) in {(each.name, each.place) for each in tried}:
                continue
            after = _trial(start, setup)
            before_refused, left = _refused_units(current, problem), _refused_units(after, problem)
            helps = left <= PARTLY * before_refused
            tried.append(
                TriedCure(
                    name,
                    place,
                    helps,
                    current.outcome.lost_share,
                    after.outcome.lost_share,
                    current.cost.total,
                    after.cost.total,
                    note,
                )
            )
            if helps:
                current = after
                if left > ENOUGH * before_refused:
                    tried[-1] = replace(tried[-1], note=f"helps in part; {note}".rstrip("; "))
                break
        else:
            given_up.add((str(problem.place), problem.kind))
    _try_streamed_counters(start, current, tried)
    return Cure(tuple(tried), current)


def _try_streamed_counters(start: Prediction, current: Prediction, tried: list[TriedCure]) -> None:
    """Try stream counters in place of counters whose transactions conflict on one item."""
    hot = [call for call, seen in current.outcome.contentions.items() if seen.cancelled > 0.05]
    if not hot:
        return
    setup = replace(current.load.setup, streamed=current.load.setup.streamed | frozenset(hot))
    after = _trial(start, setup)
    worst = max(current.outcome.contentions[call].cancelled for call in hot)
    left = max((seen.cancelled for seen in after.outcome.contentions.values()), default=0.0)
    tried.append(
        TriedCure(
            f"let the stream count for {', '.join(hot)}",
            "transactions on one item",
            left < worst / 2,
            worst,
            left,
            current.cost.total,
            after.cost.total,
            "shares are of cancelled transactions",
        )
    )


def _trial(start: Prediction, setup: Setup) -> Prediction:
    load: DesignLoad = design_load(start.load.schema, start.load.workload, setup)
    days = min(TRIAL_DAYS, start.outcome.seconds / DAY)
    outcome = Run(load.model, load.schedule, start.assumptions).go(days * DAY)
    return prediction_of(load, outcome, start.assumptions)


def _worst(prediction: Prediction, given_up: set[tuple[str, str]]) -> FirstThrottle | None:
    open_ = [
        first
        for first in prediction.outcome.firsts
        if (str(first.place), first.kind) not in given_up and _refused_units(prediction, first) > 0
    ]
    return min(open_, key=lambda first: (first.at, -first.wanted), default=None)


def _refused_units(prediction: Prediction, problem: FirstThrottle) -> float:
    seen = prediction.outcome.stores[problem.place]
    return seen.refused_read if problem.kind == "read" else seen.refused_write


def _candidates(prediction: Prediction, problem: FirstThrottle) -> Iterator[tuple[str, Setup, str]]:
    """From least to most intrusive: AWS settings first, then the design."""
    setup = prediction.load.setup
    if problem.reason == "provisioned":
        yield "on-demand instead of provisioned", replace(setup, provisioned=None), ""
    if not setup.warm:
        yield (
            "warm throughput for the peaks",
            replace(setup, warm=True),
            "charged once, for the raise",
        )
    if prediction.load.schedule.bursts and setup.spread == 1.0:
        yield "spread bursts over four times as long", replace(setup, spread=4.0), ""
    space = problem.key.split(" (no. ")[0]
    if not space:
        return
    asked = _units(prediction, problem, space)
    if problem.kind == "read" and asked > 1.5 and space not in setup.short:
        yield (
            f"read one unit of `{space}` instead of {asked:,.0f}",
            replace(setup, short=setup.short | {space}),
            "keep the list short, or its entries small",
        )
    seen = prediction.outcome.stores[problem.place]
    hottest = seen.hottest if seen.hottest_key.startswith(space) else 0.0
    least = max(2, ceil(max(problem.wanted / problem.limit, hottest) / 0.8))
    for factor in (1, 2, 4):
        count = least * factor
        if count > MOST_SHARDS:
            return
        if problem.kind == "write":
            known = {**setup.shards, space: count * setup.shards.get(space, 1)}
            yield (
                f"{count:,} shards of `{space}`",
                replace(setup, shards=known),
                f"a list queries {count:,} keys, and has no order across them",
            )
        else:
            known = {**setup.copies, space: count * setup.copies.get(space, 1)}
            yield (
                f"{count:,} copies of `{space}`, read in turn",
                replace(setup, copies=known),
                "each write goes to all of them; a cache in front does the same",
            )


def _units(prediction: Prediction, problem: FirstThrottle, space: str) -> float:
    """Read units of the largest read of these keys."""
    return max(
        (
            line.units
            for line in prediction.load.model.lines
            if line.store == problem.place and line.kind == "read" and line.space == space
        ),
        default=0.0,
    )
