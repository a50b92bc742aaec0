"""`keyfold workload`: draft a workload file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.cli._target import add_design, design_target
from keyfold.errors import KeyfoldError

HELP = "Draft a workload file with every name of a design and a default number."
EXAMPLES = ("keyfold workload design.yaml -o workload.yaml",)


def configure(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        metavar="FILE",
        help="write to this file, not to the terminal",
    )
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold_workbench.cost.draft import draft

    text = draft(load_schema(design_target(args)))
    if args.output is None:
        print(text, end="")
        return 0
    if args.output.exists():
        raise KeyfoldError(f"{args.output} already exists; choose another file")
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
