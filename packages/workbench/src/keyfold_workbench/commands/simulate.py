"""`keyfold simulate`: what a design does under load."""

from __future__ import annotations

import argparse

from keyfold.errors import KeyfoldError
from keyfold_workbench.commands._report import add_report, write_report
from keyfold_workbench.commands._workload import add_workload, load_workload

HELP = "Simulate a design under load: what throttles first, how far copies lag."
EXAMPLES = ("keyfold simulate design.yaml --workload workload.yaml",)
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
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from keyfold_workbench.simulate.answer.prediction import predict
    from keyfold_workbench.simulate.answer.report import as_json, document
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
    answer = predict(made, args.days)
    return write_report(document(answer), as_json(answer), args)
