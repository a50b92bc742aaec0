"""The design that a command works on, and its backend."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.errors import KeyfoldError

if TYPE_CHECKING:
    from keyfold.runtime.db import Db

NAMES = ("design", "backend", "table_prefix", "table_names")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the TARGET argument and the backend settings."""
    parser.add_argument(
        "target",
        nargs="?",
        help="package.module:design or FILE.yaml (default: the design in the settings)",
    )
    settings.add_flags(parser, *NAMES)


def add_design(parser: argparse.ArgumentParser) -> None:
    """Add the TARGET argument, a design or a design file."""
    parser.add_argument(
        "target",
        nargs="?",
        help="package.module:design or FILE.yaml (default: the design in the settings)",
    )


def known_target(args: argparse.Namespace) -> str:
    """The design from the arguments or the settings; empty if neither names one."""
    target: str = vars(args).get("target") or settings.from_arguments(args).design
    return target


def design_target(args: argparse.Namespace) -> str:
    """The design from the arguments or the settings."""
    target = known_target(args)
    if not target:
        raise KeyfoldError(
            "name a design: package.module:design or FILE.yaml, or set it in keyfold.toml"
        )
    return target


def reachable(backend: str) -> str:
    """A backend that answers, checked once if it is a server."""
    from keyfold.errors import TransportError
    from keyfold_engine.clients.address import Remote, parse
    from keyfold_engine.clients.connection import connect
    from keyfold_engine.clients.request import ClientOptions

    address = parse(backend)
    if isinstance(address, Remote):
        try:
            connect(address.endpoint, ClientOptions()).close()
        except TransportError as problem:
            raise KeyfoldError(
                f"the backend {backend} cannot be reached ({problem}). Is it running? "
                "`keyfold guide --settings` shows which one is set"
            ) from None
    return backend


def existing(backend: str) -> str:
    """A backend with data; a command that only reads creates no data file."""
    if missing := _missing_file(backend):
        raise KeyfoldError(
            f"the data file {missing} does not exist; "
            "`keyfold guide --settings` shows which one is set"
        )
    return reachable(backend)


def existing_or_empty(backend: str) -> str:
    """A backend to compare with: a missing data file has no tables."""
    return ":memory:" if _missing_file(backend) else reachable(backend)


def _missing_file(backend: str) -> str | None:
    from pathlib import Path

    from keyfold_engine.clients.address import Embedded, parse

    address = parse(backend)
    path = address.path if isinstance(address, Embedded) else ":memory:"
    return None if path == ":memory:" or Path(path).exists() else path


def items_of(db: Db) -> int:
    """About how many items the tables of a design have, for progress."""
    names = [db.context.physical(table) for table in db.context.design.schema.tables]
    described = (db.client.call("DescribeTable", {"TableName": name}) for name in names)
    return sum(int(one["Table"].get("ItemCount", 0)) for one in described)


def open_db(args: argparse.Namespace) -> Db:
    """The design on its backend; the caller closes it."""
    from keyfold.review.draft.declarations import running_design

    current = settings.from_arguments(args)
    return running_design(design_target(args)).open(
        existing(current.backend),
        table_prefix=current.table_prefix,
        table_names=current.table_names,
        create_tables=False,
    )
