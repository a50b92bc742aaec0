"""`keyfold verify`: recompute every secondary structure and report what differs."""

from __future__ import annotations

import argparse
from functools import partial

from keyfold.cli._output import add_format, print_json
from keyfold.cli._target import add_target, items_of, open_db
from keyfold_engine.commands._progress import progress

HELP = "Recompute pointers, counters, edges, unique values, feeds and index keys; report drift."
EXAMPLES = (
    "keyfold verify app.design:design --backend app.db",
    "keyfold verify design.yaml --backend dynamodb://eu-west-1 --format json",
)
DRIFT = 1


def configure(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="STRUCTURE",
        help="only this one, as 'pointer HangoutPointer', 'counter Post.likes' or 'index'",
    )
    add_format(parser)
    parser.add_argument("--drain", action="store_true", help="first process the streams up to now")
    parser.add_argument(
        "--limit",
        type=int,
        default=10_000,
        help="maximum number of drifts to show (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    from keyfold.maintain import verify
    from keyfold.streams import Consumer

    with open_db(args) as db, progress("verify", "items", partial(items_of, db)) as show:
        report = verify(
            db,
            only=args.only,
            limit=args.limit,
            progress=show,
            settle=Consumer(db).catch_up if args.drain else None,
        )
    if args.format == "json":
        print_json(report.as_data())
        return 0 if report.clean else DRIFT
    for drift in report.drifts:
        print(drift)
    for table, key in report.strangers:
        named = ", ".join(f"{n}={next(iter(v.values()))}" for n, v in key.items())
        print(f"no entity declares {table} {named}")
    for (entity, attribute), count in sorted(report.foreign.items()):
        items = "1 item has" if count == 1 else f"{count} items have"
        print(f"{entity} does not declare {attribute}, which {items}; updates keep it")
    for entity, count in sorted(report.elsewhere.items()):
        items = "1 item" if count == 1 else f"{count} items"
        print(
            f"{items} of type {entity} have another key than {entity} declares: copies of a "
            "migration, until its contract. Nothing reads or repairs them"
        )
    print(report)
    return 0 if report.clean else DRIFT
