"""The `keyfold` command: every module of this package is one of its commands.

A command module has `HELP`, `configure(parser)` and `run(args) -> int`, and raises KeyfoldError for
errors that its user can fix.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from keyfold.errors import KeyfoldError, TableNotFound

USER_ERROR = 2
INTERRUPTED = 130

GROUPS: dict[str, tuple[str, ...]] = {
    "Run": ("demo", "serve", "api", "client", "studio"),
    "Design": ("new", "import", "inspect", "adopt", "check", "rule", "docs", "types"),
    "Editors": ("lsp", "schema", "mcp"),
    "Advice": ("workload", "cost", "simulate", "advise", "export"),
    "Data": ("migrations", "backup", "doctor", "dump", "load", "sample"),
    "Upkeep": ("streams", "deadletter", "verify", "repair", "rebuild"),
    "About": ("guide", "settings", "completion", "bench"),
}
OTHERS = "More"


class Command(Protocol):
    """The interface of a command module."""

    HELP: str

    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class _Help(argparse.HelpFormatter):
    """Avoids argparse's own formatter, which imports much of the standard library to find the
    terminal's width.
    """

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{"width": _columns() - 2, **options})


class _Parser(argparse.ArgumentParser):
    """A parser with a fast help formatter, also for its subcommands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})


def _columns() -> int:
    try:
        return int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns or 80
    except (ValueError, OSError):
        return 80


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _dispatch(given)
        sys.stdout.flush()
        return code
    except TableNotFound as error:
        hint = "is it the right backend? `keyfold settings` shows which one is set"
        print(f"keyfold: {error}; {hint}", file=sys.stderr)
        return USER_ERROR
    except KeyfoldError as error:
        print(f"keyfold: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`keyfold ... | head`): discard what Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            raise
        print(f"keyfold: {error.filename}: {error.strerror}", file=sys.stderr)
        return USER_ERROR


def command_names() -> list[str]:
    """All commands, sorted."""
    return sorted(
        file.name.removesuffix(".py").replace("_", "-")
        for file in os.scandir(__path__[0])
        if file.name.endswith(".py") and not file.name.startswith("_")
    )


def command(name: str) -> Command:
    return cast("Command", import_module(f"{__name__}.{name.replace('-', '_')}"))


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of one command, complete with its subcommands."""
    chosen = command(name)
    parser = _Parser(prog=f"keyfold {name}", description=chosen.HELP)
    chosen.configure(parser)
    return parser


def _dispatch(given: list[str]) -> int:
    name = given[0] if given else "--help"
    if name in ("--help", "-h", "help"):
        print(_overview())
        return 0
    if name in ("--version", "-V"):
        from importlib import metadata

        print(f"keyfold {metadata.version('keyfold')}")
        return 0
    names = command_names()
    if name not in names:
        from keyfold.settings import nearest

        raise KeyfoldError(f"unknown command {name!r}; {nearest(name, names)}")
    return command(name).run(
        command_parser(name).parse_args(given[1:], argparse.Namespace(given=given))
    )


def _overview() -> str:
    names = command_names()
    grouped = {name for group in GROUPS.values() for name in group}
    groups = {**GROUPS, OTHERS: tuple(name for name in names if name not in grouped)}
    lines = ["usage: keyfold COMMAND ...", "", "Your DynamoDB design document, running."]
    for title, members in groups.items():
        if present := [name for name in members if name in names]:
            lines += ["", f"{title}:"]
            lines += [f"  {name:<12}{command(name).HELP}" for name in present]
    return "\n".join([*lines, "", "Run `keyfold COMMAND --help` for details."])
