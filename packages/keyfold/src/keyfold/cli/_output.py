"""Where a command writes its design file or report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold.errors import KeyfoldError


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format (default: text)"
    )


def print_json(value: object) -> None:
    """A report for programs; there is one also where there is nothing to report."""
    import orjson

    from keyfold.design.formats import text_of

    print(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=text_of).decode())


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="where to write the design file"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


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
