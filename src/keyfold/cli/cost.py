"""`keyfold cost`: what a design costs under a workload."""

from __future__ import annotations

import argparse

from keyfold.cli._output import add_report, write_report
from keyfold.cli._target import add_workload, load_workload

HELP = "Show what a design costs under a workload, by pattern, write, table and index."


def configure(parser: argparse.ArgumentParser) -> None:
    add_workload(parser)
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from keyfold.review.cost import bill, report
    from keyfold.review.cost.plain import plain

    made = bill(*load_workload(args))
    return write_report(report.document(made), plain(made), args)
