"""`keyfold inspect`: draft a design file from a table in use."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.cli._opening import existing
from keyfold.errors import KeyfoldError

HELP = "Sample a table in use and draft its design file."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", help="the table's name")
    add("--sample", type=int, default=1000, metavar="N", help="items to read (default: 1000)")
    add("--output", "-o", type=Path, metavar="FILE", help="where to write the design file")
    settings.add_flags(parser, "backend")


def run(args: argparse.Namespace) -> int:
    from keyfold.clients import connect
    from keyfold.review.draft.table import inspect

    try:
        from keyfold.design.file import dumps
    except ModuleNotFoundError as missing:
        raise KeyfoldError(
            f"design files need {missing.name}; install it with: pip install 'keyfold[review]'"
        ) from None

    if args.sample < 1:
        raise KeyfoldError("--sample must be 1 or more")
    client = connect(existing(settings.from_arguments(args).backend))
    try:
        drafted = dumps(inspect(client, args.table, sample=args.sample))
    finally:
        client.close()
    if args.output is None:
        print(drafted, end="")
        return 0
    if args.output.exists():
        raise KeyfoldError(f"{args.output} is there already; give another file")
    args.output.write_text(drafted, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0
