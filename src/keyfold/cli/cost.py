"""`keyfold cost`: what a design costs under a workload."""

from __future__ import annotations

import argparse
from pathlib import Path

from keyfold import settings
from keyfold.cli._output import add_report, write_report
from keyfold.cli._target import add_design, design_target

HELP = "Show what a design costs under a workload, by pattern, write, table and index."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_design(parser)
    add("--workload", "-w", type=Path, metavar="FILE", help="rates and sizes (YAML)")
    add_report(parser)
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold.review.cost import Workload, bill, load, report
    from keyfold.review.cost.plain import plain

    target = design_target(args)
    schema = load_schema(target)
    workload = load(args.workload, schema) if args.workload else Workload()
    made = bill(schema, workload)
    document, data = report.document(made), plain(made)
    return write_report(document, data, args)
