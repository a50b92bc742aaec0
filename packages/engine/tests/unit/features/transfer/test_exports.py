"""Exports and imports through the API, with directories for buckets."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import (
    ExportNotFound,
    ImportNotFound,
    InvalidExportTime,
    RecoveryUnavailable,
    StorageError,
    ValidationError,
)
from keyfold_engine.features.transfer import exports

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


@pytest.mark.parametrize(
    ("name", "content"),
    [("rows.csv", b"pk,name\n1,\xff\n"), ("rows.csv.gz", b"pk,name\n1,one\n")],
    ids=["no text", "not packed"],
)
def test_an_import_of_a_broken_file_fails_and_names_it(
    engine: Engine, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / name).write_bytes(content)
    request = {
        "S3BucketSource": {"S3Bucket": "csv"},
        "InputFormat": "CSV",
        "TableCreationParameters": _creation("Rows"),
    }
    failed = engine.call("ImportTable", request)["ImportTableDescription"]
    assert failed["ImportStatus"] == "FAILED"
    assert f"{name}, after line" in failed["FailureMessage"]
    described = engine.call("DescribeImport", {"ImportArn": failed["ImportArn"]})
    assert described["ImportTableDescription"] == failed


def test_an_export_needs_recovery(engine: Engine) -> None:
    arn = engine.call("CreateTable", TABLE)["TableDescription"]["TableArn"]
    with pytest.raises(RecoveryUnavailable):
        engine.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "exports"})


def test_a_prefix_cannot_leave_its_bucket(engine: Engine) -> None:
    arn = _fill(engine, range(1))
    with pytest.raises(ValidationError, match="leaves the bucket"):
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


HOUR = 3600


def _changes(engine: Engine, arn: str, start: float, **more: Any) -> list[dict[str, Any]]:
    """The records of an incremental export, in order of their keys."""
    wish = {"ExportFromTime": start, **more}
    done = engine.call(
        "ExportTableToPointInTime",
        {
            "TableArn": arn,
            "S3Bucket": "changes",
            "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": wish,
        },
    )["ExportDescription"]
    assert engine._database.buckets is not None
    bucket = engine._database.buckets / "changes"
    summary = orjson.loads((bucket / done["ExportManifest"]).read_bytes())
    assert summary["exportType"] == "INCREMENTAL_EXPORT"
    assert summary["outputView"] == more.get("ExportViewType", "NEW_AND_OLD_IMAGES")
    files = (bucket / summary["manifestFilesS3Key"]).read_bytes().splitlines()
    records = [
        orjson.loads(line)
        for file in files
        for line in _unpacked(bucket / orjson.loads(file)["dataFileS3Key"])
    ]
    assert len(records) == done["ItemCount"] == summary["itemCount"]
    return sorted(records, key=lambda record: int(record["Keys"]["pk"]["N"]))


def _unpacked(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines()


def _set(engine: Engine, number: int, value: str) -> None:
    item = {"pk": {"N": str(number)}, "v": {"S": value}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})


def _delete(engine: Engine, number: int) -> None:
    engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"N": str(number)}}})


def _image(number: int, value: str) -> dict[str, Any]:
    return {"pk": {"N": str(number)}, "v": {"S": value}}


@pytest.fixture
def window(engine: Engine, clock: ManualClock) -> tuple[str, float, float]:
    """A table's ARN and a window in which it changed, with changes before and behind it."""
    arn = _fill(engine, range(0))
    for number in (1, 2, 3):
        _set(engine, number, "before")
    clock.advance(HOUR)
    start = clock.now()
    _set(engine, 1, "between")
    clock.advance(10)
    _set(engine, 1, "changed")
    _delete(engine, 2)
    _set(engine, 4, "made")
    _set(engine, 5, "made and gone")
    _delete(engine, 5)
    clock.advance(HOUR)
    end = clock.now()
    _set(engine, 1, "after")
    _set(engine, 3, "after")
    _delete(engine, 4)
    clock.advance(HOUR)
    return arn, start, end


