"""`keyfold export`: a design's infrastructure."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.cli._target import add_design, design_target

HELP = "Write a design's tables, consumers, alarms and permissions for other tools."
EXAMPLES = ("keyfold export terraform design.yaml -o tables.tf",)
FORMATS = ("cloudformation", "terraform", "cdk", "iam")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("format", choices=FORMATS, help="the target tool")
    add_design(parser)
    add("--output", "-o", type=Path, metavar="FILE", help="write to this file, not to the terminal")
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold_workbench import infra

    target = design_target(args)
    text = infra.FORMATS[args.format](load_schema(target))
    if args.output is None:
        print(text, end="")
        return 0
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
