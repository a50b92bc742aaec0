"""`keyfold bench`: keyfold beside its peers, on this machine."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from keyfold.errors import KeyfoldError

HELP = "Benchmark keyfold against its peers, in a clone of its repository."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("case", nargs="*", help="cases to run; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--full", action="store_true", help="also large sizes")
    parser.add_argument("--no-write", action="store_true", help="print only")
    parser.add_argument(
        "--server",
        action="append",
        default=[],
        metavar="NAME=http://HOST:PORT",
        help="also compare with this running server",
    )


def run(args: argparse.Namespace) -> int:
    if not Path("bench", "__main__.py").exists():
        raise KeyfoldError("no benchmarks here; run this in a clone of keyfold's repository")
    flags = [
        f"--{name.replace('_', '-')}" for name in ("quick", "full", "no_write") if vars(args)[name]
    ]
    servers = [f"--server={server}" for server in args.server]
    return subprocess.run(
        [sys.executable, "-m", "bench", *args.case, *flags, *servers], check=False
    ).returncode
