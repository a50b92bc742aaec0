"""Exports and imports through the API, with directories for buckets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold.clock import ManualClock
from keyfold.engine import Engine, exports
from keyfold.errors import (
    ExportNotFound,
    ImportNotFound,
    RecoveryUnavailable,
    ValidationError,
)

TABLE: dict[str, Any] = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}],
}


@pytest.fixture
def engine(tmp_path: Path, clock: ManualClock) -> Iterator[Engine]:
    with Engine.open(clock=clock, buckets=tmp_path) as engine:
        yield engine


def _fill(engine: Engine, numbers: range) -> str:
    arn: str = engine.call("CreateTable", TABLE)["TableDescription"]["TableArn"]
    engine.call(
        "UpdateContinuousBackups",
        {
            "TableName": "Things",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
    )
    for number in numbers:
        _put(engine, number)
    return arn


def _put(engine: Engine, number: int) -> None:
    engine.call("PutItem", {"TableName": "Things", "Item": {"pk": {"N": str(number)}}})


def _numbers(engine: Engine, table: str) -> set[int]:
    items = engine.call("Scan", {"TableName": table})["Items"]
    return {int(item["pk"]["N"]) for item in items}


def _creation(name: str) -> dict[str, Any]:
    return {**TABLE, "TableName": name}


def test_an_export_imports_as_the_same_items(engine: Engine) -> None:
    arn = _fill(engine, range(10))
    done = engine.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "exports"})
    export = done["ExportDescription"]
    assert export["ItemCount"] == 10
    found = engine.call("DescribeExport", {"ExportArn": export["ExportArn"]})
    assert found["ExportDescription"] == export
    (listed,) = engine.call("ListExports", {"TableArn": arn})["ExportSummaries"]
    assert listed["ExportArn"] == export["ExportArn"]
    answer = engine.call(
        "ImportTable",
        {
            "S3BucketSource": {"S3Bucket": "exports"},
            "InputFormat": "DYNAMODB_JSON",
            "InputCompressionType": "GZIP",
            "TableCreationParameters": _creation("Copies"),
        },
    )["ImportTableDescription"]
    assert answer["ImportedItemCount"] == 10
    assert _numbers(engine, "Copies") == set(range(10))
    found = engine.call("DescribeImport", {"ImportArn": answer["ImportArn"]})
    assert found["ImportTableDescription"] == answer


def test_an_export_shows_the_table_at_its_moment(engine: Engine, clock: ManualClock) -> None:
    arn = _fill(engine, range(3))
    moment = clock.now()
    clock.advance(10)
    _put(engine, 3)
    engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"N": "0"}}})
    engine.call(
        "ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "exports", "ExportTime": moment}
    )
    assert engine._database.buckets is not None
    items = map(orjson.loads, exports.read(engine._database.buckets / "exports"))
    assert {int(item["pk"]["N"]) for item in items} == {0, 1, 2}


def test_an_import_counts_what_the_table_cannot_hold(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "rows.csv").write_text("pk,name\n1,one\nnot-a-number,two\n3,three\n")
    answer = engine.call(
        "ImportTable",
        {
            "S3BucketSource": {"S3Bucket": "csv"},
            "InputFormat": "CSV",
            "TableCreationParameters": _creation("Rows"),
        },
    )["ImportTableDescription"]
    assert (answer["ImportedItemCount"], answer["ErrorCount"]) == (2, 1)
    item = engine.call("GetItem", {"TableName": "Rows", "Key": {"pk": {"N": "3"}}})["Item"]
    assert item["name"] == {"S": "three"}


def test_an_export_needs_recovery(engine: Engine) -> None:
    arn = engine.call("CreateTable", TABLE)["TableDescription"]["TableArn"]
    with pytest.raises(RecoveryUnavailable):
        engine.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "exports"})


def test_a_prefix_cannot_leave_its_bucket(engine: Engine) -> None:
    arn = _fill(engine, range(1))
    with pytest.raises(ValidationError, match="leads out of the bucket"):
        engine.call(
            "ExportTableToPointInTime",
            {"TableArn": arn, "S3Bucket": "exports", "S3Prefix": "../../elsewhere"},
        )


def test_an_engine_without_buckets_says_how_to_have_them() -> None:
    with Engine.open() as engine:
        arn = _fill(engine, range(1))
        with pytest.raises(ValidationError, match="buckets=DIRECTORY"):
            engine.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "exports"})


def test_unknown_exports_and_imports_are_refused(engine: Engine) -> None:
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/Things/{'x' * 40}"
    with pytest.raises(ExportNotFound):
        engine.call("DescribeExport", {"ExportArn": arn})
    with pytest.raises(ImportNotFound):
        engine.call("DescribeImport", {"ImportArn": arn})


def test_a_large_table_is_written_in_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ITEMS_PER_FILE", 3)
    bodies = [orjson.dumps({"pk": {"N": str(number)}}) for number in range(7)]
    written = exports.write(tmp_path, "export", bodies, {})
    assert written.count == 7
    assert len(exports.data_files(tmp_path)) == 3
    assert list(exports.read(tmp_path)) == bodies
