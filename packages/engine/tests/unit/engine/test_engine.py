"""The engine's own face: operations by name, requests as dictionaries and as bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, Faults
from keyfold_engine.errors import (
    SerializationError,
    TableNotFound,
    UnknownOperation,
    ValidationError,
)
from keyfold_engine.limits import TRANSACTION_TOKEN_SECONDS

CreateTable = Callable[..., None]


def test_bytes_and_dictionaries_answer_the_same(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Both", sort="sk:N")
    for number in range(3):
        item = {"pk": {"S": "a"}, "sk": {"N": str(number)}, "text": {"S": "\u20ac"}}
        engine.call("PutItem", {"TableName": "Both", "Item": item})
    query = {
        "TableName": "Both",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
        "ReturnConsumedCapacity": "TOTAL",
    }
    filtered = {
        **query,
        "FilterExpression": "attribute_exists(#t)",
        "ExpressionAttributeNames": {"#t": "text"},
    }
    key = {"pk": {"S": "a"}, "sk": {"N": "1"}}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("Query", query),
        ("Query", {**query, "Limit": 2}),
        ("Query", {**query, "ExpressionAttributeValues": {":p": {"S": "nobody"}}}),
        ("Query", filtered),
        ("Scan", {"TableName": "Both"}),
        ("GetItem", {"TableName": "Both", "Key": key}),
        ("BatchGetItem", {"RequestItems": {"Both": {"Keys": [key]}}}),
    ]
    for operation, request in requests:
        told = engine.call_bytes(operation, orjson.dumps(request))
        assert orjson.loads(told) == engine.call(operation, request)


def test_several_calls_share_a_commit_and_fail_alone(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Shared")

    def put(key: str) -> tuple[str, bytes]:
        request = {"TableName": "Shared", "Item": {"pk": {"S": key}}}
        return "PutItem", orjson.dumps(request)

    first, wrong, last = engine.call_many_bytes([put("a"), put(""), put("b")])
    assert (first, last) == (b"{}", b"{}")
    assert isinstance(wrong, ValidationError)
    assert engine.call("Scan", {"TableName": "Shared"})["Count"] == 2


def test_an_unknown_operation_is_refused(engine: Engine) -> None:
    with pytest.raises(UnknownOperation):
        engine.call("DropEverything", {})


def test_a_body_that_is_not_json_is_refused(engine: Engine) -> None:
    with pytest.raises(SerializationError):
        engine.call_bytes("ListTables", b"{not json")


def test_text_that_is_not_unicode_is_refused(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Texts")
    for item in ({"pk": {"S": "\ud800"}}, {"pk": {"S": "a"}, "\udfff": {"S": "x"}}):
        with pytest.raises(SerializationError, match="not valid Unicode"):
            engine.call("PutItem", {"TableName": "Texts", "Item": item})
    assert engine.call("Scan", {"TableName": "Texts"})["Count"] == 0


def test_a_table_of_another_account_is_not_ours(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Ours")
    theirs = "arn:aws:dynamodb:us-east-1:999999999999:table/Ours"
    with pytest.raises(TableNotFound):
        engine.call("Scan", {"TableName": theirs})


def test_answers_do_not_share_what_the_caller_gave(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Copies")
    item: dict[str, Any] = {"pk": {"S": "a"}, "list": {"L": [{"S": "x"}]}}
    engine.call("PutItem", {"TableName": "Copies", "Item": item})
    item["list"]["L"].append({"S": "y"})
    found = engine.call("GetItem", {"TableName": "Copies", "Key": {"pk": {"S": "a"}}})["Item"]
    assert found["list"] == {"L": [{"S": "x"}]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"durability": "perfect"}, "unknown durability 'perfect'"),
        ({"dialect": "klingon"}, "unknown dialect 'klingon'"),
        ({"index_lag": -1.0}, "index_lag is seconds"),
        ({"index_lag": (3.0, 1.0)}, "index_lag is seconds"),
        ({"index_lag": "soon"}, "index_lag is seconds"),
        ({"stream_shards": 0}, "at least one shard"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Engine.open(**settings)


def test_a_probability_that_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="throttle is a probability"):
        Faults(throttle=5)


def test_tokens_of_transactions_do_not_pile_up(tmp_path: Path, create_table: CreateTable) -> None:
    path, clock = tmp_path / "tokens.db", ManualClock()
    with Engine.open(path, clock=clock, durability="memory") as engine:
        create_table(engine, "Tokens")
        for number in range(10):
            if number == 5:
                clock.advance(TRANSACTION_TOKEN_SECONDS + 1)
            part = {"Put": {"TableName": "Tokens", "Item": {"pk": {"S": "k"}}}}
            engine.call(
                "TransactWriteItems",
                {"TransactItems": [part], "ClientRequestToken": f"token {number}"},
            )
    rows = apsw.Connection(str(path)).execute("SELECT token FROM tokens ORDER BY token")
    assert [token for (token,) in rows.fetchall()] == [f"token {n}" for n in range(5, 10)]
