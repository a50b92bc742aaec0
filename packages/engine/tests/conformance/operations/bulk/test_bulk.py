"""Bulk operations: StartBulkPutItems and its relatives, through the engine and boto3."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.conformance.operations.conftest import reached

from keyfold_engine.clients.protocol import Client
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import (
    IdempotentParameterMismatch,
    TableInUse,
    TableNotFound,
    ValidationError,
)
from keyfold_engine.wire.background import BackgroundServer

_TABLE: dict[str, Any] = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
_START: dict[str, Any] = {
    "TableName": "Orders",
    "InputS3Configuration": {
        "S3Bucket": "input",
        "S3KeyPrefix": "orders",
        "InputFormat": "DYNAMODB_JSON",
    },
    "OutputS3Configuration": {"OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]},
}


def _write(directory: Path, name: str, *records: Any) -> None:
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path = directory / "input" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def _item(key: str, **attributes: Any) -> dict[str, Any]:
    return {"Item": {"pk": {"S": key}, **attributes}}


@pytest.fixture
def backend(tmp_path: Path, way: str) -> Iterator[Client]:
    with Engine.open(buckets=tmp_path) as engine, reached(engine, way) as client:
        client.call("CreateTable", _TABLE)
        yield client


def _run(backend: Client, **changes: Any) -> dict[str, Any]:
    """Start an operation and wait until it has ended."""
    started = backend.call("StartBulkPutItems", {**_START, **changes})
    return _ended(backend, started["BulkOperationDescription"]["BulkOperationArn"])


def _ended(backend: Client, arn: str) -> dict[str, Any]:
    from time import sleep

    for _ in range(3_000):
        told = backend.call("DescribeBulkOperation", {"BulkOperationArn": arn})
        description: dict[str, Any] = told["BulkOperationDescription"]
        if "EndTime" in description:
            return description
        sleep(0.01)
    raise AssertionError("the operation did not end in half a minute")


def _keys(backend: Client) -> set[str]:
    return {item["pk"]["S"] for item in backend.call("Scan", {"TableName": "Orders"})["Items"]}


def _reports(directory: Path, told: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    place = directory / "input" / "AWSDynamoDB" / told["BulkOperationArn"].rpartition("/")[2]
    lines = (place / "data" / f"{kind}.json").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_items_of_all_objects_under_a_text_prefix_are_put(backend: Client, tmp_path: Path) -> None:
    _write(tmp_path, "orders.json", *(_item(f"a{n}", g={"S": "g"}) for n in range(450)))
    _write(tmp_path, "orders-more/1.json.gz", _item("b"))
    _write(tmp_path, "other.json", _item("c"))
    told = _run(backend)
    assert told["BulkOperationStatus"] == "COMPLETED"
    assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (451, 0)
    assert "FailureCode" not in told
    assert _keys(backend) == {"b", *(f"a{n}" for n in range(450))}
    [usage] = told["BulkOperationUsage"]
    assert usage["GlobalSecondaryIndexes"]["by_g"]["BulkPutBytes"] > 0
    query = {
        "TableName": "Orders",
        "IndexName": "by_g",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}},
        "Select": "COUNT",
    }
    assert backend.call("Query", query)["Count"] == 450


def test_a_run_that_fails_half_way_tells_which_records(backend: Client, tmp_path: Path) -> None:
    wrong = {"Item": {"name": {"S": "no key"}}}
    _write(tmp_path, "orders.json", _item("a"), "not json", wrong, _item("b"))
    told = _run(backend)
    assert told["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (4, 2)
    assert _keys(backend) == {"a", "b"}
    reports = _reports(tmp_path, told, "error")
    assert [report["Line"] for report in reports] == [2, 3]
    assert reports[1]["Reason"].endswith("Missing the key pk in the item")


def test_conditions_keep_what_is_there(backend: Client, tmp_path: Path) -> None:
    backend.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "a"}, "n": {"N": "1"}}})
    guarded = {**_item("a", n={"N": "2"}), "ConditionExpression": "attribute_not_exists(pk)"}
    _write(tmp_path, "orders.json", guarded, _item("b"))
    told = _run(backend)
    assert told["BulkOperationStatus"] == "COMPLETED"
    assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (2, 0)
    [report] = _reports(tmp_path, told, "condition-check-failure")
    assert report == {
        "Item": {"pk": {"S": "a"}, "n": {"N": "2"}},
        "ExistingItem": {"pk": {"S": "a"}, "n": {"N": "1"}},
    }


def test_an_input_that_is_not_there_fails_without_telling_where_it_would_be(
    backend: Client, tmp_path: Path
) -> None:
    told = _run(backend)
    assert (told["BulkOperationStatus"], told["FailureCode"]) == ("FAILED", "InvalidSource")
    assert str(tmp_path) not in told["FailureMessage"]


def test_a_damaged_object_fails_the_operation(backend: Client, tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "orders.json.gz").write_bytes(b"not gzip")
    told = _run(backend)
    assert told["BulkOperationStatus"] == "FAILED"
    assert str(tmp_path) not in told["FailureMessage"]


def test_a_packed_object_needs_no_ending_in_its_name(backend: Client, tmp_path: Path) -> None:
    _write(tmp_path, "orders.json.gz", _item("a"))
    (tmp_path / "input" / "orders.json.gz").rename(tmp_path / "input" / "orders-1")
    packed = {**_START["InputS3Configuration"], "InputCompressionType": "GZIP"}
    assert _run(backend, InputS3Configuration=packed)["BulkOperationStatus"] == "COMPLETED"
    assert [item["pk"] for item in backend.call("Scan", {"TableName": "Orders"})["Items"]] == [
        {"S": "a"}
    ]


def test_a_token_starts_one_operation(backend: Client, tmp_path: Path) -> None:
    _write(tmp_path, "orders.json", _item("a"))
    first = _run(backend, ClientToken="token")
    again = _run(backend, ClientToken="token")
    assert again["BulkOperationArn"] == first["BulkOperationArn"]
    [listed] = backend.call("ListBulkOperations", {})["BulkOperationsSummaryList"]
    assert listed["BulkOperationArn"] == first["BulkOperationArn"]
    with pytest.raises(IdempotentParameterMismatch):
        _run(backend, ClientToken="token", PerformanceTier="ACCELERATED")


def test_what_cannot_be_started(backend: Client) -> None:
    with pytest.raises(TableNotFound):
        _run(backend, TableName="Nowhere")
    ion = {**_START["InputS3Configuration"], "InputFormat": "ION"}
    with pytest.raises(ValidationError, match="DYNAMODB_JSON, plain or in GZIP"):
        _run(backend, InputS3Configuration=ion)
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/bulk/1"
    with pytest.raises(TableNotFound):
        backend.call("CancelBulkOperation", {"BulkOperationArn": arn})


def test_an_operation_is_cancelled_and_its_table_is_in_use_until_then(tmp_path: Path) -> None:
    _write(tmp_path, "orders.json", _item("a"))
    clock = ManualClock()
    with Engine.open(buckets=tmp_path, clock=clock, delays="amazon") as engine:
        engine.call("CreateTable", _TABLE)
        started = engine.call("StartBulkPutItems", _START)["BulkOperationDescription"]
        assert started["BulkOperationStatus"] == "IN_PROGRESS"
        with pytest.raises(TableInUse):
            engine.call("DeleteTable", {"TableName": "Orders"})
        arn = {"BulkOperationArn": started["BulkOperationArn"]}
        assert engine.call("CancelBulkOperation", arn)["BulkOperationStatus"] == "CANCELLING"
        assert _ended(engine, arn["BulkOperationArn"])["BulkOperationStatus"] == "CANCELLED"
        assert _keys(engine) == set()
        cancelled = engine.call("CancelBulkOperation", arn)
        assert cancelled["BulkOperationStatus"] == "CANCELLED"


def test_an_operation_goes_on_after_a_restart(tmp_path: Path) -> None:
    _write(tmp_path, "orders.json", *(_item(f"a{n}") for n in range(500)))
    clock = ManualClock()
    with Engine.open(
        tmp_path / "data.db", buckets=tmp_path, clock=clock, delays="amazon"
    ) as engine:
        engine.call("CreateTable", _TABLE)
        started = engine.call("StartBulkPutItems", _START)["BulkOperationDescription"]
    clock.advance(60)
    with Engine.open(
        tmp_path / "data.db", buckets=tmp_path, clock=clock, delays="amazon"
    ) as engine:
        told = _ended(engine, started["BulkOperationArn"])
        assert (told["BulkOperationStatus"], told["ProcessedItemCount"]) == ("COMPLETED", 500)
        assert len(_keys(engine)) == 500


def test_boto3_starts_waits_and_lists(tmp_path: Path) -> None:
    _write(tmp_path, "orders.json", _item("a"))
    with Engine.open(buckets=tmp_path) as engine, BackgroundServer(engine) as server:
        client: Any = boto3.client(
            "dynamodb",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        client.create_table(**_TABLE)
        arns = []
        for _ in range(3):
            started = client.start_bulk_put_items(**_START)["BulkOperationDescription"]
            arns.append(started["BulkOperationArn"])
            waiter = client.get_waiter("bulk_operation_completed")
            waiter.wait(BulkOperationArn=arns[-1], WaiterConfig={"Delay": 1})
        pages = client.get_paginator("list_bulk_operations").paginate(
            PaginationConfig={"PageSize": 2}
        )
        listed = [each for page in pages for each in page["BulkOperationsSummaryList"]]
        assert {each["BulkOperationArn"] for each in listed} == set(arns)
        assert all(each["BulkOperationStatus"] == "COMPLETED" for each in listed)
        assert len(client.scan(TableName="Orders")["Items"]) == 1
