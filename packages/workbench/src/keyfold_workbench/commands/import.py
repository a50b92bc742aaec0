"""`keyfold import`: a design file from documents, templates, models and data of other tools."""

from __future__ import annotations

import argparse

from keyfold.cli._output import add_output, write_output

HELP = "Write a design file from a document, templates, models or data of other tools."
EXAMPLES = (
    "keyfold import template.yaml -o design.yaml",
    "keyfold import DESIGN.md -o design.yaml",
)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "source",
        nargs="+",
        help="a design document (DESIGN.md), another file, a directory (cdk.out, Terraform), "
        "package.module of Python models, or the address of an endpoint; several are merged "
        "into one design",
    )
    add("--name", default="", metavar="NAME", help="the design's name (default: the source's)")
    add("--table", default="", metavar="NAME", help="the table of models without one")
    add("--explain", type=int, metavar="LINE", help="say how a line of the document was read")
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    from keyfold_workbench.adopt.document.alignment import align
    from keyfold_workbench.adopt.document.design import explain
    from keyfold_workbench.adopt.merged_sources import merge
    from keyfold_workbench.adopt.sources.detection import read

    if args.explain is not None:
        print("\n".join(explain(args.source[0], args.explain)))
        return 0
    sources = [read(source, table=args.table) for source in args.source]
    align(sources)
    return write_output(merge(sources, name=args.name).text(), args)
