"""`keyfold schema`: the language of design files, for editors."""

from __future__ import annotations

import argparse

HELP = "Print the JSON Schema of design files, for editors without a language server."


def configure(parser: argparse.ArgumentParser) -> None:
    """It takes nothing."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    import orjson

    from keyfold.design.json_schema import design_file_schema

    print(orjson.dumps(design_file_schema(), option=orjson.OPT_INDENT_2).decode())
    return 0
