"""`keyfold verify`: recompute every secondary structure and report what differs."""

from __future__ import annotations

import argparse

from keyfold.cli._progress import counting, end_of_line
from keyfold.cli._target import add_target, open_db

HELP = "Recompute pointers, counters, edges, unique values, feeds and index keys; report drift."
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
    parser.add_argument("--json", action="store_true", help="one JSON object per drift")
    parser.add_argument("--drain", action="store_true", help="first process the streams up to now")
    parser.add_argument(
        "--limit",
        type=int,
        default=10_000,
        help="maximum number of drifts to show (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    import orjson

    from keyfold.design.formats import text_of
    from keyfold.maintain import verify
    from keyfold.streams import Consumer

    with open_db(args) as db:
        report = verify(
            db,
            only=args.only,
            limit=args.limit,
            progress=counting("items"),
            settle=Consumer(db).catch_up if args.drain else None,
        )
        end_of_line()
    for drift in report.drifts:
        if args.json:
            shown = {
                "kind": drift.kind,
                "structure": drift.structure,
                "table": drift.table,
                "key": drift.key,
                "expected": drift.expected,
                "found": drift.found,
            }
            print(orjson.dumps(shown, default=text_of).decode())
        else:
            print(drift)
    if not args.json:
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
