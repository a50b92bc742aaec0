"""The figures of large tables are estimates, made at the cost of a small one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, statistics


def test_a_large_table_is_estimated_from_a_sample(
    engine: Engine, create_table: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "COUNTED_UP_TO", 100)
    monkeypatch.setattr(statistics, "WINDOWS", 20)
    create_table(engine, "Large", indexes={"by_even": ("even:S",)})
    for number in range(2000):
        item = {"pk": {"S": f"{number:05d}"}, "data": {"S": "d" * 89}}
        if number % 2 == 0:
            item["even"] = {"S": "y"}
        engine.call("PutItem", {"TableName": "Large", "Item": item})
    for number in range(0, 2000, 4):
        key = {"pk": {"S": f"{number:05d}"}}
        engine.call("DeleteItem", {"TableName": "Large", "Key": key})
    table = engine.call("DescribeTable", {"TableName": "Large"})["Table"]
    (index,) = table["GlobalSecondaryIndexes"]
    assert table["ItemCount"] == pytest.approx(1500, rel=0.05)
    assert table["TableSizeBytes"] == pytest.approx(1500 * 102, rel=0.05)
    assert index["ItemCount"] == pytest.approx(500, rel=0.1)


def test_a_large_table_is_not_sampled_again_within_a_minute(
    engine: Engine,
    clock: ManualClock,
    create_table: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(statistics, "COUNTED_UP_TO", 100)
    create_table(engine, "Large")

    def put(first: int, count: int) -> None:
        for number in range(first, first + count):
            item = {"pk": {"S": f"{number:05d}"}}
            engine.call("PutItem", {"TableName": "Large", "Item": item})

    def described() -> int:
        count = engine.call("DescribeTable", {"TableName": "Large"})["Table"]["ItemCount"]
        return int(count)

    sampled: list[object] = []
    estimate = statistics._estimate

    def counted(*asked: Any) -> Any:
        sampled.append(asked)
        return estimate(*asked)

    monkeypatch.setattr(statistics, "_estimate", counted)
    put(0, 50)
    assert described() == 50
    put(50, 150)
    assert [described() for _ in range(5)] == [described()] * 5
    assert described() == pytest.approx(200, rel=0.1)
    assert len(sampled) == 1
    put(200, 200)
    clock.advance(statistics.KEPT_SECONDS)
    assert described() == pytest.approx(400, rel=0.1)
    assert len(sampled) == 2


def test_a_changed_table_is_sampled_anew(
    engine: Engine, create_table: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "COUNTED_UP_TO", 100)
    create_table(engine, "Large")
    for number in range(200):
        item = {"pk": {"S": f"{number:05d}"}, "group": {"S": "g"}}
        engine.call("PutItem", {"TableName": "Large", "Item": item})
    engine.call("DescribeTable", {"TableName": "Large"})
    index = {
        "IndexName": "by_group",
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    engine.call(
        "UpdateTable",
        {
            "TableName": "Large",
            "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        },
    )
    engine._database.backfills.wait()
    table = engine.call("DescribeTable", {"TableName": "Large"})["Table"]
    (index,) = table["GlobalSecondaryIndexes"]
    assert index["ItemCount"] == pytest.approx(200, rel=0.1)


def test_the_size_of_an_index_of_whole_items_follows_items_whose_keys_stay(
    engine: Engine, create_table: Callable[..., None]
) -> None:
    create_table(engine, "Whole", indexes={"by_g": ("g:S",)})
    key = {"pk": {"S": "a"}}
    engine.call("PutItem", {"TableName": "Whole", "Item": {**key, "g": {"S": "x"}}})
    for text in ("d" * 5_000, "d", "d" * 9_000):
        engine.call(
            "UpdateItem",
            {
                "TableName": "Whole",
                "Key": key,
                "UpdateExpression": "SET t = :t",
                "ExpressionAttributeValues": {":t": {"S": text}},
            },
        )
        table = engine.call("DescribeTable", {"TableName": "Whole"})["Table"]
        (index,) = table["GlobalSecondaryIndexes"]
        size = len("pk") + len("a") + len("g") + len("x") + len("t") + len(text)
        assert (table["TableSizeBytes"], index["IndexSizeBytes"]) == (size, size)
        page = engine.call(
            "Query",
            {
                "TableName": "Whole",
                "IndexName": "by_g",
                "KeyConditionExpression": "g = :g",
                "ExpressionAttributeValues": {":g": {"S": "x"}},
                "ReturnConsumedCapacity": "TOTAL",
            },
        )
        units = -(-size // 4096) / 2
        assert page["ConsumedCapacity"]["CapacityUnits"] == units
