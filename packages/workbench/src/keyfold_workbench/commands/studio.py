"""`keyfold studio`: the design, the data and what follows, in the browser."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from keyfold import settings
from keyfold.cli._target import existing, existing_or_empty

HELP = "Browse a design and its data."
EXAMPLES = (
    "keyfold studio",
    "keyfold studio design.yaml --backend app.db",
)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "target",
        nargs="?",
        help="package.module:design, FILE.yaml or DESIGN.md; default: drafted from the data",
    )
    settings.add_flags(parser, "design", "backend", "table_prefix", "table_names")
    add("--table", action="append", default=[], metavar="NAME", help="a table to draft from")
    add(
        "--workload",
        "-w",
        type=Path,
        metavar="FILE",
        help="rates and sizes, for the bill (default: workload.yaml beside the design)",
    )
    add(
        "--migration",
        action="append",
        default=[],
        metavar="PLAN",
        help="a plan of migrations/ by its name, its file, or module:name, to watch and apply",
    )
    add(
        "--write",
        action="store_true",
        help="allow changes on a backend that is not a local file",
    )
    add("--read-only", action="store_true", help="allow no changes")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--no-browser", action="store_true", help="print the address, and open no browser")
    add("--port", type=int, default=8090, help="port (default: %(default)s)")
    add(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="file with the password to sign in; needed to listen beyond this machine",
    )


def run(args: argparse.Namespace) -> int:
    from keyfold_workbench.adopt.sources.detection import DOCUMENTS
    from keyfold_workbench.studio.process import StudioOptions, run_studio

    current = settings.from_arguments(args)
    reads_document = (args.target or current.design).endswith(DOCUMENTS)
    options = StudioOptions(
        target=args.target or current.design,
        backend=(existing_or_empty if reads_document else existing)(current.backend),
        tables=args.table,
        workload=args.workload,
        migrations=args.migration,
        write=args.write,
        read_only=args.read_only,
        host=args.host,
        port=args.port,
        password_file=args.password_file,
        table_prefix=current.table_prefix,
        table_names=current.table_names,
    )
    run_studio(options, partial(print, flush=True), _open if _is_shown(args) else None)
    return 0


def _is_shown(args: argparse.Namespace) -> bool:
    """Whether a browser is wanted: somebody looks on, at this machine."""
    return not args.no_browser and sys.stdout.isatty() and args.host == "127.0.0.1"


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
