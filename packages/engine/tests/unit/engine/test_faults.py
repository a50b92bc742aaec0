"""Faults: each does what production does, and a seed repeats them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, Faults
from keyfold_engine.errors import (
    OperationError,
    RequestLimitExceeded,
    RequestRateExceeded,
    Throttled,
    ThrottlingError,
    Timeout,
    TransactionCanceled,
    from_wire,
    to_wire,
)
from keyfold_engine.errors import TransactionConflict as Conflict

CreateTable = Callable[..., None]
KEY = {"pk": {"S": "a"}}


def _put(engine: Engine, key: str = "a", size: int = 1) -> None:
    item = {"pk": {"S": key}, "data": {"S": "d" * size}}
    engine.call("PutItem", {"TableName": "Shaky", "Item": item})


def _outcomes(create_table: CreateTable, seed: int) -> list[str]:
    with Engine.open(faults=Faults(seed=seed, throttle=0.3, conflict=0.3)) as engine:
        create_table(engine, "Shaky")
        outcomes = []
        for _ in range(40):
            try:
                _put(engine)
                outcomes.append("done")
            except OperationError as error:
                outcomes.append(error.wire_name)
        return outcomes


def test_the_same_seed_gives_the_same_faults(create_table: CreateTable) -> None:
    first = _outcomes(create_table, 1)
    assert first == _outcomes(create_table, 1)
    assert first != _outcomes(create_table, 2)
    assert set(first) == {
        "done",
        "ProvisionedThroughputExceededException",
        "TransactionConflictException",
    }


def test_a_throttled_write_was_not_done(create_table: CreateTable) -> None:
    with Engine.open(faults=Faults(throttle=1.0)) as engine:
        create_table(engine, "Shaky")
        with pytest.raises(Throttled):
            _put(engine)
        assert engine.call("DescribeTable", {"TableName": "Shaky"})["Table"]["ItemCount"] == 0


def test_a_lost_answer_was_done(create_table: CreateTable) -> None:
    with Engine.open(faults=Faults(lose_answer=1.0)) as engine:
        create_table(engine, "Shaky")
        with pytest.raises(Timeout):
            _put(engine)
        assert engine.call("DescribeTable", {"TableName": "Shaky"})["Table"]["ItemCount"] == 1


def test_conflicts_meet_writes_and_cancel_transactions(create_table: CreateTable) -> None:
    with Engine.open(faults=Faults(conflict=1.0)) as engine:
        create_table(engine, "Shaky")
        with pytest.raises(Conflict):
            _put(engine)
        parts = [{"Put": {"TableName": "Shaky", "Item": {"pk": {"S": key}}}} for key in ("a", "b")]
        with pytest.raises(TransactionCanceled) as caught:
            engine.call("TransactWriteItems", {"TransactItems": parts})
        codes = sorted(reason.code for reason in caught.value.reasons)
        assert codes == ["None", "TransactionConflict"]


def test_unprocessed_entries_were_not_done_and_can_be_sent_again(
    create_table: CreateTable,
) -> None:
    with Engine.open(faults=Faults(seed=3, unprocessed=0.9)) as engine:
        create_table(engine, "Shaky")
        keys = [{"pk": {"S": str(number)}} for number in range(20)]
        wishes: dict[str, Any] = {"Shaky": [{"PutRequest": {"Item": key}} for key in keys]}
        rounds = 0
        while wishes:
            wishes = engine.call("BatchWriteItem", {"RequestItems": wishes})["UnprocessedItems"]
            rounds += 1
        assert rounds > 1
        wanted: dict[str, Any] = {"Shaky": {"Keys": keys}}
        found: list[Any] = []
        while wanted:
            answer = engine.call("BatchGetItem", {"RequestItems": wanted})
            found += answer["Responses"]["Shaky"]
            wanted = answer["UnprocessedKeys"]
        assert len(found) == 20


def test_a_hot_key_is_throttled_and_others_are_not(
    clock: ManualClock, create_table: CreateTable
) -> None:
    with Engine.open(clock=clock, faults=Faults(hot_keys=True)) as engine:
        create_table(engine, "Shaky")
        for _ in range(10):
            _put(engine, "hot", 100 * 1024)
        with pytest.raises(Throttled):
            _put(engine, "hot")
        _put(engine, "cool")
        clock.advance(1)
        _put(engine, "hot")


def test_a_hot_key_is_throttled_for_reads(clock: ManualClock, create_table: CreateTable) -> None:
    with Engine.open(clock=clock, faults=Faults(hot_keys=True)) as engine:
        create_table(engine, "Shaky")
        _put(engine, "a", 390 * 1024)
        clock.advance(1)
        get = {"TableName": "Shaky", "Key": KEY, "ConsistentRead": True}
        for _ in range(31):
            engine.call("GetItem", get)
        with pytest.raises(Throttled):
            engine.call("GetItem", get)


def test_latency_delays_but_answers(create_table: CreateTable) -> None:
    with Engine.open(faults=Faults(latency=(0.0, 0.001))) as engine:
        create_table(engine, "Shaky")
        _put(engine)
        assert "Item" in engine.call("GetItem", {"TableName": "Shaky", "Key": KEY})


ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/Shaky"
BATCH = {"RequestItems": {"Shaky": {"Keys": [KEY]}}}
SEARCH = {"TableName": "Shaky", "IndexName": "near", "SearchVector": [{"N": "1"}], "TopK": 1}
PUT = {"Put": {"TableName": "Shaky", "Item": KEY}}


@pytest.mark.parametrize(
    ("fault", "kind", "limit"),
    [
        ("throttle", Throttled, "ProvisionedThroughputExceeded"),
        ("rate_exceeded", RequestRateExceeded, "MaxOnDemandThroughputExceeded"),
        ("limit_exceeded", RequestLimitExceeded, "AccountLimitExceeded"),
    ],
)
@pytest.mark.parametrize(
    ("operation", "request_", "way"),
    [
        ("GetItem", {"TableName": ARN, "Key": KEY}, "Read"),
        ("BatchGetItem", BATCH, "Read"),
        ("SearchVectors", SEARCH, "Read"),
        ("TransactWriteItems", {"TransactItems": [PUT]}, "Write"),
    ],
)
def test_a_refusal_says_which_limit_of_what_was_met(
    create_table: CreateTable,
    fault: str,
    kind: type[ThrottlingError],
    limit: str,
    operation: str,
    request_: dict[str, Any],
    way: str,
) -> None:
    with Engine.open(faults=Faults(**{fault: 1.0})) as engine:  # type: ignore[arg-type]
        create_table(engine, "Shaky")
        with pytest.raises(kind) as refused:
            engine.call(operation, request_)
    [reason] = refused.value.reasons
    assert (reason.reason, reason.resource) == (f"Table{way}{limit}", ARN)
    # To the wire and back.
    again = from_wire(*to_wire(refused.value))
    assert isinstance(again, kind)
    assert [(each.reason, each.resource) for each in again.reasons] == [(reason.reason, ARN)]


def test_a_hot_key_is_told_with_its_table(clock: ManualClock, create_table: CreateTable) -> None:
    with Engine.open(clock=clock, faults=Faults(hot_keys=True)) as engine:
        create_table(engine, "Shaky")
        for _ in range(10):
            _put(engine, "hot", 100 * 1024)
        with pytest.raises(Throttled) as refused:
            _put(engine, "hot")
    [reason] = refused.value.reasons
    assert (reason.reason, reason.resource) == ("TableWriteKeyRangeThroughputExceeded", ARN)
