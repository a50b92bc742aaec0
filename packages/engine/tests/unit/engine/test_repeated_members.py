"""A member that comes twice in a JSON object counts as its last, for everybody who looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.principal import HOME_ACCOUNT, Principal
from keyfold_engine.errors import AccessDenied

CALLER = Principal(f"arn:aws:iam::{HOME_ACCOUNT}:user/mia")


def table(name: str) -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        for name in ("Open", "Closed"):
            opened.call("CreateTable", table(name))
        yield opened


def scanned(engine: Engine, name: str) -> Any:
    return engine.call("Scan", {"TableName": name})["Items"]


@pytest.mark.parametrize(
    ("item", "stored"),
    [
        (b'{"pk":{"S":"a"},"pk":{"S":"b"}}', {"pk": {"S": "b"}}),
        (b'{"pk":{"S":"a","S":"b"}}', {"pk": {"S": "b"}}),
        (
            b'{"pk":{"S":"a"},"m":{"M":{"x":{"N":"1"},"x":{"N":"2"}}}}',
            {"pk": {"S": "a"}, "m": {"M": {"x": {"N": "2"}}}},
        ),
    ],
)
def test_the_last_one_is_stored(engine: Engine, item: bytes, stored: dict[str, Any]) -> None:
    engine.call_bytes("PutItem", b'{"TableName":"Open","Item":%b}' % item)
    assert scanned(engine, "Open") == [stored]


def test_a_policy_is_asked_about_the_table_that_is_written(engine: Engine) -> None:
    arn = engine.call("DescribeTable", {"TableName": "Closed"})["Table"]["TableArn"]
    statement = {
        "Effect": "Deny",
        "Principal": {"AWS": CALLER.principal},
        "Action": "dynamodb:PutItem",
        "Resource": arn,
    }
    policy = orjson.dumps({"Version": "2012-10-17", "Statement": [statement]}).decode()
    engine.call("PutResourcePolicy", {"ResourceArn": arn, "Policy": policy})
    body = b'{"TableName":"Open","TableName":"Closed","Item":{"pk":{"S":"a"}}}'
    with pytest.raises(AccessDenied):
        engine.call_bytes_as(CALLER, "PutItem", body)
    other = b'{"TableName":"Closed","TableName":"Open","Item":{"pk":{"S":"a"}}}'
    engine.call_bytes_as(CALLER, "PutItem", other)
    assert (scanned(engine, "Open"), scanned(engine, "Closed")) == ([{"pk": {"S": "a"}}], [])
