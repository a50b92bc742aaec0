"""Exports with a FilterSpecification: only what it takes is exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import ValidationError
from keyfold_engine.features.transfer import exports

_ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(tmp_path: Path, clock: ManualClock) -> Iterator[Engine]:
    with Engine.open(buckets=tmp_path, clock=clock) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "Orders",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "N"},
                ],
            },
        )
        recovery = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": "Orders", "PointInTimeRecoverySpecification": recovery},
        )
        for pk, sk, total in (("a", 1, 10), ("a", 2, 20), ("b", 1, 30)):
            item = {"pk": {"S": pk}, "sk": {"N": str(sk)}, "total": {"N": str(total)}}
            engine.call("PutItem", {"TableName": "Orders", "Item": item})
        yield engine


def _exported(engine: Engine, directory: Path, specification: dict[str, Any]) -> list[Any]:
    request = {"TableArn": _ARN, "S3Bucket": "out", "FilterSpecification": specification}
    told = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert told["FilterSpecification"] == specification
    folder = directory / "out" / Path(told["ExportManifest"]).parent
    found = [orjson.loads(body) for body in exports.read(folder)]
    assert told["ItemCount"] == len(found)
    return sorted(found, key=orjson.dumps)


def test_a_filter_takes_what_it_says(engine: Engine, tmp_path: Path) -> None:
    found = _exported(
        engine,
        tmp_path,
        {
            "FilterExpression": "#t > :t",
            "ExpressionAttributeNames": {"#t": "total"},
            "ExpressionAttributeValues": {":t": {"N": "15"}},
        },
    )
    assert [item["total"]["N"] for item in found] == ["20", "30"]


def test_a_key_condition_and_a_projection(engine: Engine, tmp_path: Path) -> None:
    found = _exported(
        engine,
        tmp_path,
        {
            "KeyConditionExpression": "pk = :p AND sk >= :s",
            "ProjectionExpression": "sk",
            "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"N": "2"}},
        },
    )
    assert found == [{"sk": {"N": "2"}}]


def test_the_newest_image_decides_what_an_incremental_export_takes(
    engine: Engine, tmp_path: Path, clock: ManualClock
) -> None:
    start = clock.now() + 1
    clock.advance(60)
    for pk, total in (("a", 100), ("b", 1)):
        item = {"pk": {"S": pk}, "sk": {"N": "1"}, "total": {"N": str(total)}}
        engine.call("PutItem", {"TableName": "Orders", "Item": item})
    clock.advance(1000)
    request = {
        "TableArn": _ARN,
        "S3Bucket": "out",
        "ExportType": "INCREMENTAL_EXPORT",
        "IncrementalExportSpecification": {"ExportFromTime": start, "ExportToTime": clock.now()},
        "FilterSpecification": {
            "FilterExpression": "#t > :t",
            "ExpressionAttributeNames": {"#t": "total"},
            "ExpressionAttributeValues": {":t": {"N": "15"}},
        },
    }
    told = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert told["ItemCount"] == 1


def test_a_wrong_filter_is_refused_and_nothing_is_exported(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="Invalid FilterExpression"):
        _exported(engine, tmp_path, {"FilterExpression": "total >"})
    assert engine.call("ListExports", {"TableArn": _ARN})["ExportSummaries"] == []
    assert not (tmp_path / "out").exists()
