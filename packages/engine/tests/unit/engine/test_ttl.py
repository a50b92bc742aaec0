"""Time to live: which items go, when, and who the stream says deleted them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import ValidationError
from keyfold_engine.limits import TTL_MAX_AGE_SECONDS

CreateTable = Callable[..., None]


def _enable(engine: Engine, *, enabled: bool = True) -> None:
    wish = {"AttributeName": "expires", "Enabled": enabled}
    engine.call("UpdateTimeToLive", {"TableName": "Fading", "TimeToLiveSpecification": wish})


def _put(engine: Engine, key: str, expires: dict[str, Any] | None) -> None:
    item: dict[str, Any] = {"pk": {"S": key}}
    if expires is not None:
        item["expires"] = expires
    engine.call("PutItem", {"TableName": "Fading", "Item": item})


def _keys(engine: Engine) -> set[str]:
    items = engine.call("Scan", {"TableName": "Fading"})["Items"]
    return {item["pk"]["S"] for item in items}


def test_only_items_past_their_time_are_deleted(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Fading")
    _enable(engine)
    now = int(clock.now())
    _put(engine, "past", {"N": str(now - 1)})
    _put(engine, "future", {"N": str(now + 100)})
    _put(engine, "never", None)
    _put(engine, "text", {"S": str(now - 1)})
    _put(engine, "ancient", {"N": str(now - TTL_MAX_AGE_SECONDS - 10)})
    assert engine.sweep() == 1
    assert _keys(engine) == {"future", "never", "text", "ancient"}
    clock.advance(101)
    assert engine.sweep() == 1
    assert "future" not in _keys(engine)


def test_items_from_before_it_was_enabled_expire_too(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Fading")
    _put(engine, "past", {"N": str(int(clock.now()) - 1)})
    assert engine.sweep() == 0
    _enable(engine)
    assert engine.sweep() == 1


def test_a_later_expiry_saves_an_item(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Fading")
    _enable(engine)
    _put(engine, "a", {"N": str(int(clock.now()) - 1)})
    _put(engine, "a", {"N": str(int(clock.now()) + 50)})
    assert engine.sweep() == 0


def test_nothing_expires_once_it_is_disabled(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Fading")
    _enable(engine)
    _put(engine, "a", {"N": str(int(clock.now()) - 1)})
    _enable(engine, enabled=False)
    assert engine.sweep() == 0
    assert _keys(engine) == {"a"}


def test_the_stream_names_the_service_and_indexes_forget_the_item(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(
        engine,
        "Fading",
        indexes={"by_expiry": ("expires:N",)},
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"},
    )
    _enable(engine)
    _put(engine, "a", {"N": str(int(clock.now()) - 1)})
    engine.sweep()
    arn = engine.call("ListStreams", {})["Streams"][0]["StreamArn"]
    shards = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
    place = engine.call(
        "GetShardIterator",
        {
            "StreamArn": arn,
            "ShardId": shards[0]["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        },
    )
    inserted, removed = engine.call("GetRecords", place)["Records"]
    assert "userIdentity" not in inserted
    assert removed["userIdentity"] == {
        "Type": "Service",
        "PrincipalId": "dynamodb.amazonaws.com",
    }
    assert removed["dynamodb"]["OldImage"]["pk"] == {"S": "a"}
    assert engine.call("Scan", {"TableName": "Fading", "IndexName": "by_expiry"})["Count"] == 0


def test_enabling_twice_is_refused(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Fading")
    _enable(engine)
    with pytest.raises(ValidationError, match="already enabled"):
        _enable(engine)


def test_what_was_noted_for_another_attribute_is_forgotten(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Fading")
    _enable(engine)
    _put(engine, "past", {"N": str(int(clock.now()) - 1)})
    _enable(engine, enabled=False)
    wish = {"AttributeName": "other", "Enabled": True}
    engine.call("UpdateTimeToLive", {"TableName": "Fading", "TimeToLiveSpecification": wish})
    assert engine.sweep() == 0
    assert _keys(engine) == {"past"}


def test_items_from_before_are_found_by_another_process_after_a_crash(
    tmp_path: Path, clock: ManualClock, create_table: CreateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fading.db"
    monkeypatch.setattr("keyfold_engine.engine.ttl._ITEMS_PER_COMMIT", 3)
    monkeypatch.setattr("keyfold_engine.engine.ttl._ITEMS_PER_READ", 3)
    with Engine.open(path, clock=clock, durability="memory") as engine:
        create_table(engine, "Fading")
        for number in range(10):
            _put(engine, f"past {number}", {"N": str(int(clock.now()) - 1)})
        _enable(engine)
        with monkeypatch.context() as patched:
            patched.setattr("keyfold_engine.engine.ttl.TableDefinition.expiry", _failing_after(5))
            with pytest.raises(RuntimeError, match="killed"):
                engine.sweep()
    with Engine.open(path, clock=clock, durability="memory") as engine:
        assert len(_keys(engine)) == 10
        assert engine.sweep() == 10


def _failing_after(calls: int) -> Callable[[TableDefinition, dict[str, Any]], int | None]:
    left = [calls]
    expiry = TableDefinition.expiry

    def fail(table: TableDefinition, item: dict[str, Any]) -> int | None:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("killed")
        return expiry(table, item)

    return fail
