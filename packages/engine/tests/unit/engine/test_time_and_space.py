"""What time takes back: tokens of transactions, and the room of items that are gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import IdempotentParameterMismatch, ValidationError

CreateTable = Callable[..., None]


def _adding(amount: int) -> dict[str, Any]:
    update = {
        "TableName": "Things",
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": "ADD n :n",
        "ExpressionAttributeValues": {":n": {"N": str(amount)}},
    }
    return {"TransactItems": [{"Update": update}], "ClientRequestToken": "once"}


def _count(engine: Engine) -> str:
    found = engine.call("GetItem", {"TableName": "Things", "Key": {"pk": {"S": "a"}}})
    number: str = found["Item"]["n"]["N"]
    return number


def test_a_token_holds_for_ten_minutes(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Things")
    engine.call("TransactWriteItems", _adding(1))
    clock.advance(599)
    engine.call("TransactWriteItems", _adding(1))
    with pytest.raises(IdempotentParameterMismatch):
        engine.call("TransactWriteItems", _adding(2))
    assert _count(engine) == "1"
    clock.advance(602)
    engine.call("TransactWriteItems", _adding(2))
    assert _count(engine) == "3"


@pytest.mark.parametrize(("key", "limit"), [("pk", 2048), ("sk", 1024)])
def test_a_key_is_as_long_as_dynamodb_takes(
    engine: Engine, create_table: CreateTable, key: str, limit: int
) -> None:
    create_table(engine, "Things", "pk:S", "sk:S")
    item = {"pk": {"S": "p"}, "sk": {"S": "s"}}
    engine.call("PutItem", {"TableName": "Things", "Item": {**item, key: {"S": "x" * limit}}})
    longer = {**item, key: {"S": "x" * (limit + 1)}}
    with pytest.raises(ValidationError, match=str(limit)):
        engine.call("PutItem", {"TableName": "Things", "Item": longer})


@pytest.mark.parametrize("by", ["delete", "expiry"])
def test_deleted_and_expired_items_give_their_room_back(
    tmp_path: Path, clock: ManualClock, create_table: CreateTable, by: str
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path, clock=clock, durability="relaxed") as engine:
        create_table(engine, "Things")
        if by == "expiry":
            specification = {"Enabled": True, "AttributeName": "ttl"}
            engine.call(
                "UpdateTimeToLive",
                {"TableName": "Things", "TimeToLiveSpecification": specification},
            )
        for number in range(300):
            item = {"pk": {"S": str(number)}, "data": {"S": "x" * 10_000}}
            item["ttl"] = {"N": str(int(clock.now()) + 60)}
            engine.call("PutItem", {"TableName": "Things", "Item": item})
        if by == "delete":
            for number in range(300):
                key = {"pk": {"S": str(number)}}
                engine.call("DeleteItem", {"TableName": "Things", "Key": key})
        clock.advance(3600)
        engine.sweep()
        assert engine.call("Scan", {"TableName": "Things", "Select": "COUNT"})["Count"] == 0
    assert path.stat().st_size < 1_000_000
