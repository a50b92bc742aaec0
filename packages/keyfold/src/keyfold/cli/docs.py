"""`keyfold docs`: write a design's document."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.cli._target import add_design, design_target

HELP = "Write a design's document, as Markdown or HTML, or its design file."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_design(parser)
    add("--output", "-o", type=Path, metavar="FILE", help="a file that ends in .md, .html or .yaml")
    add("--check", action="store_true", help="write nothing; exit with 1 if the file is stale")
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold.review import docs

    target = design_target(args)
    schema = load_schema(target)
    output = args.output or Path(f"{schema.name}.md")
    if args.check:
        stale = docs.stale(schema, output)
        for path in stale:
            print(f"{path} is outdated; run: keyfold docs {target} -o {output}")
        return 1 if stale else 0
    changed = docs.write(schema, output)
    print(f"{output}: {'written' if changed else 'up to date'}", file=sys.stderr)
    return 0
