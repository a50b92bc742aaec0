"""`keyfold schema`: the languages of design files, workload files and domain events."""

from __future__ import annotations

import argparse

HELP = "Print the JSON Schema of design files, workload files or domain events."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "of",
        nargs="?",
        choices=("design", "workload", "event"),
        default="design",
        help="the language (default: %(default)s)",
    )
    add(
        "--for",
        dest="target",
        metavar="DESIGN",
        help="with workload: package.module:design or FILE.yaml whose names the schema knows",
    )


def run(args: argparse.Namespace) -> int:
    import orjson

    print(orjson.dumps(_schema(args), option=orjson.OPT_INDENT_2).decode())
    return 0


def _schema(args: argparse.Namespace) -> dict[str, object]:
    if args.of == "workload":
        from keyfold.design.target import load_schema
        from keyfold.hooks import hook

        language = hook("workload-schema", "the language of workload files", "keyfold-workbench")
        schema: dict[str, object] = language(load_schema(args.target) if args.target else None)
        return schema
    if args.target:
        from keyfold.errors import KeyfoldError

        raise KeyfoldError("--for goes with workload: keyfold schema workload --for DESIGN")
    if args.of == "event":
        from keyfold.streams.event import event_schema

        return event_schema()
    from keyfold.design.json_schema import design_file_schema

    return design_file_schema()
