"""`keyfold repair`: show what would put drift right, and do it."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold.cli._output import add_format, print_json
from keyfold.cli._target import add_target, items_of, open_db
from keyfold_engine.commands._progress import progress

if TYPE_CHECKING:
    from keyfold.maintain import Drift

HELP = "Repair drift: shows the plan, and writes only with --apply."
EXAMPLES = (
    "keyfold repair app.design:design --backend app.db",
    "keyfold repair app.design:design --backend app.db --apply",
)
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
    add_format(parser)
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
        with progress("repair", "items", partial(items_of, db)) as show:
            report = verify(db, only=args.only, progress=show, settle=settle)
        as_json = args.format == "json"
        if not args.apply and as_json:
            plans = [{**one.as_data(), "repair": str(plan(one))} for one in report.drifts]
            print_json({**report.as_data(), "drifts": plans})
            return 0 if report.clean else LEFT
        if not args.apply:
            for drift in report.drifts:
                print(f"{drift}\n  {plan(drift)}")
            print(report if report.clean else f"{report}; nothing was changed, see --apply")
            return 0 if report.clean else LEFT
        put_away = partial(_append_item, args.quarantine) if args.quarantine else None
        on_fix = _ignore if as_json else _show
        done = repair(db, report, per_second=args.rate, on_fix=on_fix, quarantine=put_away)
    if as_json:
        left = [{**drift.as_data(), "why": why} for drift, why in done.left]
        print_json({"fixed": done.fixed, "already_correct": done.right, "left": left})
        return LEFT if done.left or report.truncated else 0
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


def _ignore(_drift: Drift, _outcome: str) -> None:
    """The summary says it."""


def _show(drift: Drift, outcome: str) -> None:
    print(f"{drift}\n  {outcome}")
