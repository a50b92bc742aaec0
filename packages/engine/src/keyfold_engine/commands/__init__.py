"""Commands by name: every module of a `commands` package is one.

A command module has `HELP`, `configure(parser)` and `run(args) -> int`, and raises KeyfoldError for
errors that its user can fix. A program looks in its own packages first; entry points of the group
`keyfold.commands` name the packages of other distributions, and are read only for what is not found
there: that takes longer.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, cast

from keyfold_engine import __version__, expect_version
from keyfold_engine.errors import KeyfoldError, TableNotFound

USER_ERROR = 2
INTERRUPTED = 130
OTHERS = "More"


class Command(Protocol):
    """The interface of a command module."""

    HELP: str
    EXAMPLES: tuple[str, ...]
    """Command lines; those of an action stand at the end of its help too."""

    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class _Help(argparse.HelpFormatter):
    """Avoids argparse's own formatter, which imports much of the standard library to find the
    terminal's width.
    """

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{"width": _columns() - 2, **options})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Examples keep their lines."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _Parser(argparse.ArgumentParser):
    """A parser with a fast help formatter and a hint at the option meant, also in subcommands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """argparse asks the parser of an action too, which knows the action's options."""
        found, left = super().parse_known_args(args, namespace)
        if options := [one.partition("=")[0] for one in left if one.startswith("--")]:
            from keyfold_engine.suggestion import nearest

            known = [name for name in self._option_string_actions if name.startswith("--")]
            self.error(f"unknown option {options[0]}; {nearest(options[0], known)}")
        return found, left


def _columns() -> int:
    try:
        return int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns or 80
    except (ValueError, OSError):
        return 80


@dataclass(frozen=True)
class Program:
    """A program and where its commands are."""

    name: str
    about: str
    version: str
    packages: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Titles of the overview, and the commands below each."""
    others: str = ""
    """The group of entry points by which other distributions bring commands."""
    need: Callable[[str], str] | None = None
    """What to do about a command that another distribution brings, where it is not installed."""

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run one command and return its exit code."""
        given = list(sys.argv[1:] if arguments is None else arguments)
        try:
            expect_version(self.name, self.version)
            code = self._dispatch(given)
            sys.stdout.flush()
            return code
        except TableNotFound as error:
            hint = "is it the right backend? `keyfold guide --settings` shows which one is set"
            print(f"{self.name}: {error}; {hint}", file=sys.stderr)
            return USER_ERROR
        except KeyfoldError as error:
            print(f"{self.name}: {error}", file=sys.stderr)
            return USER_ERROR
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            # The reader closed the pipe (`keyfold ... | head`): drop what Python flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except OSError as error:
            if error.filename is None:
                raise
            print(f"{self.name}: {error.filename}: {error.strerror}", file=sys.stderr)
            return USER_ERROR

    def command_names(self) -> list[str]:
        """All commands, sorted."""
        return sorted({**self._installed(), **self._own()})

    def command(self, name: str) -> Command:
        module = self._own().get(name) or self._installed()[name]
        return cast("Command", import_module(module))

    def _own(self) -> dict[str, str]:
        return {
            name: module
            for package in self.packages
            for name, module in modules_of(package).items()
        }

    def _installed(self) -> dict[str, str]:
        if not self.others:
            return {}
        from importlib.metadata import entry_points

        packages = {point.value for point in entry_points(group=self.others)} - set(self.packages)
        return {
            name: module for one in sorted(packages) for name, module in modules_of(one).items()
        }

    def command_parser(self, name: str) -> argparse.ArgumentParser:
        """The parser of one command, complete with its subcommands."""
        chosen = self.command(name)
        parser = _Parser(prog=f"{self.name} {name}", description=chosen.HELP)
        chosen.configure(parser)
        parser.epilog = _examples(chosen.EXAMPLES)
        actions = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
        for action, made in ((n, p) for one in actions for n, p in one.choices.items()):
            begins = f"{self.name} {name} {action}"
            made.epilog = _examples([one for one in chosen.EXAMPLES if one.startswith(begins)])
        return parser

    def _dispatch(self, given: list[str]) -> int:
        name = given[0] if given else "--help"
        if name in ("--help", "-h", "help"):
            print(self._overview())
            return 0
        if name in ("--version", "-V"):
            print(f"{self.name} {self.version}")
            return 0
        if name not in self._own() and name not in (names := self.command_names()):
            if self.need is not None and (need := self.need(name)):
                raise KeyfoldError(f"{self.name} {name} {need}")
            from keyfold_engine.suggestion import nearest

            raise KeyfoldError(f"unknown command {name!r}; {nearest(name, names)}")
        return self.command(name).run(
            self.command_parser(name).parse_args(given[1:], argparse.Namespace(given=given))
        )

    def _overview(self) -> str:
        names = self.command_names()
        grouped = {name for group in self.groups.values() for name in group}
        groups = {**self.groups, OTHERS: tuple(name for name in names if name not in grouped)}
        lines = [f"usage: {self.name} COMMAND ...", "", self.about]
        for title, members in groups.items():
            if present := [name for name in members if name in names]:
                lines += ["", f"{title}:"]
                lines += [f"  {name:<12}{self.command(name).HELP}" for name in present]
        return "\n".join([*lines, "", f"Run `{self.name} COMMAND --help` for details."])


def _examples(lines: Sequence[str]) -> str:
    return "\n".join(
        ["Example:" if len(lines) == 1 else "Examples:", *(f"  {one}" for one in lines)]
    )


def modules_of(package: str) -> dict[str, str]:
    """The commands of a package and their modules."""
    (folder,) = import_module(package).__path__
    modules = [
        file.name.removesuffix(".py")
        for file in os.scandir(folder)
        if file.name.endswith(".py") and not file.name.startswith("_")
    ]
    return {module.replace("_", "-"): f"{package}.{module}" for module in modules}


def main() -> int:
    """`keyfold-engine`: the commands of this distribution alone."""
    return Program("keyfold-engine", "DynamoDB on SQLite.", __version__, (__name__,)).main()
