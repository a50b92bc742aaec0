"""`keyfold docs`: write a design's document."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.errors import KeyfoldError

HELP = "Write a design's document, as Markdown or HTML, or its design file."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="?", help="package.module:design or FILE.yaml (default: the set design)")
    add("--output", "-o", type=Path, metavar="FILE", help="a file that ends in .md, .html or .yaml")
    add("--check", action="store_true", help="write nothing; exit with 1 if the file is stale")
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold.review import docs

    target = args.target or settings.from_arguments(args).design
    if not target:
        raise KeyfoldError("name a design: keyfold docs package.module:design, or FILE.yaml")
    schema = load_schema(target)
    output = args.output or Path(f"{schema.name}.md")
    if args.check:
        stale = docs.stale(schema, output)
        for path in stale:
            print(f"{path} is not what the design says; run: keyfold docs {target} -o {output}")
        return 1 if stale else 0
    changed = docs.write(schema, output)
    print(f"{output}: {'written' if changed else 'up to date'}", file=sys.stderr)
    return 0
