"""`keyfold cost`: what a design costs under a workload."""

from __future__ import annotations

import argparse

from keyfold_workbench.commands._report import add_report, write_report
from keyfold_workbench.commands._workload import add_workload, load_workload

HELP = "Show what a design costs under a workload, by pattern, write, table and index."
EXAMPLES = ("keyfold cost design.yaml --workload workload.yaml --format json",)


def configure(parser: argparse.ArgumentParser) -> None:
    add_workload(parser)
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from keyfold_workbench.cost import bill, report
    from keyfold_workbench.cost.bill_json import as_json

    made = bill(*load_workload(args))
    return write_report(report.document(made), as_json(made), args)