def test_an_incremental_export_has_the_last_change_of_each_item_in_its_window(
    engine: Engine, window: tuple[str, float, float]
) -> None:
    arn, start, end = window
    changed, removed, made = _changes(engine, arn, start, ExportToTime=end)
    assert (changed["OldImage"], changed["NewImage"]) == (_image(1, "before"), _image(1, "changed"))
    micros = round((start + 10) * 1_000_000)
    assert changed["Metadata"] == {"WriteTimestampMicros": {"N": str(micros)}}
    assert removed["OldImage"] == _image(2, "before")
    assert "NewImage" not in removed
    assert made["NewImage"] == _image(4, "made")
    assert "OldImage" not in made


def test_an_incremental_export_of_new_images_has_no_old_ones(
    engine: Engine, window: tuple[str, float, float]
) -> None:
    arn, start, end = window
    records = _changes(engine, arn, start, ExportToTime=end, ExportViewType="NEW_IMAGE")
    assert [sorted(record) for record in records] == [
        ["Keys", "Metadata", "NewImage"],
        ["Keys", "Metadata"],
        ["Keys", "Metadata", "NewImage"],
    ]


def test_an_incremental_export_without_an_end_reaches_to_now(
    engine: Engine, window: tuple[str, float, float]
) -> None:
    arn, _start, end = window
    records = _changes(engine, arn, end)
    assert [record["Keys"]["pk"]["N"] for record in records] == ["1", "3", "4"]


@pytest.mark.parametrize("length", [14 * 60, 25 * HOUR])
def test_a_window_lasts_from_a_quarter_of_an_hour_to_a_day(
    engine: Engine, clock: ManualClock, length: int
) -> None:
    arn = _fill(engine, range(1))
    start = clock.now()
    clock.advance(30 * HOUR)
    with pytest.raises(InvalidExportTime, match="15 minutes"):
        _changes(engine, arn, start, ExportToTime=start + length)


def test_an_export_of_a_time_that_is_not_kept_is_refused(
    engine: Engine, clock: ManualClock
) -> None:
    arn = _fill(engine, range(1))
    request = {"TableArn": arn, "S3Bucket": "exports", "ExportTime": clock.now() - HOUR}
    with pytest.raises(InvalidExportTime, match="outside"):
        engine.call("ExportTableToPointInTime", request)


def test_changes_are_not_loaded_as_items(
    engine: Engine, window: tuple[str, float, float], tmp_path: Path
) -> None:
    arn, start, end = window
    _changes(engine, arn, start, ExportToTime=end)
    with pytest.raises(StorageError, match="give a full export"):
        list(exports.read(tmp_path / "changes"))


def test_an_export_in_ion_has_every_kind_of_value(engine: Engine, tmp_path: Path) -> None:
    arn = _fill(engine, range(0))
    item = {
        "pk": {"N": "1"},
        "text": {"S": 'a "b"'},
        "price": {"N": "-12.5"},
        "raw": {"B": "AAEC"},
        "yes": {"BOOL": True},
        "none": {"NULL": True},
        "words": {"SS": ["a", "b"]},
        "sizes": {"NS": ["1", "2.5"]},
        "blobs": {"BS": ["AA=="]},
        "list": {"L": [{"N": "7"}, {"S": "x"}]},
        "map": {"M": {"inner": {"BOOL": False}}},
    }
    engine.call("PutItem", {"TableName": "Things", "Item": item})
    request = {"TableArn": arn, "S3Bucket": "exports", "ExportFormat": "ION"}
    done = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert done["ExportFormat"] == "ION"
    [path] = (tmp_path / "exports").rglob("*.ion.gz")
    assert _unpacked(path)[0].decode() == (
        '$ion_1_0 {Item:{"pk":1.,"text":"a \\"b\\"","price":-12.5,"raw":{{AAEC}},"yes":true,'
        '"none":null,"words":$dynamodb_SS::["a","b"],"sizes":$dynamodb_NS::[1.,2.5],'
        '"blobs":$dynamodb_BS::[{{AA==}}],"list":[7.,"x"],"map":{"inner":false}}}'
    )
    engine.call(
        "ImportTable",
        {
            "S3BucketSource": {"S3Bucket": "exports"},
            "InputFormat": "ION",
            "InputCompressionType": "GZIP",
            "TableCreationParameters": _creation("Copies"),
        },
    )
    assert engine.call("Scan", {"TableName": "Copies"})["Items"] == [item]


