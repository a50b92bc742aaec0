"""Vector indexes beside the rest: delays, lag, other processes, boto3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.delays import read_delays
from keyfold_engine.errors import LimitExceeded, TableInUse, ValidationError
from keyfold_engine.wire.background import BackgroundServer

INDEX: dict[str, Any] = {
    "IndexName": "near",
    "VectorAttribute": {"AttributeName": "emb"},
    "Dimensions": 2,
    "DistanceFunction": "EUCLIDEAN",
    "Projection": {"ProjectionType": "ALL"},
}
TABLE: dict[str, Any] = {
    "TableName": "Notes",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


def _put(engine: Engine, key: str, *vector: float) -> None:
    elements = [{"N": str(each)} for each in vector]
    item = {"pk": {"S": key}, "emb": {"L": elements}}
    engine.call("PutItem", {"TableName": "Notes", "Item": item})


def _found(engine: Engine, *query: float) -> list[str]:
    elements = [{"N": str(each)} for each in query]
    request = {"TableName": "Notes", "IndexName": "near", "SearchVector": elements, "TopK": 100}
    answer = engine.call("SearchVectors", request)
    return [each["Item"]["pk"]["S"] for each in answer["SearchResults"]]


def _told(engine: Engine) -> tuple[str, str, object]:
    table = engine.call("DescribeTable", {"TableName": "Notes"})["Table"]
    [index] = table["VectorIndexes"]
    return table["TableStatus"], index["IndexStatus"], index.get("Backfilling")


def test_an_added_index_goes_through_its_phases_by_the_clock() -> None:
    clock = ManualClock()
    with Engine.open(clock=clock, delays="amazon") as engine:
        engine.call("CreateTable", TABLE)
        _put(engine, "a", 1, 0)
        update = {"TableName": "Notes", "VectorIndexUpdates": [{"Create": INDEX}]}
        engine.call("UpdateTable", update)
        assert _told(engine) == ("UPDATING", "CREATING", False)
        with pytest.raises(ValidationError, match="Cannot search backfilling vector index: near"):
            _found(engine, 1, 0)
        delete = {"TableName": "Notes", "VectorIndexUpdates": [{"Delete": {"IndexName": "near"}}]}
        with pytest.raises(TableInUse) as refused:
            engine.call("UpdateTable", delete)
        assert refused.value.message == (
            "Attempt to change a resource which is still in use: Index creation is in resource "
            "allocation phase. Retry deletion during backfilling phase or when the index is active."
            " Table: Notes Index: near"
        )
        second = [{"Create": {**INDEX, "IndexName": "second"}}]
        with pytest.raises(LimitExceeded, match="Subscriber limit exceeded: Only 1 online index"):
            engine.call("UpdateTable", {"TableName": "Notes", "VectorIndexUpdates": second})
        clock.advance(60)
        assert _told(engine) == ("ACTIVE", "CREATING", True)
        with pytest.raises(TableInUse) as refused:
            engine.call("DeleteTable", {"TableName": "Notes"})
        assert refused.value.message == (
            "Attempt to change a resource which is still in use: Cannot delete table while indexes "
            "are being created, updated, or deleted."
        )
        clock.advance(705)
        assert _told(engine) == ("ACTIVE", "ACTIVE", None)
        with pytest.raises(ValidationError, match="does not have the specified index: near"):
            _found(engine, 1, 0)
        clock.advance(10)
        assert _found(engine, 1, 0) == ["a"]


def test_an_index_that_is_being_filled_can_be_cancelled() -> None:
    clock = ManualClock()
    with Engine.open(clock=clock, delays={"backfilling": 60.0}) as engine:
        engine.call("CreateTable", TABLE)
        engine.call(
            "UpdateTable", {"TableName": "Notes", "VectorIndexUpdates": [{"Create": INDEX}]}
        )
        delete = [{"Delete": {"IndexName": "near"}}]
        engine.call("UpdateTable", {"TableName": "Notes", "VectorIndexUpdates": delete})
        table = engine.call("DescribeTable", {"TableName": "Notes"})["Table"]
        assert "VectorIndexes" not in table


@pytest.mark.parametrize("wrong", ["quickly", {"sleeping": 1.0}, {"backfilling": -1.0}])
def test_delays_that_do_not_exist_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="delays"):
        Engine.open(delays=wrong)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("amazon", "amazon"),
        ("at once", "at once"),
        ("allocating=2,backfilling=10", {"allocating": 2.0, "backfilling": 10.0}),
        ("queued bulk operation=0.5", {"queued bulk operation": 0.5}),
    ],
)
def test_delays_are_read_from_the_command_line(text: str, setting: Any) -> None:
    assert read_delays(text) == setting


@pytest.mark.parametrize(
    "text", ["", "soon", "backfilling", "backfilling=", "backfilling=nan", "sleeping=1"]
)
def test_delays_on_the_command_line_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="delays"):
        read_delays(text)


def test_a_held_index_shows_the_past_until_it_is_released() -> None:
    with Engine.open(index_lag="held") as engine:
        engine.call("CreateTable", {**TABLE, "VectorIndexes": [INDEX]})
        _put(engine, "a", 1, 0)
        _put(engine, "b", 2, 0)
        assert _found(engine, 0, 0) == []
        engine.release_indexes()
        assert _found(engine, 0, 0) == ["a", "b"]
        _put(engine, "a", 9, 0)
        engine.call("DeleteItem", {"TableName": "Notes", "Key": {"pk": {"S": "b"}}})
        assert _found(engine, 0, 0) == ["a", "b"]
        engine.release_indexes()
        assert _found(engine, 0, 0) == ["a"]


def test_two_processes_see_each_others_vectors(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as one, Engine.open(path) as other:
        one.call("CreateTable", {**TABLE, "VectorIndexes": [INDEX]})
        for number in range(5):
            _put(one, f"i{number}", number, 0)
        assert _found(other, 0, 0) == [f"i{number}" for number in range(5)]
        _put(one, "i0", 9, 0)
        one.call("DeleteItem", {"TableName": "Notes", "Key": {"pk": {"S": "i1"}}})
        _put(one, "new", 0, 0)
        assert _found(other, 0, 0) == ["new", "i2", "i3", "i4", "i0"]


def test_vectors_survive_a_restart_and_go_with_their_table(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        engine.call("CreateTable", {**TABLE, "VectorIndexes": [INDEX]})
        _put(engine, "a", 1, 0)
    with Engine.open(path) as engine:
        assert _found(engine, 0, 0) == ["a"]
        engine.call("DeleteTable", {"TableName": "Notes"})
        engine.call("CreateTable", {**TABLE, "VectorIndexes": [INDEX]})
        assert _found(engine, 0, 0) == []


def test_items_that_expire_leave_the_index() -> None:
    clock = ManualClock()
    with Engine.open(clock=clock) as engine:
        engine.call("CreateTable", {**TABLE, "VectorIndexes": [INDEX]})
        ttl = {"Enabled": True, "AttributeName": "ends"}
        engine.call("UpdateTimeToLive", {"TableName": "Notes", "TimeToLiveSpecification": ttl})
        ends = {"N": str(int(clock.now()) + 10)}
        item = {"pk": {"S": "a"}, "emb": {"L": [{"N": "1"}, {"N": "0"}]}, "ends": ends}
        engine.call("PutItem", {"TableName": "Notes", "Item": item})
        clock.advance(60)
        engine.sweep()
        assert _found(engine, 0, 0) == []


@pytest.fixture
def client() -> Iterator[Any]:
    with Engine.open() as engine, BackgroundServer(engine) as server:
        yield boto3.client(
            "dynamodb",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )


def test_boto3_makes_fills_and_searches_an_index(client: Any) -> None:
    client.create_table(**TABLE, VectorIndexes=[INDEX])
    client.get_waiter("table_exists").wait(TableName="Notes")
    for key, vector in (("a", (1, 0)), ("b", (0, 1))):
        elements = [{"N": str(each)} for each in vector]
        client.put_item(TableName="Notes", Item={"pk": {"S": key}, "emb": {"L": elements}})
    found = client.search_vectors(
        TableName="Notes",
        IndexName="near",
        SearchVector=[{"N": "0"}, {"N": "1"}],
        TopK=1,
        ReturnConsumedCapacity="TOTAL",
    )
    assert found["SearchResults"] == [{"Item": {"pk": {"S": "b"}}, "Score": 0.0}]
    assert found["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024.0}
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.search_vectors(
            TableName="Other", IndexName="near", SearchVector=[{"N": "0"}], TopK=1
        )
