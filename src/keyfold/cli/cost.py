"""`keyfold cost`: what a design costs under a workload."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.errors import KeyfoldError

HELP = "Say what a design costs under a workload, by pattern, write, table and index."
FORMATS = ("text", "json", "html", "markdown")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="?", help="package.module:design or FILE.yaml (default: the set design)")
    add("--workload", "-w", type=Path, metavar="FILE", help="rates and sizes (YAML)")
    add("--format", choices=FORMATS, default="text", help="how the report is written")
    add("--output", "-o", type=Path, metavar="FILE", help="write here instead of to the terminal")
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold.review.cost import Workload, bill, files, load, rendered, report
    from keyfold.review.cost.plain import plain

    target = args.target or settings.from_arguments(args).design
    if not target:
        raise KeyfoldError("name a design: keyfold cost package.module:design, or FILE.yaml")
    schema = load_schema(target)
    workload = load(args.workload, schema) if args.workload else Workload()
    made = bill(schema, workload)
    document, data = report.document(made), plain(made)
    if args.output is None:
        print(rendered(document, data, args.format), end="")
        return 0
    for path, text in files(document, data, args.format, args.output).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
