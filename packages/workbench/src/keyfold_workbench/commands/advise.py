"""`keyfold advise`: search for a better design."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold.errors import KeyfoldError
from keyfold_workbench.commands._report import add_report, write_report
from keyfold_workbench.commands._workload import add_workload, load_workload

if TYPE_CHECKING:
    from keyfold.design.schema import Schema
    from keyfold_workbench.advise import Advice, Alternative

HELP = "Search for a design that serves the same patterns better."
EXAMPLES = ("keyfold advise design.yaml --workload workload.yaml",)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_workload(parser)
    add("--choose", metavar="NAME", help="report this alternative instead of the best")
    add(
        "--write-design",
        type=Path,
        metavar="FILE",
        help="write the alternative as a design file, or as Python if FILE ends in .py",
    )
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from keyfold_workbench.advise import advise, report

    advice = advise(*load_workload(args))
    chosen = _choose(advice, args.choose)
    document, data = report.document(advice, chosen), report.as_json(advice, chosen)
    if args.write_design is not None:
        _write(chosen.schema, args.write_design)
    return write_report(document, data, args)


def _write(schema: Schema, path: Path) -> None:
    if path.suffix == ".py":
        from keyfold.review.draft.python import declaration

        text, unserved = declaration(schema)
        for name in unserved:
            print(f"keyfold: left out {name!r}: no key serves it", file=sys.stderr)
        for name in (*(feed.name for feed in schema.feeds), *(c.name for c in schema.consumers)):
            print(f"keyfold: left out {name!r}: declare it by hand", file=sys.stderr)
        path.write_text(text, encoding="utf-8")
    else:
        from keyfold.design.yaml_writer import dump

        dump(schema, path)
    print(f"{path}: written", file=sys.stderr)


def _choose(advice: Advice, name: str | None) -> Alternative:
    if name is None:
        return advice.best
    for each in advice.alternatives:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in advice.alternatives)
    raise KeyfoldError(f"unknown alternative {name!r}; use one of {known}")
