"""DynamoDB's S3 export format, in a directory: manifests and gzipped files of items.

    <directory>/AWSDynamoDB/<export id>/manifest-summary.json
                                       /manifest-files.json
                                       /data/<name>.json.gz       {"Item": ...} a line

The data files of incremental exports lie in <directory>/AWSDynamoDB/data, all together. `write` and
`read` hold one item at a time, whatever the size of the table.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import file_digest, md5
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from keyfold_engine.errors import StorageError
from keyfold_engine.features.transfer import ion
from keyfold_engine.features.transfer.data_files import DAMAGED, unpacked
from keyfold_engine.limits import ITEM_BYTES

ITEMS_PER_FILE = 200_000
# An item's JSON is larger than the item; an unpacked file may be larger than memory, a line is not.
LINE_BYTES = 64 * ITEM_BYTES
FOLDER = "AWSDynamoDB"
SUMMARY = "manifest-summary.json"
FILES = "manifest-files.json"
# Our addition to DynamoDB's files: the CreateTable request of the exported table.
DEFINITION = "table.json"


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an export; `line` renders a line of a data file."""

    version: str
    format: str
    suffix: str
    line: Callable[[bytes], bytes]
    shares_folder: bool = False


ITEMS = Form("2020-06-30", "DYNAMODB_JSON", "json", lambda body: b'{"Item":' + body + b"}\n")
ION_ITEMS = Form("2020-06-30", "ION", "ion", ion.line)
CHANGES = Form(
    "2023-08-01", "DYNAMODB_JSON", "json", lambda change: change + b"\n", shares_folder=True
)


@dataclass(frozen=True, slots=True)
class Written:
    """The result of an export; `manifest` is the key of its summary below the directory."""

    manifest: str
    count: int
    size: int


def export_id(moment: float, suffix: str) -> str:
    """An id that sorts by time, like DynamoDB's."""
    return f"{int(moment * 1000):014d}-{suffix}"


def write(
    directory: Path,
    export: str,
    bodies: Iterable[bytes],
    description: dict[str, Any],
    form: Form = ITEMS,
) -> Written:
    """Write items or changes, given as JSON; `description` goes into the summary."""
    place = directory / FOLDER / export
    data = f"{FOLDER}/data" if form.shares_folder else f"{FOLDER}/{export}/data"
    for folder in (place, directory / data):
        folder.mkdir(parents=True, exist_ok=True)
    count = size = 0
    lines: list[bytes] = []
    for number, chunk in enumerate(_chunks(bodies)):
        key = f"{data}/{export}-{number:05d}.{form.suffix}.gz"
        items, written, checksum = _write_file(directory / key, map(form.line, chunk))
        count += items
        size += written
        lines.append(
            orjson.dumps(
                {
                    "itemCount": items,
                    "md5Checksum": b64encode(checksum.digest()).decode(),
                    "etag": checksum.hexdigest(),
                    "dataFileS3Key": key,
                }
            )
        )
    _write_with_checksum(place / FILES, b"".join(line + b"\n" for line in lines))
    summary = {
        "version": form.version,
        **description,
        "manifestFilesS3Key": f"{FOLDER}/{export}/{FILES}",
        "billedSizeBytes": size,
        "itemCount": count,
        "outputFormat": form.format,
    }
    # The summary comes last: an export without it is incomplete.
    _write_with_checksum(place / SUMMARY, orjson.dumps(summary))
    return Written(f"{FOLDER}/{export}/{SUMMARY}", count, size)


def timestamp(moment: float) -> str:
    text = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def read(directory: Path, kind: str = "json") -> Iterator[bytes]:
    """The items of an export as wire JSON.

    `directory` may be an export's own folder, one that holds a single export, or one with data
    files alone, packed or not; `kind` is the ending of their names.
    """
    for path in data_files(directory, kind):
        yield from read_file(path, kind)


def data_files(directory: Path, kind: str = "json") -> list[Path]:
    """The data files of an export, from its manifest if there is one."""
    if directory.is_file():
        return [directory]
    manifests = sorted(directory.rglob(FILES))
    if len(manifests) > 1:
        raise StorageError(
            f"{directory} holds {len(manifests)} exports; give the folder of one of them"
        )
    if manifests:
        return _files_of_manifest(manifests[0])
    endings = tuple(f".{kind}{packed}" for packed in ("", ".gz", ".zst"))
    files = sorted(p for p in directory.rglob("*") if p.name.endswith(endings))
    if not files:
        raise StorageError(f"{directory} holds no export: no {FILES} and no data files")
    return files


def read_file(path: Path, kind: str = "json") -> Iterator[bytes]:
    """The items of one data file."""
    split, parsed = (lines, _parsed) if kind == "json" else (ion.records, ion.wire_record)
    number = 0
    with path.open("rb") as file:
        try:
            for content in split(unpacked(file)):
                number += 1
                if (record := parsed(content)) is not None:
                    yield orjson.dumps(_item(path, record))
        except (KeyError, TypeError, *DAMAGED) as error:
            place = f"{path}, after {'line' if kind == 'json' else 'record'} {number}"
            raise StorageError(f"{place}: not an item of an export ({error})") from None


def lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one that is too long, its pieces."""
    return iter(partial(file.readline, LINE_BYTES), b"")


def _parsed(line: bytes) -> Any:
    """The record of a line; None of one that is empty."""
    if len(line) == LINE_BYTES:
        raise ValueError(f"a line of more than {LINE_BYTES} bytes")
    return orjson.loads(line) if line.strip() else None


def _item(path: Path, record: dict[str, Any]) -> Any:
    if "Item" not in record and "Metadata" in record:
        raise StorageError(f"{path} has changes, of an incremental export; give a full export")
    return record["Item"]


def _files_of_manifest(manifest: Path) -> list[Path]:
    export = manifest.parent
    files = []
    for line in manifest.read_bytes().splitlines():
        try:
            name = str(orjson.loads(line)["dataFileS3Key"]).rpartition("/")[2]
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{manifest}: not a manifest of an export ({error})") from None
        path = export / "data" / name
        if not path.exists():
            path = export.parent / "data" / name
        if not path.exists():
            raise StorageError(f"{manifest} names {name}, which is not in {export / 'data'}")
        files.append(path)
    return files


def _chunks(bodies: Iterable[bytes]) -> Iterator[Iterator[bytes]]:
    """The items, file by file; an empty table has one empty file."""
    source = iter(bodies)
    yield islice(source, ITEMS_PER_FILE)
    for first in source:
        yield chain((first,), islice(source, ITEMS_PER_FILE - 1))


def _write_file(path: Path, lines: Iterator[bytes]) -> tuple[int, int, Any]:
    count = size = 0
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        for line in lines:
            packed.write(line)
            count += 1
            size += len(line)
    with path.open("rb") as written:
        return count, size, file_digest(written, partial(md5, usedforsecurity=False))


def _write_with_checksum(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    checksum = b64encode(md5(content, usedforsecurity=False).digest())
    path.with_suffix(".md5").write_bytes(checksum)
