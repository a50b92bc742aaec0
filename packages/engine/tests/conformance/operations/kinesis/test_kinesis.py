"""Kinesis destinations. Words and states as measured on Amazon, October 2026 (`ack-api-quirks`)."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import TableNotFound, ValidationError
from keyfold_engine.wire.background import BackgroundServer

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

_ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
_STATE = "Table is not in a valid state to {} Kinesis Streaming Destination: "
_TABLE: dict[str, Any] = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


def _of(table: str, arn: str = _ARN) -> dict[str, Any]:
    return {"TableName": table, "StreamArn": arn}


def _told(call: Call, table: str) -> list[dict[str, Any]]:
    answer = call("DescribeKinesisStreamingDestination", {"TableName": table})
    destinations: list[dict[str, Any]] = answer["KinesisDataStreamDestinations"]
    return destinations


def test_without_a_place_to_deliver_to_enabling_fails_in_words(call: Call, table: str) -> None:
    answer = call("EnableKinesisStreamingDestination", _of(table))
    assert answer == {
        "TableName": table,
        "StreamArn": _ARN,
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": {},
    }
    [told] = _told(call, table)
    assert told["DestinationStatus"] == "ENABLE_FAILED"
    assert "open the engine with kinesis=" in told["DestinationStatusDescription"]


def test_a_stream_of_another_region_fails_later(call: Call, table: str) -> None:
    call("EnableKinesisStreamingDestination", _of(table, _ARN.replace("us-east-1", "eu-west-1")))
    [told] = _told(call, table)
    assert told["DestinationStatusDescription"] == (
        "The kinesis Arn used to enable kinesis replication belongs to a stream which is not in "
        "the current region"
    )


def test_what_was_never_attached_cannot_be_changed(call: Call, table: str) -> None:
    with pytest.raises(ValidationError) as refused:
        call("DisableKinesisStreamingDestination", _of(table))
    assert refused.value.message == (
        f"{_STATE.format('disable')}KinesisStreamingDestination must be ACTIVE to perform DISABLE "
        "operation."
    )
    with pytest.raises(ValidationError) as refused:
        call("UpdateKinesisStreamingDestination", _of(table))
    assert refused.value.message == (
        "Streaming destination cannot be updated with given parameters: "
        "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
    )
    with pytest.raises(TableNotFound):
        call("DescribeKinesisStreamingDestination", {"TableName": "Nowhere"})


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_700_000_000.25)


@pytest.fixture
def engine(tmp_path: Path, clock: ManualClock) -> Iterator[Engine]:
    with Engine.open(clock=clock, kinesis=tmp_path / "kinesis") as engine:
        engine.call("CreateTable", _TABLE)
        yield engine


def _delivered(engine: Engine, directory: Path) -> list[dict[str, Any]]:
    engine.deliver()
    lines = (directory / "kinesis" / "changes.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_changes_are_delivered_with_both_images(engine: Engine, tmp_path: Path) -> None:
    engine.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "before"}}})
    engine.call("EnableKinesisStreamingDestination", _of("Orders"))
    assert _told(engine.call, "Orders") == [{"StreamArn": _ARN, "DestinationStatus": "ACTIVE"}]
    engine.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "a"}, "n": {"N": "1"}}})
    engine.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "a"}, "n": {"N": "1"}}})
    engine.call("DeleteItem", {"TableName": "Orders", "Key": {"pk": {"S": "a"}}})
    first, last = _delivered(engine, tmp_path)
    assert first["eventName"] == "INSERT"
    assert first["tableName"] == "Orders"
    assert first["dynamodb"] == {
        "Keys": {"pk": {"S": "a"}},
        "NewImage": {"pk": {"S": "a"}, "n": {"N": "1"}},
        "ApproximateCreationDateTime": 1_700_000_000_250,
        "SizeBytes": 9,
    }
    assert (last["eventName"], last["dynamodb"]["OldImage"]["n"]) == ("REMOVE", {"N": "1"})
    engine.call("DisableKinesisStreamingDestination", _of("Orders"))
    engine.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "after"}}})
    assert len(_delivered(engine, tmp_path)) == 2


def test_one_destination_at_a_time_and_a_second_precision(engine: Engine, tmp_path: Path) -> None:
    engine.call("EnableKinesisStreamingDestination", _of("Orders"))
    with pytest.raises(ValidationError) as refused:
        engine.call("EnableKinesisStreamingDestination", _of("Orders", f"{_ARN}2"))
    assert refused.value.message == (
        f"{_STATE.format('enable')}EnableKinesisStreamingDestination must be DISABLED or "
        "ENABLE_FAILED to perform ENABLE operation."
    )
    micro = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    update = {**_of("Orders"), "UpdateKinesisStreamingConfiguration": micro}
    engine.call("UpdateKinesisStreamingDestination", update)
    with pytest.raises(ValidationError, match="Precision is already set to the desired value of"):
        engine.call("UpdateKinesisStreamingDestination", update)
    engine.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "a"}}})
    [record] = _delivered(engine, tmp_path)
    assert record["dynamodb"]["ApproximateCreationDateTime"] == 1_700_000_000_250_000
    assert record["dynamodb"]["ApproximateCreationDateTimePrecision"] == "MICROSECOND"


def test_states_take_their_time_by_the_clock(tmp_path: Path) -> None:
    clock = ManualClock()
    with Engine.open(clock=clock, kinesis=tmp_path, delays="amazon") as engine:
        engine.call("CreateTable", _TABLE)
        engine.call("EnableKinesisStreamingDestination", _of("Orders"))
        assert _told(engine.call, "Orders")[0]["DestinationStatus"] == "ENABLING"
        with pytest.raises(ValidationError):
            engine.call("DisableKinesisStreamingDestination", _of("Orders"))
        clock.advance(6)
        assert _told(engine.call, "Orders")[0]["DestinationStatus"] == "ACTIVE"
        engine.call("DisableKinesisStreamingDestination", _of("Orders"))
        assert _told(engine.call, "Orders")[0]["DestinationStatus"] == "DISABLING"
        clock.advance(3)
        assert _told(engine.call, "Orders")[0]["DestinationStatus"] == "DISABLED"


class _Stream(BaseHTTPRequestHandler):
    """A server that takes what Kinesis takes, and fails the first time."""

    requests: list[dict[str, Any]]
    failures = 1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if type(self).failures:
            type(self).failures -= 1
            self.send_error(503)
            return
        assert self.headers["X-Amz-Target"] == "Kinesis_20131202.PutRecords"
        self.requests.append(json.loads(body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_server_gets_records_again_until_it_takes_them() -> None:
    taken: list[dict[str, Any]] = []
    handler = type("Stream", (_Stream,), {"requests": taken})
    with HTTPServer(("127.0.0.1", 0), handler) as stream:
        Thread(target=stream.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{stream.server_address[1]}/"
        with Engine.open(kinesis=url) as engine, BackgroundServer(engine) as server:
            client: Any = boto3.client(
                "dynamodb",
                endpoint_url=server.url,
                region_name="us-east-1",
                aws_access_key_id="a",
                aws_secret_access_key="b",
            )
            client.create_table(**_TABLE)
            client.enable_kinesis_streaming_destination(TableName="Orders", StreamArn=_ARN)
            waiter = client.get_waiter("kinesis_streaming_destination_active")
            waiter.wait(TableName="Orders")
            for number in range(3):
                client.put_item(TableName="Orders", Item={"pk": {"S": f"k{number}"}})
            waiting = Thread(target=_until, args=(taken, 3))
            waiting.start()
            waiting.join(30)
        stream.shutdown()
    records = [record for request in taken for record in request["Records"]]
    assert [record["PartitionKey"] for record in records][-3:] == ["k0", "k1", "k2"]
    assert json.loads(b64decode(records[-1]["Data"]))["eventName"] == "INSERT"


def _until(taken: list[dict[str, Any]], records: int) -> None:
    from time import sleep

    for _ in range(3_000):
        if sum(len(request["Records"]) for request in taken) >= records:
            return
        sleep(0.01)


def test_a_server_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError, match="a directory or a server of this machine"):
        Engine.open(kinesis="http://kinesis.example.com")
