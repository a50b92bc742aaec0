"""`keyfold adopt`: a design against the items of a live table."""

from __future__ import annotations

import argparse

from keyfold import settings
from keyfold.cli._target import add_design, design_target, existing
from keyfold.errors import KeyfoldError

HELP = "Check a design against the items of its live tables, before keyfold writes to them."
EXAMPLES = ("keyfold adopt app.design:design --backend dynamodb://eu-west-1",)
FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_design(parser)
    add("--sample", type=int, metavar="N", help="number of items to read (default: all)")
    add(
        "--units",
        type=float,
        metavar="N",
        help="stop a sample after about N read units",
    )
    add("--at-least", type=float, default=0.0, metavar="PERCENT", help="exit with 1 below this")
    add("--format", choices=FORMATS, default="text", help="output format")
    settings.add_flags(parser, "design", "backend", "table_prefix", "table_names")


def run(args: argparse.Namespace) -> int:
    from keyfold.review.draft.declarations import design_of
    from keyfold_engine.clients import connect
    from keyfold_engine.commands._progress import progress
    from keyfold_workbench.adopt.coverage import as_data, cover, summary
    from keyfold_workbench.adopt.item_sample import Sample, every, read

    current = settings.from_arguments(args)
    target = design_target(args)
    if args.sample is not None and args.sample < 1:
        raise KeyfoldError("--sample must be at least 1")
    if args.units is not None and args.sample is None:
        raise KeyfoldError("--units needs --sample")
    design = design_of(target)
    client = connect(existing(current.backend))
    found = []
    try:
        for table in design.tables.values():
            name = table.schema.physical_name(current.table_prefix, current.table_names)
            with progress(f"adopt {name}", "items", args.sample or 0) as show:
                if args.sample is None:
                    items = every(client, name, progress=show)
                else:
                    sample = Sample(name)
                    items = iter(read(client, sample, args.sample, units=args.units).items)
                found.append(cover(design, table, items, name=name))
    finally:
        client.close()
    if args.format == "json":
        import orjson

        told = [as_data(each) for each in found]
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    else:
        print("\n".join(summary(each) for each in found))
    return 1 if any(100 * each.share < args.at_least for each in found) else 0
