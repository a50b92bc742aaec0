"""`keyfold load`: items from DynamoDB's S3 export format into a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.clients import Client

HELP = "Put the items of an export (keyfold's or DynamoDB's own) into a table."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("database", help="data file, or address of a server")
    parser.add_argument("table", help="name of the table")
    parser.add_argument("directory", type=Path, help="the export: its directory or one data file")


def run(args: argparse.Namespace) -> int:
    import orjson

    from keyfold.clients import connect
    from keyfold.engine import exports
    from keyfold.errors import KeyfoldError
    from keyfold.runtime.flow import run_by
    from keyfold.runtime.walk import write_batches

    if not args.directory.exists():
        raise KeyfoldError(f"there is no export {args.directory}")
    client = connect(args.database)
    try:
        _create_if_missing(client, args.table, args.directory)
        puts = (
            (args.table, {"PutRequest": {"Item": orjson.loads(body)}})
            for body in exports.read(args.directory)
        )
        count = run_by(client.call, write_batches(puts))
    finally:
        client.close()
    print(f"{count} items in {args.table}")
    return 0


def _create_if_missing(client: Client, name: str, directory: Path) -> None:
    import orjson

    from keyfold.engine import exports
    from keyfold.errors import KeyfoldError, StorageError, TableNotFound
    from keyfold.runtime.flow import run_by
    from keyfold.runtime.tables import until_active

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
                f"There is no table {name}, and {directory} does not say what it is like. "
                "Create the table first."
            ) from None
        client.call("CreateTable", {**orjson.loads(found[0].read_bytes()), "TableName": name})
        run_by(client.call, until_active(name))
