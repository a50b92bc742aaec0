"""`keyfold load`: items of an export, or rows of CSV and JSON lines by a design, into a table."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._target import reachable

if TYPE_CHECKING:
    from keyfold_engine.clients import Client

HELP = "Load an export, or rows of CSV or JSON lines, into a table."
EXAMPLES = (
    "keyfold load app.db Orders export",
    'keyfold load app.db Order orders.csv --design app.design:design --map "Order Id=order_id"',
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("database", help="data file, or address of a server")
    parser.add_argument("table", help="name of the table; with --design, the entity of the rows")
    parser.add_argument(
        "directory", type=Path, help="the export: its directory or one data file; or the rows"
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=FIELD",
        help="map a column to a field; COLUMN= ignores it",
    )
    settings.add_flags(parser, "design", "table_prefix", "table_names")


def run(args: argparse.Namespace) -> int:
    import orjson

    from keyfold.errors import KeyfoldError
    from keyfold.runtime.flow import run_by
    from keyfold.runtime.walk import write_batches
    from keyfold_engine.clients import connect
    from keyfold_engine.commands._progress import counted, progress
    from keyfold_engine.features.transfer import exports

    if args.design:
        return _load_rows(args)
    if args.map:
        raise KeyfoldError("--map needs --design")
    if not args.directory.exists():
        raise KeyfoldError(f"the export {args.directory} does not exist")
    client = connect(reachable(args.database))
    try:
        _create_if_missing(client, args.table, args.directory)
        puts = (
            (args.table, {"PutRequest": {"Item": orjson.loads(body)}})
            for body in exports.read(args.directory)
        )
        with progress("load", "items", partial(_expected, args.directory)) as show:
            count = run_by(client.call, write_batches(counted(puts, show)))
    finally:
        client.close()
    print(f"{count} items in {args.table}")
    return 0


def _load_rows(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from keyfold.errors import KeyfoldError
    from keyfold.review.draft.declarations import design_of
    from keyfold.rows.item_writer import store
    from keyfold.rows.row_files import RowReader
    from keyfold_engine.commands._progress import progress

    current = replace(settings.from_arguments(args), backend=reachable(args.database))
    design = design_of(args.design)
    entity = design.entities.get(args.table)
    if entity is None:
        known = settings.nearest(args.table, design.entities)
        raise KeyfoldError(f"{design.name} has no entity {args.table}; {known}")
    pairs = [each.partition("=") for each in args.map]
    wrong = [column for column, sign, _ in pairs if not sign or not column]
    if wrong:
        raise KeyfoldError(f"--map {wrong[0]}: write COLUMN=FIELD, as 'Order Id=order_id'")
    rows = RowReader(entity, args.directory, {column: name for column, _, name in pairs})
    problems = rows.problems()
    if problems:
        told = "\n  ".join(problems)
        raise KeyfoldError(f"nothing was written:\n  {told}")
    with progress("load", "rows") as show:
        count = store(design, rows.entities(), current, progress=show)
    print(f"{count} {args.table} items in {args.database}")
    return 0


def _expected(directory: Path) -> int:
    """How many items an export has, if its summary says so."""
    import orjson

    from keyfold_engine.features.transfer import exports

    found = sorted(directory.rglob(exports.SUMMARY)) if directory.is_dir() else []
    try:
        return int(orjson.loads(found[0].read_bytes())["itemCount"]) if len(found) == 1 else 0
    except (ValueError, KeyError, TypeError):
        return 0


def _create_if_missing(client: Client, name: str, directory: Path) -> None:
    import orjson

    from keyfold.errors import KeyfoldError, StorageError, TableNotFound
    from keyfold.runtime.flow import run_by
    from keyfold.runtime.tables import until_active
    from keyfold_engine.features.transfer import exports

    try:
        client.call("DescribeTable", {"TableName": name})
    except TableNotFound:
        found = sorted(directory.rglob(exports.DEFINITION)) if directory.is_dir() else []
        if len(found) > 1:
            exports_there = ", ".join(str(path.parent) for path in found)
            raise KeyfoldError(
                f"{directory} holds several exports: {exports_there}; name one"
            ) from None
        if not found:
            raise StorageError(
                f"The table {name} does not exist, and {directory} has no table definition. "
                "Create the table first."
            ) from None
        try:
            definition = {**orjson.loads(found[0].read_bytes()), "TableName": name}
        except (ValueError, TypeError) as error:
            raise KeyfoldError(f"{found[0]}: not the definition of a table ({error})") from None
        client.call("CreateTable", definition)
        run_by(client.call, until_active(name))
