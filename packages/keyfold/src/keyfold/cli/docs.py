"""`keyfold docs`: write a design's document."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyfold import settings
from keyfold.cli._target import add_design, design_target
from keyfold.cli.check import add_report_flags, finish

HELP = "Write a design's document or its design file; compare a hand-written document with it."
EXAMPLES = ("keyfold docs design.yaml -o DESIGN.html",)
DOCUMENTS = (".md", ".markdown")
LANGUAGES = ("design", "event")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_design(parser)
    add("--output", "-o", type=Path, metavar="FILE", help="a file that ends in .md, .html or .yaml")
    add(
        "--by-table",
        action="store_true",
        help="with a .md file: each table has a file of its own, in a folder beside it",
    )
    add(
        "--check",
        nargs="?",
        const=True,
        metavar="DOCUMENT",
        help="write nothing; exit with 1 if the file is stale, or if this hand-written DOCUMENT.md "
        "differs from the design",
    )
    add(
        "--against",
        metavar="SOURCE",
        help="with --check DOCUMENT.md: compare with a template, or an endpoint's address",
    )
    add_report_flags(parser)
    add(
        "--json-schema",
        choices=LANGUAGES,
        help="print the language of design files or of domain events",
    )
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    if args.json_schema:
        import orjson

        print(orjson.dumps(_language(args), option=orjson.OPT_INDENT_2).decode())
        return 0
    if isinstance(args.check, str) and args.check.endswith(DOCUMENTS):
        return _compare(args)
    from keyfold.design.target import load_schema
    from keyfold.hooks import optional_hook
    from keyfold.review import docs

    args.target = args.target or (args.check if isinstance(args.check, str) else None)
    target = design_target(args)
    schema = load_schema(target)
    output = args.output or Path(f"{schema.name}.md")
    price = optional_hook("price")
    cost = price(target, schema) if price is not None else ""
    made = docs.files(schema, output, cost, by_table=args.by_table)
    if args.check:
        stale = docs.stale(made)
        for path in stale:
            flag = " --by-table" if args.by_table else ""
            print(f"{path} is outdated; run: keyfold docs {target} -o {output}{flag}")
        return 1 if stale else 0
    changed = docs.write(made)
    print(f"{output}: {'written' if changed else 'up to date'}", file=sys.stderr)
    return 0


def _compare(args: argparse.Namespace) -> int:
    """The findings about a hand-written document."""
    from keyfold.hooks import hook
    from keyfold.review.check import config

    compare = hook("compare-document", "--check DOCUMENT", "keyfold-workbench")
    source = args.against or design_target(args)
    report, agreed = compare(Path(args.check), source)
    print(f"{args.check}: {agreed} statements agree with {source}", file=sys.stderr)
    return finish(report, args, config.load())


def _language(args: argparse.Namespace) -> dict[str, object]:
    if args.json_schema == "event":
        from keyfold.streams.event import event_schema

        return event_schema()
    from keyfold.design.json_schema import design_file_schema

    return design_file_schema()
