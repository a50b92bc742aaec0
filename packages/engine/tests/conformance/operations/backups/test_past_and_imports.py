"""Restores and exports of the past, and imports of CSV files, by the clock."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.conformance.operations.conftest import reached

from keyfold_engine.clients.protocol import Client
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

_TABLE: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_750_000_000)


@pytest.fixture
def backend(tmp_path: Path, clock: ManualClock, way: str) -> Iterator[Client]:
    with Engine.open(buckets=tmp_path, clock=clock) as engine, reached(engine, way) as client:
        client.call("CreateTable", {"TableName": "Orders", **_TABLE})
        recovery = {"PointInTimeRecoveryEnabled": True}
        client.call(
            "UpdateContinuousBackups",
            {"TableName": "Orders", "PointInTimeRecoverySpecification": recovery},
        )
        yield client


def _put(backend: Client, key: str) -> dict[str, Any]:
    item = {"pk": {"S": key}, "sk": {"N": "1"}}
    backend.call("PutItem", {"TableName": "Orders", "Item": item})
    return item


def test_a_table_is_restored_as_it_was(backend: Client, clock: ManualClock) -> None:
    early = _put(backend, "early")
    clock.advance(60)
    moment = clock.now()
    clock.advance(60)
    _put(backend, "late")
    clock.advance(600)
    backend.call(
        "RestoreTableToPointInTime",
        {"SourceTableName": "Orders", "TargetTableName": "Past", "RestoreDateTime": moment},
    )
    assert backend.call("Scan", {"TableName": "Past"})["Items"] == [early]


def test_an_incremental_export_has_what_changed(
    backend: Client, clock: ManualClock, tmp_path: Path
) -> None:
    _put(backend, "before")
    clock.advance(3600)
    start = clock.now()
    clock.advance(60)
    _put(backend, "within")
    clock.advance(3600)
    arn = backend.call("DescribeTable", {"TableName": "Orders"})["Table"]["TableArn"]
    window = {"ExportFromTime": start, "ExportToTime": clock.now()}
    exported = backend.call(
        "ExportTableToPointInTime",
        {
            "TableArn": arn,
            "S3Bucket": "bucket",
            "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": window,
        },
    )["ExportDescription"]
    assert exported["IncrementalExportSpecification"]["ExportViewType"] == "NEW_AND_OLD_IMAGES"
    lines = [
        orjson.loads(line)
        for path in (tmp_path / "bucket").rglob("data/*.gz")
        for line in gzip.decompress(path.read_bytes()).splitlines()
    ]
    assert [line["Keys"]["pk"]["S"] for line in lines] == ["within"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("pk,sk,name\nä,1,Zoë\nb,2,\n", None),
        ("ä;1;Zoë\nb;2;\n", {"Delimiter": ";", "HeaderList": ["pk", "sk", "name"]}),
    ],
    ids=["header line", "header list"],
)
def test_a_csv_file_is_imported(
    backend: Client, tmp_path: Path, text: str, options: dict[str, Any] | None
) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "orders.csv").write_text(text, encoding="utf-8")
    request = {
        "S3BucketSource": {"S3Bucket": "input"},
        "InputFormat": "CSV",
        "TableCreationParameters": {"TableName": "Imported", **_TABLE},
    }
    if options is not None:
        request["InputFormatOptions"] = {"Csv": options}
    told = backend.call("ImportTable", request)["ImportTableDescription"]
    assert (told["ImportStatus"], told["ImportedItemCount"]) == ("COMPLETED", 2)
    found = backend.call("Scan", {"TableName": "Imported"})["Items"]
    assert sorted(found, key=lambda item: item["sk"]["N"]) == [
        {"pk": {"S": "ä"}, "sk": {"N": "1"}, "name": {"S": "Zoë"}},
        {"pk": {"S": "b"}, "sk": {"N": "2"}},
    ]
