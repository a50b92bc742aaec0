"""Where a command writes a design file, and never over another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType

from keyfold.errors import KeyfoldError


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="where to write the design file"
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def design_files() -> ModuleType:
    """The module that reads and writes design files, or what it lacks."""
    try:
        from keyfold.design import file
    except ModuleNotFoundError as missing:
        raise KeyfoldError(
            f"design files need {missing.name}; install it with: pip install 'keyfold[review]'"
        ) from None
    return file


def write_output(text: str, args: argparse.Namespace) -> int:
    """Write to the file that was asked for, or to the terminal."""
    if args.output is None:
        print(text, end="")
        return 0
    if args.output.exists() and not args.force:
        raise KeyfoldError(f"{args.output} is there already; give another file, or --force")
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
