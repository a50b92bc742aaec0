"""Global indexes that lag, as they do in production, when asked to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import ValidationError

CreateTable = Callable[..., None]


def _open(clock: ManualClock, create_table: CreateTable, lag: Any) -> Engine:
    engine = Engine.open(clock=clock, index_lag=lag)
    create_table(engine, "Lagging", indexes={"by_group": ("group:S",)})
    return engine


def _put(engine: Engine, key: str, group: str) -> None:
    item = {"pk": {"S": key}, "group": {"S": group}}
    engine.call("PutItem", {"TableName": "Lagging", "Item": item})


def _group(engine: Engine, group: str, **more: Any) -> list[str]:
    answer = engine.call(
        "Query",
        {
            "TableName": "Lagging",
            "IndexName": "by_group",
            "KeyConditionExpression": "#g = :g",
            "ExpressionAttributeNames": {"#g": "group"},
            "ExpressionAttributeValues": {":g": {"S": group}},
            **more,
        },
    )
    return [item["pk"]["S"] for item in answer["Items"]]


def test_an_index_is_current_by_default(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    with _open(clock, create_table, None) as engine:
        _put(engine, "a", "g")
        assert _group(engine, "g") == ["a"]


def test_a_fixed_lag_passes_with_the_clock(clock: ManualClock, create_table: CreateTable) -> None:
    with _open(clock, create_table, 2.0) as engine:
        _put(engine, "a", "g")
        assert _group(engine, "g") == []
        clock.advance(2)
        assert _group(engine, "g") == ["a"]
        _put(engine, "a", "h")
        assert (_group(engine, "g"), _group(engine, "h")) == (["a"], [])
        clock.advance(2)
        assert (_group(engine, "g"), _group(engine, "h")) == ([], ["a"])


def test_a_deleted_item_is_still_in_a_lagging_index(
    clock: ManualClock, create_table: CreateTable
) -> None:
    with _open(clock, create_table, 2.0) as engine:
        _put(engine, "a", "g")
        clock.advance(3)
        key = {"pk": {"S": "a"}}
        engine.call("DeleteItem", {"TableName": "Lagging", "Key": key})
        assert engine.call("GetItem", {"TableName": "Lagging", "Key": key}) == {}
        assert _group(engine, "g") == ["a"]
        clock.advance(2)
        assert _group(engine, "g") == []


def test_held_changes_wait_for_their_release(clock: ManualClock, create_table: CreateTable) -> None:
    with _open(clock, create_table, "held") as engine:
        _put(engine, "a", "g")
        clock.advance(1_000_000)
        assert _group(engine, "g") == []
        engine.release_indexes()
        assert _group(engine, "g") == ["a"]


def test_a_random_lag_stays_in_its_range(clock: ManualClock, create_table: CreateTable) -> None:
    with _open(clock, create_table, (1.0, 3.0)) as engine:
        for key in "abcdefgh":
            _put(engine, key, "g")
        clock.advance(0.9)
        assert _group(engine, "g") == []
        clock.advance(1.1)
        assert 0 < len(_group(engine, "g")) < 8
        clock.advance(1)
        assert sorted(_group(engine, "g")) == list("abcdefgh")


def test_pages_of_a_lagging_index_show_each_item_once(
    clock: ManualClock, create_table: CreateTable
) -> None:
    with _open(clock, create_table, 5.0) as engine:
        for key in "abcdef":
            _put(engine, key, "g")
        clock.advance(6)
        for key in "ace":
            _put(engine, key, "h")
        seen: list[str] = []
        more: dict[str, Any] = {}
        for _ in range(4):
            answer = engine.call(
                "Scan", {"TableName": "Lagging", "IndexName": "by_group", "Limit": 2, **more}
            )
            seen += [item["pk"]["S"] for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            more = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        assert sorted(seen) == list("abcdef")


def test_a_consistent_read_of_a_global_index_is_refused(
    clock: ManualClock, create_table: CreateTable
) -> None:
    with (
        _open(clock, create_table, None) as engine,
        pytest.raises(ValidationError, match="not supported on global secondary indexes"),
    ):
        _group(engine, "g", ConsistentRead=True)
