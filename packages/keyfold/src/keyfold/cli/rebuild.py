"""`keyfold rebuild`: rebuild structures while the application runs."""

from __future__ import annotations

import argparse

from keyfold.cli._progress import counting, end_of_line
from keyfold.cli._target import add_target, open_db

HELP = "Rebuild pointers, counters and other structures, online."
DRIFT = 1


def configure(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="STRUCTURE", help="only this structure"
    )
    parser.add_argument("--rate", type=float, metavar="N", help="at most N fixes a second")


def run(args: argparse.Namespace) -> int:
    from keyfold.maintain import rebuild
    from keyfold.streams import Consumer, resume

    with open_db(args) as db:
        resumed = db.run(resume(db.context))
        if resumed:
            print(f"{resumed} shards had lost records; their consumers continue from now")
        report = rebuild(
            db,
            args.only,
            settle=Consumer(db).catch_up,
            per_second=args.rate,
            progress=counting("items"),
        )
        end_of_line()
    for drift in report.drifts:
        print(drift)
    print(report)
    return 0 if report.clean else DRIFT
