"""`keyfold simulate`: what a design does under load."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from keyfold_workbench.commands._report import add_report, write_report
from keyfold_workbench.commands._workload import add_workload, load_workload
from keyfold.errors import KeyfoldError

if TYPE_CHECKING:
    from keyfold.review.docs.blocks import Document
    from keyfold_workbench.simulate.answer.prediction import Prediction
    from keyfold_workbench.simulate.chaos import ChaosScenario
    from keyfold_workbench.simulate.outcome import RunOutcome

HELP = "Simulate a design under load: what throttles first, how far copies lag, what helps."
MOST_DAYS = 366.0


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_workload(parser)
    add(
        "--users",
        type=float,
        metavar="N",
        help="scale the workload to N users, like 1e8",
    )
    add("--days", type=float, default=30.0, metavar="N", help="how long (default: 30)")
    add(
        "--provisioned",
        type=float,
        metavar="SHARE",
        help="provisioned capacity, auto scaled to this utilisation (default: on demand)",
    )
    add("--cold", action="store_true", help="start with new tables")
    add("--client", choices=("2026", "legacy"), default="2026", help="how callers retry")
    add(
        "--chaos",
        action="append",
        default=[],
        metavar="NAME",
        help="also simulate this failure; `all` for each",
    )
    add(
        "--rate",
        type=float,
        default=1000.0,
        metavar="N",
        help="items per second of the chaos backfill and migration (default: 1000)",
    )
    add(
        "--sweep",
        action="append",
        default=[],
        metavar="NAME",
        help="vary this assumption; `all` for each",
    )
    add("--no-changes", action="store_true", help="do not search for improvements")
    add("--stories", action="store_true", help="replay published incidents instead")
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    if args.stories:
        from keyfold_workbench.simulate.stories.report import document as stories
        from keyfold_workbench.simulate.stories.report import plain as told

        document, data = stories(), told()
    else:
        document, data = _simulate(args)
    return write_report(document, data, args)


def _simulate(args: argparse.Namespace) -> tuple[Document, dict[str, Any]]:
    from keyfold_workbench.simulate.answer.changes import cure
    from keyfold_workbench.simulate.answer.plain import plain
    from keyfold_workbench.simulate.answer.prediction import predict
    from keyfold_workbench.simulate.answer.report import document
    from keyfold_workbench.simulate.assumptions import Assumptions
    from keyfold_workbench.simulate.load.design_load import Setup, design_load
    from keyfold_workbench.simulate.load.users import scale_users

    if not 0 < args.days <= MOST_DAYS:
        raise KeyfoldError(f"--days must be greater than 0 and at most {MOST_DAYS:g}.")
    if args.users is not None and not 1 <= args.users <= 1e10:
        raise KeyfoldError("--users must be between 1 and 1e10.")
    if args.provisioned is not None and not 0.2 <= args.provisioned <= 0.9:
        raise KeyfoldError("--provisioned must be between 0.2 and 0.9, the range of auto scaling.")
    schema, workload = load_workload(args)
    if args.users is not None:
        workload = scale_users(schema, workload, args.users)
    made = design_load(schema, workload, Setup(args.provisioned, cold=args.cold))
    answer = predict(made, args.days, Assumptions(client=args.client))
    helps = None if args.no_changes else cure(answer)
    wrong, spread = _chaos(answer, args), _spread(answer, args)
    return document(answer, helps, wrong, spread), plain(answer, helps, wrong, spread)


def _chaos(
    answer: Prediction, args: argparse.Namespace
) -> tuple[tuple[ChaosScenario, RunOutcome], ...]:
    from keyfold_workbench.simulate.chaos import SCENARIOS, scenario
    from keyfold_workbench.simulate.load.schedule import DAY
    from keyfold_workbench.simulate.run import Run

    names = list(SCENARIOS) if "all" in args.chaos else args.chaos
    found = []
    for chosen in [scenario(name) for name in names]:
        model, schedule, disturbances = chosen.stage(answer.load, args.rate)
        outcome = Run(model, schedule, answer.assumptions, disturbances).go(3 * DAY)
        found.append((chosen, outcome))
    return tuple(found)


def _spread(answer: Prediction, args: argparse.Namespace) -> tuple[tuple[str, float, float], ...]:
    from keyfold.settings import nearest
    from keyfold_workbench.simulate.assumptions import SWEEPS
    from keyfold_workbench.simulate.load.schedule import DAY
    from keyfold_workbench.simulate.run import Run

    names = list(SWEEPS) if "all" in args.sweep else args.sweep
    found = []
    for name in names:
        if name not in SWEEPS:
            raise KeyfoldError(f"Unknown assumption {name!r}; {nearest(name, SWEEPS)}")
        shares = []
        for value in (getattr(answer.assumptions, name), *SWEEPS[name]):
            changed = answer.assumptions.but(**{name: value})
            run_ = Run(answer.load.model, answer.load.schedule, changed)
            shares.append(run_.go(min(3 * DAY, answer.outcome.seconds)).lost_share)
        found.append((name, min(shares), max(shares)))
    return tuple(found)
