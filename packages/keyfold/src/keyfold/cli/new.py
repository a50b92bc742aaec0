"""`keyfold new`: a project to begin with, or the Python declaration of a design file."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from keyfold.cli._output import write_output
from keyfold.errors import KeyfoldError

HELP = "Start a project, or write the Python declaration of a design file."
EXAMPLES = (
    "keyfold new my-tasks",
    "keyfold new design.yaml -o design.py",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="a new project's folder; or a design: FILE.yaml, module:name"
    )
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="file to write")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(args: argparse.Namespace) -> int:
    if not _names_design(args.name):
        if args.output or args.force:
            raise KeyfoldError(
                f"{args.name} is the folder of a new project, without --output and --force; "
                "to write a declaration, name a design: FILE.yaml or module:name"
            )
        return _start(args.name)
    from keyfold.design.target import load_schema
    from keyfold.review.draft.python import declaration

    text, unserved = declaration(load_schema(args.name))
    for name in unserved:
        print(f"keyfold: left out {name!r}: no key serves it", file=sys.stderr)
    return write_output(text, args)


def _names_design(name: str) -> bool:
    path = Path(name)
    return path.suffix in (".yaml", ".yml", ".json") or ":" in path.name or path.is_file()


def _start(name: str) -> int:
    from keyfold.hooks import pip_arguments
    from keyfold.project import EXTRAS, start

    if not name.strip():
        raise KeyfoldError("name the folder of the new project, as in `keyfold new my-tasks`")
    for path in start(Path(name)):
        print(path)
    # The project's Makefile gives these to its shell as they stand.
    source = " ".join(one.replace(" ", "\\ ") for one in pip_arguments(EXTRAS))
    print(f"cd {shlex.quote(name)} && make run KEYFOLD={shlex.quote(source)}", file=sys.stderr)
    return 0
