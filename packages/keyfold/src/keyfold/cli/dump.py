"""`keyfold dump`: a table's items in DynamoDB's S3 export format."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keyfold_engine.clients import Client

HELP = "Write a table's items to a directory, in the format of DynamoDB's exports to S3."
EXAMPLES = ("keyfold dump app.db Orders export",)

# Members of DescribeTable that CreateTable does not accept.
_TABLE_MEMBERS = (
    "TableName",
    "KeySchema",
    "AttributeDefinitions",
    "LocalSecondaryIndexes",
    "GlobalSecondaryIndexes",
    "StreamSpecification",
)
_INDEX_MEMBERS = ("IndexName", "KeySchema", "Projection")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("database", help="data file, or address of a server")
    parser.add_argument("table", help="name of the table")
    parser.add_argument("directory", type=Path, help="where to write the export")


def run(args: argparse.Namespace) -> int:
    import orjson

    from keyfold.cli._target import existing
    from keyfold_engine.clients import connect
    from keyfold_engine.commands._progress import counted, progress
    from keyfold_engine.features.transfer import exports

    client = connect(existing(args.database))
    try:
        table = client.call("DescribeTable", {"TableName": args.table})["Table"]
        now = time.time()
        export = exports.export_id(now, table["TableId"][:8])
        description = {
            "exportArn": f"{table['TableArn']}/export/{export}",
            "startTime": exports.timestamp(now),
            "exportTime": exports.timestamp(now),
            "tableArn": table["TableArn"],
            "tableId": table["TableId"],
            "exportType": "FULL_EXPORT",
        }
        total = int(table.get("ItemCount", 0))
        with _bodies(client, args.table) as bodies, progress("dump", "items", total) as show:
            written = exports.write(args.directory, export, counted(bodies, show), description)
        definition = args.directory / exports.FOLDER / export / exports.DEFINITION
        definition.write_bytes(orjson.dumps(_creation(table), option=orjson.OPT_INDENT_2))
    finally:
        client.close()
    print(f"{written.count} items in {definition.parent}")
    return 0


@contextmanager
def _bodies(client: Client, table: str) -> Iterator[Iterator[bytes]]:
    """The items: a snapshot of a data file, pages of a server."""
    import orjson

    from keyfold_engine.clients.embedded import EmbeddedClient

    if isinstance(client, EmbeddedClient):
        with client.engine.snapshot(table) as bodies:
            yield bodies
    else:
        yield (orjson.dumps(item) for item in _items(client, table))


def _items(client: Client, table: str) -> Iterator[dict[str, Any]]:
    from keyfold.runtime.walk import Walk, pages

    for page in pages(client.call, Walk("Scan", {"TableName": table, "ConsistentRead": True})):
        yield from page["Items"]


def _creation(table: dict[str, Any]) -> dict[str, Any]:
    """The CreateTable request that makes a table like this one."""
    request = {name: table[name] for name in _TABLE_MEMBERS if name in table}
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if member in request:
            request[member] = [
                {name: index[name] for name in _INDEX_MEMBERS} for index in request[member]
            ]
    return {**request, "BillingMode": "PAY_PER_REQUEST"}
