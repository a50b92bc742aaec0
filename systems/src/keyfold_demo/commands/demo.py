"""`keyfold demo`: everything, running, in one command."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

HELP = "Run whole systems on one data file: REST, GraphQL, and a DynamoDB endpoint."
EXAMPLES = ("keyfold demo",)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--data",
        type=Path,
        default=Path(".keyfold", "demo.db"),
        metavar="FILE",
        help="data file; filled on the first run (default: %(default)s)",
    )
    add("--port", type=int, default=8080, help="port of the pages (default: %(default)s)")
    add(
        "--dynamodb-port",
        type=int,
        default=8000,
        metavar="PORT",
        help="port of the DynamoDB endpoint (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    from keyfold_demo import DemoOptions, run_demo

    run_demo(DemoOptions(args.data, args.port, args.dynamodb_port), partial(print, flush=True))
    return 0
