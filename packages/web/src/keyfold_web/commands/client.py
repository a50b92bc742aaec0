"""`keyfold client`: a typed Python client of a service."""

from __future__ import annotations

import argparse
from pathlib import Path

from keyfold.errors import KeyfoldError

HELP = "Write a typed Python client of a service."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", help="a service: its module, or module:Class")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write there (default: standard output)"
    )
    parser.add_argument("--sync", action="store_true", help="without async and await")


def run(args: argparse.Namespace) -> int:
    from keyfold_web.client import client_source
    from keyfold_web.target import load_service

    source = client_source(load_service(args.target), asynchronous=not args.sync)
    if args.output is None:
        print(source, end="")
        return 0
    try:
        args.output.write_text(source, "utf-8")
    except OSError as error:
        raise KeyfoldError(f"{args.output} cannot be written: {error.strerror}") from None
    return 0
