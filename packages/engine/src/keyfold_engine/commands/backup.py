"""`keyfold backup`: a true copy of a data file that is in use."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "Back up a data file while it is in use."
EXAMPLES = ("keyfold backup app.db app-backup.db",)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="data file; other processes may read and write it")
    parser.add_argument("to", type=Path, help="backup file; it must not exist")


def run(args: argparse.Namespace) -> int:
    from keyfold_engine.commands._progress import progress
    from keyfold_engine.engine.storage.online_backup import back_up_file

    with progress("backup", "pages") as show:
        back_up_file(args.file, args.to, lambda done, _all: show(done) if show else None)
    print(f"{args.to}: {args.to.stat().st_size:,} bytes")
    return 0
