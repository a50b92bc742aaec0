"""`keyfold new`: a project to begin with, or the Python declaration of a design file."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from keyfold.cli._output import write_output

HELP = "Start a project, or write the Python declaration of a design file."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a design file, FILE.yaml; or a project's folder")
    parser.add_argument("--template", action="store_true", help="start a project in the folder")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="file to write")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(args: argparse.Namespace) -> int:
    if args.template:
        return _start(args.file)
    from keyfold.design.target import load_schema
    from keyfold.review.draft.python import declaration

    text, unserved = declaration(load_schema(str(args.file)))
    for name in unserved:
        print(f"keyfold: left out {name!r}: no key serves it", file=sys.stderr)
    return write_output(text, args)


def _start(folder: Path) -> int:
    from keyfold.project import local_source, start

    for path in start(folder):
        print(path)
    source = local_source()
    keyfold = f" KEYFOLD={shlex.quote(source)}" if source else ""
    print(f"cd {folder} && make run{keyfold}", file=sys.stderr)
    return 0
