"""`keyfold backup`: a true copy of a data file that is in use."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "Back up a data file while it is in use."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="data file; other processes may read and write it")
    parser.add_argument("to", type=Path, help="backup file; it must not exist")


def run(args: argparse.Namespace) -> int:
    from keyfold_engine.engine.storage.online_backup import back_up_file

    back_up_file(args.file, args.to, _show if sys.stderr.isatty() else lambda _done, _all: None)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"{args.to}: {args.to.stat().st_size:,} bytes")
    return 0


def _show(done: int, all: int) -> None:
    print(f"\r{done:,} of {all:,} pages", end="", file=sys.stderr, flush=True)
