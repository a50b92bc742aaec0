"""`keyfold export`: a design's infrastructure."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.errors import KeyfoldError

HELP = "Write a design's tables, consumers, alarms and permissions for other tools."
FORMATS = ("cloudformation", "terraform", "cdk", "boto3", "iam", "workbench", "electrodb")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("format", choices=FORMATS, help="the tool that is to make them")
    add("target", nargs="?", help="package.module:design or FILE.yaml (default: the set design)")
    add("--output", "-o", type=Path, metavar="FILE", help="write here instead of to the terminal")
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.adopt import exports
    from keyfold.design.target import load_schema
    from keyfold.review import infra

    target = args.target or settings.from_arguments(args).design
    if not target:
        raise KeyfoldError(f"name a design: keyfold export {args.format} package.module:design")
    text = {**infra.FORMATS, **exports.FORMATS}[args.format](load_schema(target))
    if args.output is None:
        print(text, end="")
        return 0
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
