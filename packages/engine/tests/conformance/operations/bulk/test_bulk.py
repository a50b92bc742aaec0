"""Bulk operations: StartBulkPutItems and its relatives, through the engine and boto3."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import boto3
import pytest
from backports import zstd
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
from keyfold_engine.features.replicas import Regions
from keyfold_engine.features.transfer import exports
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


def _run(backend: Client | Engine, **changes: Any) -> dict[str, Any]:
    """Start an operation and wait until it has ended."""
    started = backend.call("StartBulkPutItems", {**_START, **changes})
    return _ended(backend, started["BulkOperationDescription"]["BulkOperationArn"])


def _ended(backend: Client | Engine, arn: str) -> dict[str, Any]:
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
    assert [(report["Object"], report["Line"]) for report in reports] == [
        ("orders.json", 2),
        ("orders.json", 3),
    ]
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


def test_a_damaged_object_is_told_and_the_others_are_read(backend: Client, tmp_path: Path) -> None:
    _write(tmp_path, "orders-2.json", _item("a"))
    (tmp_path / "input" / "orders-1.json.gz").write_bytes(b"not gzip")
    cut = gzip.compress("".join(json.dumps(_item(f"b{n}")) + "\n" for n in range(999)).encode())
    (tmp_path / "input" / "orders-3.json.gz").write_bytes(cut[:-20])
    told = _run(backend)
    assert told["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert told["FailedItemCount"] == 2
    assert "a" in _keys(backend)
    assert told["ProcessedInputBytes"] == told["TotalInputBytes"]
    reports = _reports(tmp_path, told, "error")
    assert [report["Object"] for report in reports] == ["orders-1.json.gz", "orders-3.json.gz"]
    assert str(tmp_path) not in json.dumps(reports)


ION = """
$ion_1_0
{Item: {pk: "a", n: 103., "long name": 6d2, i: 7, t: true, nothing: null, b: {{aGk=}},
        l: ["x", {k: 1.5}], ss: $dynamodb_SS::["x", "y"], ns: $dynamodb_NS::[2., 1.]}}
{Item: {pk: "old"}, ConditionExpression: "attribute_not_exists(#key) AND :one = :one",
 ExpressionAttributeNames: {'#key': "pk"}, ExpressionAttributeValues: {':one': 1}}
{Item: {pk: sym}}
7
{Item: {pk: "set", ns: $dynamodb_NS::7}}
{Item: [1]}
{Item: {pk: "z"}}
"""


def _ion(name: str, tmp_path: Path, content: bytes) -> dict[str, Any]:
    path = tmp_path / "input" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return {**_START["InputS3Configuration"], "InputFormat": "ION"}


def test_items_come_in_ion(backend: Client, tmp_path: Path) -> None:
    backend.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "old"}}})
    told = _run(backend, InputS3Configuration=_ion("orders.ion", tmp_path, ION.encode()))
    assert told["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (7, 4)
    assert _keys(backend) == {"a", "old", "z"}
    key = {"TableName": "Orders", "Key": {"pk": {"S": "a"}}}
    assert backend.call("GetItem", key)["Item"] == {
        "pk": {"S": "a"},
        "n": {"N": "103"},
        "long name": {"N": "600"},
        "i": {"N": "7"},
        "t": {"BOOL": True},
        "nothing": {"NULL": True},
        "b": {"B": "aGk="},
        "l": {"L": [{"S": "x"}, {"M": {"k": {"N": "1.5"}}}]},
        "ss": {"SS": ["x", "y"]},
        "ns": {"NS": ["1", "2"]},
    }
    [existing] = _reports(tmp_path, told, "condition-check-failure")
    assert existing == {"Item": {"pk": {"S": "old"}}, "ExistingItem": {"pk": {"S": "old"}}}
    reports = _reports(tmp_path, told, "error")
    assert [(report["Line"], report["Reason"]) for report in reports] == [
        (3, "not a record of an item: DynamoDB has nothing for symbol of Ion"),
        (4, "not a record of an item: not a struct with an Item"),
        (5, "not a record of an item: $dynamodb_NS is not a list"),
        (6, "not a record of an item: not a struct with names and values"),
    ]


def test_ion_that_ends_in_nonsense_is_read_so_far(backend: Client, tmp_path: Path) -> None:
    cut = ION.encode() + b"{Item: {pk: " + b"[" * 100_000
    told = _run(backend, InputS3Configuration=_ion("orders.10n", tmp_path, cut))
    assert told["FailedItemCount"] == 5
    assert _keys(backend) == {"a", "old", "z"}
    assert (
        "the rest of the object cannot be read" in _reports(tmp_path, told, "error")[-1]["Reason"]
    )


def test_input_is_packed_by_zstandard(backend: Client, tmp_path: Path) -> None:
    packed = {**_START["InputS3Configuration"], "InputCompressionType": "ZSTD"}
    line = json.dumps(_item("a")).encode() + b"\n"
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "orders-1").write_bytes(zstd.compress(line) + zstd.compress(b"\n"))
    (tmp_path / "input" / "orders-2").write_bytes(zstd.compress(line * 9)[:-4])
    told = _run(backend, InputS3Configuration=packed)
    assert _keys(backend) == {"a"}
    [report] = _reports(tmp_path, told, "error")
    assert report["Object"] == "orders-2"


def test_a_format_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("amazon.ion.simpleion", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with Engine.open(buckets=tmp_path) as engine:
        engine.call("CreateTable", _TABLE)
        for member, name in (("InputFormat", "ION"), ("InputCompressionType", "ZSTD")):
            source = {**_START["InputS3Configuration"], member: name}
            with pytest.raises(ValidationError) as caught:
                engine.call("StartBulkPutItems", {**_START, "InputS3Configuration": source})
            assert caught.value.message == (
                f"This engine cannot read {name}; install its formats: "
                "pip install 'keyfold-engine[formats]'"
            )


def test_a_long_object_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, "orders.json", *(_item(f"a{n}") for n in range(1_000)))
    lines = 0

    def counted(file: BinaryIO) -> Iterator[bytes]:
        nonlocal lines
        for line in file:
            lines += 1
            yield line

    monkeypatch.setattr(exports, "lines", counted)
    with Engine.open(buckets=tmp_path) as engine:
        engine.call("CreateTable", _TABLE)
        assert _run(engine)["ProcessedItemCount"] == 1_000
    assert lines == 1_000


def test_global_tables_take_no_bulk_operation(tmp_path: Path) -> None:
    _write(tmp_path, "orders.json", _item("a"))
    joining = {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}
    with Regions(buckets=tmp_path, delays="amazon", clock=ManualClock()) as regions:
        engine = regions.engine("us-east-1")
        for name in ("Orders", "Global"):
            engine.call("CreateTable", {**_TABLE, "TableName": name})
        engine.call("UpdateTable", {"TableName": "Global", **joining})
        with pytest.raises(ValidationError, match="does not support global tables: Global"):
            engine.call("StartBulkPutItems", {**_START, "TableName": "Global"})
        engine.call("StartBulkPutItems", _START)
        with pytest.raises(TableInUse, match="by a bulk operation: Orders"):
            engine.call("UpdateTable", {"TableName": "Orders", **joining})


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
