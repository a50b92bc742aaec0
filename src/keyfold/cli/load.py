"""`keyfold load`: items from DynamoDB's S3 export format into a table."""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keyfold.clients import Client

HELP = "Put the items of an export (keyfold's or DynamoDB's own) into a table."

_LONGEST_PAUSE_SECONDS = 5.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("database", help="data file, or address of a server")
    parser.add_argument("table", help="name of the table")
    parser.add_argument("directory", type=Path, help="the export: its directory or one data file")


def run(args: argparse.Namespace) -> int:
    from keyfold.clients import connect
    from keyfold.engine import exports
    from keyfold.errors import KeyfoldError
    from keyfold.limits import BATCH_WRITE_ITEMS

    if not args.directory.exists():
        raise KeyfoldError(f"there is no export {args.directory}")
    client = connect(args.database)
    try:
        _create_if_missing(client, args.table, args.directory)
        items = exports.read(args.directory)
        count = 0
        while batch := list(islice(items, BATCH_WRITE_ITEMS)):
            _put(client, args.table, batch)
            count += len(batch)
    finally:
        client.close()
    print(f"{count} items in {args.table}")
    return 0


def _create_if_missing(client: Client, name: str, directory: Path) -> None:
    import orjson

    from keyfold.engine import exports
    from keyfold.errors import KeyfoldError, StorageError, TableNotFound

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
        _wait_until_active(client, name)


def _wait_until_active(client: Client, name: str) -> None:
    pause = 0.05
    while client.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)


def _put(client: Client, table: str, bodies: list[bytes]) -> None:
    import orjson

    wishes: dict[str, Any] = {
        table: [{"PutRequest": {"Item": orjson.loads(body)}} for body in bodies]
    }
    pause = 0.05
    while wishes:
        wishes = client.call("BatchWriteItem", {"RequestItems": wishes})["UnprocessedItems"]
        if wishes:
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
