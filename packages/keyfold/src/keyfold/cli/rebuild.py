"""`keyfold rebuild`: rebuild structures while the application runs."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from keyfold.cli._output import add_format, print_json
from keyfold.cli._target import add_target, items_of, open_db
from keyfold_engine.commands._progress import progress

HELP = "Rebuild pointers, counters and other structures, online."
EXAMPLES = ('keyfold rebuild app.design:design --backend app.db --only "counter Post.likes"',)
DRIFT = 1


def configure(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="STRUCTURE", help="only this structure"
    )
    add_format(parser)
    parser.add_argument("--rate", type=float, metavar="N", help="at most N fixes a second")


def run(args: argparse.Namespace) -> int:
    from keyfold.maintain import rebuild
    from keyfold.streams import Consumer, resume

    with open_db(args) as db:
        resumed = db.run(resume(db.context))
        if resumed:
            says = f"{resumed} shards had lost records; their consumers continue from now"
            print(says, file=sys.stderr)
        with progress("rebuild", "items", partial(items_of, db)) as show:
            report = rebuild(
                db,
                args.only,
                settle=Consumer(db).catch_up,
                per_second=args.rate,
                progress=show,
            )
    if args.format == "json":
        print_json(report.as_data())
        return 0 if report.clean else DRIFT
    for drift in report.drifts:
        print(drift)
    print(report)
    return 0 if report.clean else DRIFT
