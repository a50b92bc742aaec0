"""`keyfold repair`: show what would put drift right, and do it."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold.cli._progress import counting, end_of_line
from keyfold.cli._target import add_target, open_db

if TYPE_CHECKING:
    from keyfold.maintain import Drift

HELP = "Repair drift: shows the plan, and writes only with --apply."
LEFT = 1


def configure(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="STRUCTURE", help="only this structure"
    )
    parser.add_argument(
        "--apply", action="store_true", help="apply the plan; without it nothing changes"
    )
    parser.add_argument(
        "--quarantine",
        type=Path,
        metavar="DIRECTORY",
        help="put items that cannot be read into files there, for `keyfold load`, and delete them",
    )
    parser.add_argument("--rate", type=float, metavar="N", help="at most N fixes a second")


def run(args: argparse.Namespace) -> int:
    from keyfold.errors import KeyfoldError
    from keyfold.maintain import plan, repair, verify
    from keyfold.streams import Consumer

    if args.rate is not None and args.rate <= 0:
        raise KeyfoldError(f"--rate must be greater than 0, not {args.rate:g}")
    with open_db(args) as db:
        # A stream structure may seem wrong while records are waiting.
        settle = Consumer(db).catch_up
        report = verify(db, only=args.only, progress=counting("items"), settle=settle)
        end_of_line()
        if not args.apply:
            for drift in report.drifts:
                print(f"{drift}\n  {plan(drift)}")
            print(report if report.clean else f"{report}; nothing was changed, see --apply")
            return 0 if report.clean else LEFT
        put_away = partial(_append_item, args.quarantine) if args.quarantine else None
        done = repair(db, report, per_second=args.rate, on_fix=_show, quarantine=put_away)
    right = f", {done.right} already correct" if done.right else ""
    print(f"{done.fixed} fixed{right}, {len(done.left)} left")
    return LEFT if done.left or report.truncated else 0


def _append_item(directory: Path, table: str, item: dict[str, Any]) -> None:
    """Append an item to its table's file and sync it."""
    import orjson

    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{table}.json").open("ab") as file:
        file.write(orjson.dumps({"Item": item}) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _show(drift: Drift, outcome: str) -> None:
    print(f"{drift}\n  {outcome}")
