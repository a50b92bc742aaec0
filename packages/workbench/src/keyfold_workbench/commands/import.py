"""`keyfold import`: a design file from templates, models and data of other tools."""

from __future__ import annotations

import argparse

from keyfold.cli._output import add_output, design_files, write_output

HELP = "Write a design file from templates, models or data of other tools."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "source",
        nargs="+",
        help="a file, a directory (cdk.out, Terraform), package.module of Python models, or the "
        "address of an endpoint; several are merged into one design",
    )
    add("--name", default="", metavar="NAME", help="the design's name (default: the source's)")
    add("--table", default="", metavar="NAME", help="the table of models without one")
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    design_files()
    from keyfold_workbench.adopt.merged_sources import merge
    from keyfold_workbench.adopt.sources.detection import read

    sources = [read(source, table=args.table) for source in args.source]
    return write_output(merge(sources, name=args.name).text(), args)
