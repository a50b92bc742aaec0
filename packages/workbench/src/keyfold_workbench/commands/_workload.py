"""The design and the workload of a command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._target import add_design, design_target

if TYPE_CHECKING:
    from keyfold.design.schema import Schema
    from keyfold_workbench.cost import Workload


def add_workload(parser: argparse.ArgumentParser) -> None:
    """Add a design and the file of its workload."""
    add_design(parser)
    parser.add_argument(
        "--workload",
        "-w",
        type=Path,
        metavar="FILE",
        help="rates and sizes (default: workload.yaml beside the design)",
    )
    settings.add_flags(parser, "design")


def load_workload(args: argparse.Namespace) -> tuple[Schema, Workload]:
    """The design and its workload; an empty one if no file says it."""
    from keyfold.design.target import load_schema
    from keyfold_workbench.cost import Workload, known_workload

    target = design_target(args)
    schema = load_schema(target)
    return schema, known_workload(target, schema, args.workload) or Workload()
