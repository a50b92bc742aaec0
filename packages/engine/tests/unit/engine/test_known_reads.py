"""A read that came before in the same bytes is answered as if it came for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.known_reads import KnownReads
from keyfold_engine.errors import OperationError, TableNotFound, ValidationError

MANY = 40
"""More reads than it takes to be known."""


def definition(*names: str) -> dict[str, Any]:
    kinds = ("HASH", "RANGE")
    return {
        "TableName": "Things",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            {"AttributeName": name, "KeyType": kind}
            for name, kind in zip(names, kinds, strict=False)
        ],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
    }


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call("CreateTable", definition("pk"))
        yield opened


def body(key: str, **more: Any) -> bytes:
    return orjson.dumps({"TableName": "Things", "Key": {"pk": {"S": key}}, **more})


def put(engine: Engine, key: str, number: int) -> None:
    item = {"pk": {"S": key}, "n": {"N": str(number)}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})


def read(engine: Engine, sent: bytes) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(engine.call_bytes("GetItem", sent))
    return found


def make_known(engine: Engine, sent: bytes) -> None:
    for _ in range(MANY):
        read(engine, sent)


def test_most_reads_of_one_item_are_known(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    put(engine, "a", 1)
    make_known(engine, body("a"))
    monkeypatch.setattr(KnownReads, "note", lambda *_: pytest.fail("this read is known"))
    assert read(engine, body("a")) == {"Item": {"pk": {"S": "a"}, "n": {"N": "1"}}}


def test_known_reads_see_every_write(engine: Engine) -> None:
    lots = Random(1)
    held: dict[str, int] = {}
    for number in range(2000):
        key = lots.choice("abcdef")
        if lots.random() < 0.1:
            put(engine, key, number)
            held[key] = number
        elif lots.random() < 0.05:
            engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"S": key}}})
            held.pop(key, None)
        found = read(engine, body(key)).get("Item", {}).get("n", {}).get("N")
        assert found == (str(held[key]) if key in held else None)


def test_a_table_that_has_gone_has_no_known_reads(engine: Engine) -> None:
    put(engine, "a", 1)
    make_known(engine, body("a"))
    engine.call("DeleteTable", {"TableName": "Things"})
    with pytest.raises(TableNotFound):
        read(engine, body("a"))


def test_a_table_made_anew_is_another_table(engine: Engine) -> None:
    put(engine, "a", 1)
    make_known(engine, body("a"))
    engine.call("DeleteTable", {"TableName": "Things"})
    engine.call("CreateTable", definition("pk", "sk"))
    with pytest.raises(ValidationError, match="does not match the schema"):
        read(engine, body("a"))


def test_more_than_table_and_key_is_looked_at_each_time(engine: Engine) -> None:
    put(engine, "a", 1)
    sent = body("a", ReturnConsumedCapacity="TOTAL", ProjectionExpression="n")
    make_known(engine, sent)
    found = read(engine, sent)
    assert found["Item"] == {"n": {"N": "1"}}
    assert found["ConsumedCapacity"] == {"TableName": "Things", "CapacityUnits": 0.5}


def test_reads_are_counted_by_key_as_soon_as_that_is_asked_for(engine: Engine) -> None:
    put(engine, "a", 1)
    make_known(engine, body("a"))
    engine.call(
        "UpdateContributorInsights",
        {"TableName": "Things", "ContributorInsightsAction": "ENABLE"},
    )
    for _ in range(MANY):
        read(engine, body("a"))
    assert engine.contributors("Things") == [({"pk": {"S": "a"}}, MANY)]


def test_wrong_requests_stay_wrong(engine: Engine) -> None:
    for sent in (b'{"TableName":"Things"}', b"[]", b"{", body("")):
        for _ in range(MANY):
            with pytest.raises(OperationError):
                read(engine, sent)


def test_a_closed_engine_answers_nothing() -> None:
    engine = Engine.open()
    engine.call("CreateTable", definition("pk"))
    put(engine, "a", 1)
    make_known(engine, body("a"))
    engine.close()
    with pytest.raises(Exception, match="closed"):
        read(engine, body("a"))
