"""The actions of `keyfold migrations` and their flags."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from keyfold import settings
from keyfold.cli._output import add_format
from keyfold.cli._target import add_design

REPORTS = ("diff", "status", "check")


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def command(name: str, help: str, *flags: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help, description=help)
        made.add_argument(
            "--folder",
            type=Path,
            default=Path("migrations"),
            metavar="FOLDER",
            help="folder of the snapshot and the plans (default: migrations)",
        )
        settings.add_flags(made, *flags)
        if name in REPORTS:
            add_format(made)
        return made

    naming = ("table_prefix", "table_names")
    add_design(command("snapshot", "Keep the design's schema in the folder.", "design"))
    add_design(
        command(
            "diff",
            "Show what differs between the design, the snapshot and the live tables.",
            "design",
            "backend",
            *naming,
        )
    )
    plan = command(
        "plan", "Write a plan for what changed since the snapshot.", "design", "backend", *naming
    )
    plan.add_argument(
        "name",
        nargs="?",
        type=_plan_name,
        metavar="NAME",
        help="name of the plan, as orders-by-season (default: from the first change)",
    )
    apply = command(
        "apply",
        "Run a plan phase by phase, or all that are not complete, in order.",
        "backend",
        *naming,
    )
    _add_plan(apply, optional=True)
    apply.add_argument(
        "--to",
        default="hold",
        metavar="PHASE",
        help="the last phase to run: expand, follow, backfill, verify, "
        "switch-writes, hold or contract (default: hold)",
    )
    apply.add_argument(
        "--dry-run",
        action="store_true",
        help="show reads, writes and costs; change nothing",
    )
    apply.add_argument(
        "--follow",
        action="store_true",
        help="keep copying while waiting for applications to follow, and afterwards until Ctrl-C",
    )
    apply.add_argument(
        "--segments", type=int, default=4, help="parallel scans (default: %(default)s)"
    )
    apply.add_argument(
        "--rate",
        type=float,
        default=0,
        metavar="N",
        help="at most N items per second (default: no limit)",
    )
    _add_settle(apply)
    apply.add_argument(
        "--without-routers",
        action="store_true",
        help="switch even if no application reports that it follows",
    )
    apply.add_argument(
        "--allow-duplicates",
        action="store_true",
        help="give items a new key within their table, although programs that do not read through "
        "keyfold see them twice until contract",
    )
    apply.add_argument(
        "--no-repair", action="store_true", help="report differences, do not copy again"
    )
    status = command(
        "status",
        "Show where a plan is, or where all are, and when they got there.",
        "backend",
        *naming,
    )
    _add_plan(status, optional=True)
    show = command("show", "Show the steps of a plan in words.")
    _add_plan(show)
    rollback = command("rollback", "Roll a plan back.", "backend", *naming)
    _add_plan(rollback)
    rollback.add_argument(
        "--to",
        choices=("planned", "verify"),
        default="planned",
        metavar="PHASE",
        help="planned: roll back completely; verify: write both sides again, so that following "
        "applications can run until they are replaced (default: planned)",
    )
    _add_settle(rollback)
    rollback.add_argument(
        "--keep",
        choices=("old", "new"),
        help="which side to keep if both were written after the switch",
    )
    add_design(
        command(
            "check",
            "Fail when design, snapshot and live tables differ (for continuous integration).",
            "design",
            "backend",
            *naming,
        )
    )


def _plan_name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", text):
        raise argparse.ArgumentTypeError(
            f"invalid plan name {text!r}: use lowercase letters, digits and dashes, as in "
            "orders-by-season; name a design with --design"
        )
    return text


def _add_settle(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--settle",
        type=float,
        metavar="SECONDS",
        help="seconds without stream records before a switch (default: 2, embedded 0)",
    )


def _add_plan(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "plan",
        metavar="PLAN",
        nargs="?" if optional else None,
        help="a plan of the folder by its name, a file, or module:name of a Migration",
    )