def _import(engine: Engine, name: str, **source: str) -> dict[str, Any]:
    request = {
        "S3BucketSource": {"S3Bucket": "files", **source},
        "InputFormat": "CSV",
        "ClientToken": f"token-{name}",
        "TableCreationParameters": _creation(name),
    }
    answer: dict[str, Any] = engine.call("ImportTable", request)["ImportTableDescription"]
    return answer


def test_a_prefix_is_the_beginning_of_a_name(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "files" / "more").mkdir(parents=True)
    for name, number in (("x.csv", 1), ("x2.csv", 2), ("y.csv", 3), ("more/x.csv", 4)):
        (tmp_path / "files" / name).write_text(f"pk\n{number}\n")
    assert _import(engine, "Some", S3KeyPrefix="x")["ImportStatus"] == "COMPLETED"
    assert _numbers(engine, "Some") == {1, 2}
    _import(engine, "Inner", S3KeyPrefix="more/x")
    assert _numbers(engine, "Inner") == {4}


def test_a_failed_import_does_not_tell_where_the_server_keeps_its_files(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "rows.csv").write_bytes(b"pk\n\xff\n")
    failed = _import(engine, "Broken")
    assert failed["FailureMessage"].startswith("s3://files/rows.csv, after line")
    assert str(tmp_path) not in str(failed)


def test_exports_and_imports_tell_what_they_were_asked_with(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "rows.csv").write_text("pk\n1\n")
    assert _import(engine, "Rows")["ClientToken"] == "token-Rows"
    asked = {
        "ClientToken": "again",
        "S3BucketOwner": "1" * 12,
        "S3Prefix": "here",
        "S3SseAlgorithm": "KMS",
        "S3SseKmsKeyId": "key",
    }
    request = {"TableArn": _fill(engine, range(1)), "S3Bucket": "exports", **asked}
    export = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert {name: export[name] for name in asked} == asked


def test_imports_are_listed_by_tokens_of_the_shape_that_amazon_asks_for(
    engine: Engine, tmp_path: Path, clock: ManualClock
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "rows.csv").write_text("pk\n1\n")
    for number in range(3):
        _import(engine, f"Rows{number}")
        clock.advance(1)
    listed = []
    request: dict[str, Any] = {"PageSize": 1}
    while True:
        answer = engine.call("ListImports", request)
        listed += answer["ImportSummaryList"]
        if "NextToken" not in answer:
            break
        request["NextToken"] = answer["NextToken"]
        assert len(answer["NextToken"]) >= 112
    assert len({each["ImportArn"] for each in listed}) == 3
    assert all({"StartTime", "EndTime"} <= each.keys() for each in listed)
    with pytest.raises(ValidationError, match="112"):
        engine.call("ListImports", {"NextToken": "short"})


@pytest.mark.parametrize(
    "text",
    [
        "{Item: [1]}",
        "{Item: {pk: 2007-01-01T}}",
        "{Item: {pk: $dynamodb_NS::7}}",
        "{Item: {pk: {{YQ}}}}",
        "{Item: {pk: " + "9" * 5_000 + "}}",
        "[{Item: {pk: 1}}]",
        "7",
        "{Item: {pk: 1}",
    ],
)
def test_ion_that_is_no_item_fails_its_import_and_names_the_file(
    engine: Engine, tmp_path: Path, text: str
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "items.ion").write_text("{Item: {pk: 1}} " + text)
    request = {
        "S3BucketSource": {"S3Bucket": "files"},
        "InputFormat": "ION",
        "TableCreationParameters": _creation("Items"),
    }
    failed = engine.call("ImportTable", request)["ImportTableDescription"]
    assert failed["ImportStatus"] == "FAILED"
    assert "s3://files/items.ion, after record" in failed["FailureMessage"]
