"""`keyfold sample`: believable items of a design, for tests, demos and benchmarks."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._target import add_design, design_target, reachable
from keyfold.errors import AlreadyExists, KeyfoldError

if TYPE_CHECKING:
    from keyfold.design.design import Declarations
    from keyfold.settings import Settings

HELP = "Generate realistic, consistent items for a design."
EXAMPLES = ("keyfold sample design.yaml --items 500 --backend app.db",)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_design(parser)
    add(
        "--items",
        type=int,
        default=1000,
        metavar="N",
        help="approximate number of items (default: 1000)",
    )
    add(
        "--count",
        action="append",
        default=[],
        metavar="ENTITY=N",
        help="number of items of one entity",
    )
    add("--seed", type=int, default=0, metavar="N", help="the same seed generates the same items")
    add(
        "--output",
        "-o",
        type=Path,
        metavar="FILE",
        help="write to this file, a line of DynamoDB's JSON per item",
    )
    settings.add_flags(parser, "design", "backend", "table_prefix", "table_names")


def run(args: argparse.Namespace) -> int:
    import orjson

    from keyfold.design.target import FILES, load_schema
    from keyfold.review.draft.declarations import design_of
    from keyfold.rows.item_writer import store
    from keyfold_engine.commands._progress import progress
    from keyfold_workbench.adopt.made_items import ItemMaker

    current = settings.from_arguments(args)
    target = design_target(args)
    if args.items < 1:
        raise KeyfoldError("--items must be at least 1")
    counts = dict(_parse_count(each) for each in args.count)
    design = design_of(target)
    schema = load_schema(target) if target.endswith(FILES) else None
    items = ItemMaker(design, args.seed, schema).make(args.items, counts)
    if args.output is not None:
        if args.output.exists():
            raise KeyfoldError(f"{args.output} already exists; choose another file")
        count = 0
        with args.output.open("wb") as lines:
            for entity in items:
                wire = type(entity).__spec__.encode(entity)
                lines.write(orjson.dumps({"Item": wire}) + b"\n")
                count += 1
        print(f"{args.output}: {count:,} items", file=sys.stderr)
        return 0
    reachable(current.backend)
    with progress("sample", "items", max(args.items, sum(counts.values()))) as show:
        try:
            count = store(design, items, current, progress=show)
        except AlreadyExists:
            raise KeyfoldError(
                f"samples of seed {args.seed} are in {current.backend} already; generate others "
                f"with --seed {args.seed + 1}, or name another data file with --backend FILE"
            ) from None
    stored = _stored_items(design, current)
    more = f", which has {stored:,} now, with all that follows from them" if stored > count else ""
    print(f"{count:,} items of {design.name} in {current.backend}{more}")
    return 0


def _stored_items(design: Declarations, current: Settings) -> int:
    """How many items a data file has; 0 for a server, where counting is paid for."""
    from keyfold.runtime import Design
    from keyfold.runtime.walk import Walk, pages
    from keyfold_engine.clients.address import Embedded, parse

    if not isinstance(design, Design) or not isinstance(parse(current.backend), Embedded):
        return 0
    with design.open(
        current.backend, table_prefix=current.table_prefix, table_names=current.table_names
    ) as db:
        tables = [db.context.physical(table) for table in db.context.design.schema.tables]
        counting = (Walk("Scan", {"TableName": name, "Select": "COUNT"}) for name in tables)
        return sum(int(page["Count"]) for one in counting for page in pages(db.client.call, one))


def _parse_count(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not name or not number.isdigit():
        raise KeyfoldError(f"--count {text}: write ENTITY=N, as Order=500")
    return name, int(number)
