"""Where a command writes its design file or report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from keyfold.errors import KeyfoldError

if TYPE_CHECKING:
    from keyfold.review.docs.blocks import Document

FORMATS = ("text", "json", "html", "markdown")


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="where to write the design file"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def design_files() -> ModuleType:
    """The module for design files; says which extra is missing."""
    try:
        from keyfold.design import file
    except ModuleNotFoundError as missing:
        raise KeyfoldError(
            f"design files need {missing.name}; install it with: pip install 'keyfold[review]'"
        ) from None
    return file


def write_output(text: str, args: argparse.Namespace) -> int:
    """Write to the requested file, or to the terminal."""
    if args.output is None:
        print(text, end="")
        return 0
    if args.output.exists() and not args.force:
        raise KeyfoldError(f"{args.output} already exists; choose another file, or use --force")
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0


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
    """Print a report, or write it with its attached files."""
    from keyfold.review.cost import files, render_report

    if args.output is None:
        print(render_report(document, data, args.format), end="")
        return 0
    for path, text in files(document, data, args.format, args.output).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
