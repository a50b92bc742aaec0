"""ImportTable, DescribeImport and ListImports, from a directory in place of a bucket."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from keyfold_engine.engine import write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item
from keyfold_engine.engine.operations.create_table import create_table
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write import ItemWrite, NewItem
from keyfold_engine.errors import ImportNotFound, StorageError, ValidationError
from keyfold_engine.features.transfer import exports
from keyfold_engine.features.transfer.buckets import bucket
from keyfold_engine.features.transfer.data_files import DAMAGED, check_formats, unpacked
from keyfold_engine.limits import MB
from keyfold_engine.values import Item
from keyfold_engine.values.wire import check_item

_KIND = "import"
_KINDS = {"DYNAMODB_JSON": "json", "ION": "ion"}
"""The ending of the names of files in a format."""
_ITEMS_PER_COMMIT = 500
_BYTES_PER_COMMIT = 4 * MB
IMPORTS_PER_PAGE = 25
_TOKEN_BYTES = 56
_BLOCK_BYTES = 8


def import_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    check_formats(request)
    source = request["S3BucketSource"]
    root = bucket(database, source["S3Bucket"], None)
    paths = _sources(bucket(database, source["S3Bucket"], source.get("S3KeyPrefix")), root)
    started = database.clock.now()
    table = create_table(database, request["TableCreationParameters"])["TableDescription"]
    batches = _batches(_items(paths, request, table))
    counts = {"read": 0, "stored": 0, "errors": 0, "bytes": 0}
    failure: dict[str, str] = {}
    while True:
        try:
            batch = next(batches, None)
        except StorageError as unreadable:
            # Callers must not see the server's directories.
            told = str(unreadable).replace(str(root), f"s3://{source['S3Bucket']}")
            failure = {"FailureCode": "InvalidSource", "FailureMessage": told}
            break
        if batch is None:
            break
        database.write(partial(_store, database, table["TableName"], batch, counts))
    arn = f"{table['TableArn']}/import/{exports.export_id(started, uuid4().hex[:8])}"
    document: dict[str, Any] = {
        "ImportArn": arn,
        "ImportStatus": "FAILED" if failure else "COMPLETED",
        **failure,
        **{
            name: request[name] for name in ("ClientToken", "InputFormatOptions") if name in request
        },
        "TableArn": table["TableArn"],
        "TableId": table["TableId"],
        "S3BucketSource": source,
        "InputFormat": request["InputFormat"],
        "InputCompressionType": request.get("InputCompressionType", "NONE"),
        "TableCreationParameters": request["TableCreationParameters"],
        "StartTime": started,
        "EndTime": database.clock.now(),
        "ProcessedSizeBytes": counts["bytes"],
        "ProcessedItemCount": counts["read"],
        "ImportedItemCount": counts["stored"],
        "ErrorCount": counts["errors"],
    }
    database.write(lambda session: session.keep_document(_KIND, arn, document))
    return {"ImportTableDescription": document}


def describe_import(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        found = session.document(_KIND, request["ImportArn"])
    if found is None:
        raise ImportNotFound(f"Import not found: {request['ImportArn']}")
    return {"ImportTableDescription": found}


def list_imports(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("PageSize") or IMPORTS_PER_PAGE
    after = _arn(request["NextToken"]) if "NextToken" in request else ""
    with database.read() as session:
        found = [each for arn, each in session.documents(_KIND) if arn > after]
    wanted = [each for each in found if request.get("TableArn") in (None, each["TableArn"])]
    shown = (
        "ImportArn",
        "ImportStatus",
        "TableArn",
        "S3BucketSource",
        "InputFormat",
        "StartTime",
        "EndTime",
    )
    answer: dict[str, Any] = {
        "ImportSummaryList": [{name: each[name] for name in shown} for each in wanted[:limit]]
    }
    if len(wanted) > limit:
        answer["NextToken"] = _token(wanted[limit - 1]["ImportArn"])
    return answer


def _token(arn: str) -> str:
    """An ARN in the form of DynamoDB's tokens: blocks of 16 hexadecimal digits."""
    raw = arn.encode()
    room = max(_TOKEN_BYTES, -(-len(raw) // _BLOCK_BYTES) * _BLOCK_BYTES)
    return raw.ljust(room, b"\0").hex()


def _arn(token: str) -> str:
    return bytes.fromhex(token).rstrip(b"\0").decode(errors="replace")


def _sources(place: Path, root: Path) -> list[Path]:
    """What a prefix selects: a file or directory of that name, or everything that begins with
    it.
    """
    if place.exists() or not root.is_dir():
        return [place]
    return sorted(path for path in root.rglob("*") if str(path).startswith(str(place))) or [place]


def _store(
    database: Database, name: str, items: list[Item], counts: dict[str, int], session: Session
) -> None:
    """Put items; one that the table cannot hold is counted and skipped, as in DynamoDB."""
    table = database.catalog.get(session, name)
    for item in items:
        counts["read"] += 1
        try:
            new = NewItem.put(check_item(item))
            change = ItemWrite(table, place_of_item(table, new.item), new.as_change, decodes=False)
        except ValidationError:
            counts["errors"] += 1
            continue
        write.execute(database, session, change)
        counts["stored"] += 1
        counts["bytes"] += new.size


def _batches(items: Iterator[tuple[Item, int]]) -> Iterator[list[Item]]:
    """The items of one commit: many small ones, or few large ones."""
    batch: list[Item] = []
    size = 0
    for item, length in items:
        batch.append(item)
        size += length
        if len(batch) == _ITEMS_PER_COMMIT or size >= _BYTES_PER_COMMIT:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _items(
    places: list[Path], request: dict[str, Any], table: dict[str, Any]
) -> Iterator[tuple[Item, int]]:
    """Items with their approximate sizes."""
    if (kind := _KINDS.get(request["InputFormat"])) is not None:
        for place in places:
            for body in exports.read(place, kind):
                yield orjson.loads(body), len(body)
        return
    options = (request.get("InputFormatOptions") or {}).get("Csv") or {}
    types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*.csv*")):
            yield from _csv_items(path, options, types)


def _csv_items(
    path: Path, options: dict[str, Any], types: dict[str, str]
) -> Iterator[tuple[Item, int]]:
    """The rows of a file; attributes are strings, except for typed keys."""
    with (
        path.open("rb") as packed,
        TextIOWrapper(unpacked(packed), encoding="utf-8", newline="") as file,
    ):
        rows = csv.DictReader(
            file, options.get("HeaderList"), delimiter=options.get("Delimiter", ",")
        )
        try:
            for row in rows:
                item = {
                    name: {types.get(name, "S"): value}
                    for name, value in row.items()
                    if name is not None and value
                }
                yield item, sum(map(len, filter(None, row.values())))
        except (csv.Error, *DAMAGED) as error:
            raise StorageError(
                f"{path}, after line {rows.line_num}: not a row of values ({error})"
            ) from None
