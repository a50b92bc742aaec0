"""`keyfold settings`: what is set, and where it was set."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from keyfold import settings

HELP = "Show each setting, its value and its source."


def configure(parser: argparse.ArgumentParser) -> None:
    settings.add_flags(parser, *settings.BY_NAME)


def run(args: argparse.Namespace) -> int:
    current = settings.from_arguments(args)
    rows = [
        (name, _format(getattr(current, name)), current.origin(name)) for name in settings.BY_NAME
    ]
    name_width, value_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, origin in rows:
        print(f"{name:<{name_width}}  {value:<{value_width}}  {origin}")
    return 0


def _format(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value or "-"
    return ",".join(f"{table}={name}" for table, name in value.items()) or "-"
