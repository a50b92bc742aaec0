from __future__ import annotations

from typing import Any

import boto3
import botocore.config
import pytest

from keyfold_engine.clients import connect, connect_async
from keyfold_engine.clients.address import AddressError
from keyfold_engine.errors import ConditionFailed, KeyfoldError, TransactionCanceled, Unreachable

ITEM = {
    "pk": {"S": "1"},
    "b": {"B": "AAEC"},
    "bs": {"BS": ["AAEC", "/w=="]},
    "m": {"M": {"B": {"S": "a key named B"}, "BS": {"L": [{"B": "AA=="}]}}},
}
PUT = {"TableName": "Things", "Item": ITEM}
GET = {"TableName": "Things", "Key": {"pk": {"S": "1"}}}
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}


@pytest.fixture
def boto_client(url: str) -> Any:
    return boto3.client("dynamodb", endpoint_url=url, **KEYS)


def test_a_boto3_client_stands_in_for_ours(boto_client: Any, url: str) -> None:
    through_boto, ours = connect(boto_client), connect(url)
    through_boto.call("PutItem", PUT)
    assert through_boto.call("GetItem", GET) == ours.call("GetItem", GET) == {"Item": ITEM}
    described = through_boto.call("DescribeTable", {"TableName": "Things"})
    created = described["Table"]["CreationDateTime"]
    assert created == pytest.approx(
        ours.call("DescribeTable", {"TableName": "Things"})["Table"]["CreationDateTime"], abs=1
    )
    ours.close()


def test_its_errors_become_ours(boto_client: Any) -> None:
    client = connect(boto_client)
    client.call("PutItem", PUT)
    conditional = {**PUT, "ConditionExpression": "attribute_not_exists(pk)"}
    with pytest.raises(ConditionFailed) as failed:
        client.call("PutItem", {**conditional, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    assert failed.value.item == ITEM
    with pytest.raises(TransactionCanceled) as canceled:
        client.call("TransactWriteItems", {"TransactItems": [{"Put": conditional}]})
    assert [reason.code for reason in canceled.value.reasons] == ["ConditionalCheckFailed"]


def test_nobody_there_is_unreachable() -> None:
    config = botocore.config.Config(retries={"total_max_attempts": 1})
    client = boto3.client("dynamodb", endpoint_url="http://127.0.0.1:9", config=config, **KEYS)
    with pytest.raises(Unreachable) as caught:
        connect(client).call("GetItem", GET)
    assert not caught.value.sent


async def test_from_an_event_loop(boto_client: Any) -> None:
    client = connect_async(boto_client)
    await client.call("PutItem", PUT)
    assert await client.call("GetItem", GET) == {"Item": ITEM}
    await client.close()


def test_a_session_brings_streams_too(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    client = connect(boto3.Session(**KEYS))
    assert client.call("ListStreams", {}) == {"Streams": []}


def test_a_client_alone_has_no_streams(boto_client: Any) -> None:
    with pytest.raises(KeyfoldError, match="give the boto3 session instead"):
        connect(boto_client).call("ListStreams", {})


@pytest.mark.parametrize("wrong", [42, boto3.client("sqs", **KEYS)])
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(AddressError, match="a boto3 session or its DynamoDB client"):
        connect(wrong)
