"""Where a command writes its report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keyfold.review.docs.blocks import Document

FORMATS = ("text", "json", "markdown")


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the flags for a report's format and file."""
    parser.add_argument("--format", choices=FORMATS, default="text", help="output format")
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        metavar="FILE",
        help="write to this file, not to the terminal",
    )


def write_report(document: Document, data: dict[str, Any], args: argparse.Namespace) -> int:
    """Print a report, or write it to a file."""
    from keyfold_workbench.cost import render_report

    text = render_report(document, data, args.format)
    if args.output is None:
        print(text, end="")
        return 0
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
