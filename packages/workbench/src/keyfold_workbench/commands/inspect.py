"""`keyfold inspect`: draft a design file from a table in use."""

from __future__ import annotations

import argparse
from pathlib import Path

from keyfold import settings
from keyfold.cli._output import add_output, write_output
from keyfold.cli._target import existing
from keyfold.errors import KeyfoldError

HELP = "Sample a table in use and draft its design file."
EXAMPLES = ("keyfold inspect Orders --backend dynamodb://eu-west-1 -o orders.yaml",)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", help="the table's name")
    add("--sample", type=int, default=1000, metavar="N", help="items to read (default: 1000)")
    add("--units", type=float, metavar="N", help="stop after about N read units")
    add(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of the sample: another seed reads other items",
    )
    add(
        "--sample-file",
        type=Path,
        metavar="FILE",
        help="save the items that were read to this file",
    )
    add("--more", action="store_true", help="continue from --sample-file and add to it")
    add("--keep", type=Path, metavar="FILE", help="keep the names and patterns of this design file")
    add_output(parser)
    settings.add_flags(parser, "backend")


def run(args: argparse.Namespace) -> int:
    from keyfold.design import file
    from keyfold_engine.clients import connect
    from keyfold_engine.commands._progress import progress
    from keyfold_workbench.adopt import item_sample
    from keyfold_workbench.adopt.description import live_table
    from keyfold_workbench.adopt.inspection import inspect

    if args.sample < 1:
        raise KeyfoldError("--sample must be at least 1")
    if args.units is not None and args.units <= 0:
        raise KeyfoldError("--units must be greater than 0")
    if args.more and args.sample_file is None:
        raise KeyfoldError("--more needs --sample-file with the first sample")
    keep = file.load(args.keep) if args.keep else None
    sample = item_sample.load(args.sample_file) if args.more else item_sample.Sample(args.table)
    if sample.table != args.table:
        raise KeyfoldError(f"{args.sample_file} is a sample of {sample.table}, not of {args.table}")
    client = connect(existing(settings.from_arguments(args).backend))
    try:
        table = live_table(client, args.table)
        with progress("inspect", "items", args.sample) as show:
            item_sample.read(
                client, sample, args.sample, units=args.units, seed=args.seed, progress=show
            )
        drafted = inspect(table, sample, keep=keep)
    finally:
        client.close()
    if args.sample_file is not None:
        sample.save(args.sample_file)
    return write_output(drafted.text(), args)
