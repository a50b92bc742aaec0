"""Streams: what they record, how they are read, how long they keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import ExpiredIterator, TableNotFound, TrimmedData, ValidationError
from keyfold_engine.limits import STREAM_ITERATOR_SECONDS, STREAM_RETENTION_SECONDS

CreateTable = Callable[..., None]


def _stream(view: str) -> dict[str, Any]:
    return {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": view}}


def _put(engine: Engine, key: str, value: str = "v") -> None:
    item = {"pk": {"S": key}, "value": {"S": value}}
    engine.call("PutItem", {"TableName": "Told", "Item": item})


def _delete(engine: Engine, key: str) -> None:
    engine.call("DeleteItem", {"TableName": "Told", "Key": {"pk": {"S": key}}})


def _arn(engine: Engine) -> str:
    arn: str = engine.call("DescribeTable", {"TableName": "Told"})["Table"]["LatestStreamArn"]
    return arn


def _shards(engine: Engine, arn: str) -> list[dict[str, Any]]:
    answer = engine.call("DescribeStream", {"StreamArn": arn})
    shards: list[dict[str, Any]] = answer["StreamDescription"]["Shards"]
    return shards


def _iterator(engine: Engine, arn: str, kind: str, **more: str) -> dict[str, Any]:
    shard = _shards(engine, arn)[0]["ShardId"]
    return engine.call(
        "GetShardIterator",
        {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind, **more},
    )


def _records(engine: Engine, kind: str = "TRIM_HORIZON", **more: str) -> list[dict[str, Any]]:
    place = _iterator(engine, _arn(engine), kind, **more)
    records: list[dict[str, Any]] = engine.call("GetRecords", place)["Records"]
    return records


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_a_view_shows_its_images(
    engine: Engine, create_table: CreateTable, view: str, images: set[str]
) -> None:
    create_table(engine, "Told", **_stream(view))
    _put(engine, "a", "old")
    _put(engine, "a", "new")
    change = _records(engine)[1]["dynamodb"]
    assert {name for name in change if name.endswith("Image")} == images
    assert change["Keys"] == {"pk": {"S": "a"}}
    assert change.get("OldImage", {"value": {"S": "old"}})["value"] == {"S": "old"}
    assert change.get("NewImage", {"value": {"S": "new"}})["value"] == {"S": "new"}


def test_records_tell_what_happened_in_order(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    _put(engine, "a", "1")
    _put(engine, "a", "2")
    _delete(engine, "a")
    records = _records(engine)
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    sequences = [record["dynamodb"]["SequenceNumber"] for record in records]
    assert sequences == sorted(sequences)
    assert len({record["eventID"] for record in records}) == 3


def test_a_write_that_changes_nothing_is_not_told(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Told", **_stream("NEW_IMAGE"))
    _put(engine, "a")
    _put(engine, "a")
    _delete(engine, "not there")
    assert len(_records(engine)) == 1


def test_the_four_kinds_of_iterators_start_where_they_say(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    for key in "abc":
        _put(engine, key)
    latest = _iterator(engine, _arn(engine), "LATEST")
    _put(engine, "d")
    records = _records(engine)
    second = records[1]["dynamodb"]["SequenceNumber"]

    def keys(found: list[dict[str, Any]]) -> str:
        return "".join(record["dynamodb"]["Keys"]["pk"]["S"] for record in found)

    assert keys(records) == "abcd"
    assert keys(_records(engine, "AT_SEQUENCE_NUMBER", SequenceNumber=second)) == "bcd"
    assert keys(_records(engine, "AFTER_SEQUENCE_NUMBER", SequenceNumber=second)) == "cd"
    assert keys(engine.call("GetRecords", latest)["Records"]) == "d"


def test_pages_follow_each_other(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    for key in "abcde":
        _put(engine, key)
    place = _iterator(engine, _arn(engine), "TRIM_HORIZON")
    seen = ""
    while len(seen) < 5:
        answer = engine.call("GetRecords", {**place, "Limit": 2})
        seen += "".join(r["dynamodb"]["Keys"]["pk"]["S"] for r in answer["Records"])
        place = {"ShardIterator": answer["NextShardIterator"]}
    assert seen == "abcde"
    assert engine.call("GetRecords", place)["Records"] == []


def test_records_are_gone_after_a_day(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    _put(engine, "a")
    old = _records(engine)[0]["dynamodb"]["SequenceNumber"]
    clock.advance(STREAM_RETENTION_SECONDS + 1)
    _put(engine, "b")
    (record,) = _records(engine)
    assert record["dynamodb"]["Keys"] == {"pk": {"S": "b"}}
    with pytest.raises(TrimmedData):
        _iterator(engine, _arn(engine), "AT_SEQUENCE_NUMBER", SequenceNumber=old)
    engine.sweep()
    _put(engine, "c")
    assert [r["dynamodb"]["Keys"]["pk"]["S"] for r in _records(engine)] == ["b", "c"]


def test_an_iterator_expires(engine: Engine, clock: ManualClock, create_table: CreateTable) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    place = _iterator(engine, _arn(engine), "TRIM_HORIZON")
    clock.advance(STREAM_ITERATOR_SECONDS + 1)
    with pytest.raises(ExpiredIterator):
        engine.call("GetRecords", place)


def test_a_closed_stream_is_read_to_its_end(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    _put(engine, "a")
    arn = _arn(engine)
    disabled = {"StreamSpecification": {"StreamEnabled": False}}
    engine.call("UpdateTable", {"TableName": "Told", **disabled})
    _put(engine, "not told")
    description = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    assert description["StreamStatus"] == "DISABLED"
    assert "EndingSequenceNumber" in description["Shards"][0]["SequenceNumberRange"]
    answer = engine.call("GetRecords", _iterator(engine, arn, "TRIM_HORIZON"))
    assert len(answer["Records"]) == 1
    assert "NextShardIterator" not in answer


def test_a_stream_outlives_its_table_for_a_day(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    _put(engine, "a")
    arn = _arn(engine)
    engine.call("DeleteTable", {"TableName": "Told"})
    assert len(engine.call("GetRecords", _iterator(engine, arn, "TRIM_HORIZON"))["Records"]) == 1
    clock.advance(STREAM_RETENTION_SECONDS + 1)
    engine.sweep()
    with pytest.raises(TableNotFound):
        engine.call("DescribeStream", {"StreamArn": arn})


def test_a_stream_enabled_again_is_a_new_one(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Told", **_stream("KEYS_ONLY"))
    first = _arn(engine)
    disabled = {"StreamSpecification": {"StreamEnabled": False}}
    engine.call("UpdateTable", {"TableName": "Told", **disabled})
    engine.call("UpdateTable", {"TableName": "Told", **_stream("NEW_IMAGE")})
    assert _arn(engine) != first
    listed = engine.call("ListStreams", {"TableName": "Told"})["Streams"]
    assert {stream["StreamArn"] for stream in listed} == {first, _arn(engine)}


def test_items_of_several_shards_stay_in_order_per_item(create_table: CreateTable) -> None:
    with Engine.open(stream_shards=4) as engine:
        create_table(engine, "Told", **_stream("NEW_IMAGE"))
        for number in range(60):
            _put(engine, str(number % 12), str(number))
        shards = _shards(engine, _arn(engine))
        assert len(shards) == 4
        seen: dict[str, list[int]] = {}
        for shard in shards:
            place = engine.call(
                "GetShardIterator",
                {
                    "StreamArn": _arn(engine),
                    "ShardId": shard["ShardId"],
                    "ShardIteratorType": "TRIM_HORIZON",
                },
            )
            for record in engine.call("GetRecords", place)["Records"]:
                image = record["dynamodb"]["NewImage"]
                seen.setdefault(image["pk"]["S"], []).append(int(image["value"]["S"]))
        assert len(seen) == 12
        assert all(numbers == sorted(numbers) for numbers in seen.values())


def test_shards_are_the_same_after_a_restart(tmp_path: Path, create_table: CreateTable) -> None:
    path = tmp_path / "told.db"
    with Engine.open(path, stream_shards=4) as engine:
        create_table(engine, "Told", **_stream("NEW_IMAGE"))
        stream = _arn(engine)
        shards = _shards(engine, stream)
    with Engine.open(path) as engine:
        assert _arn(engine) == stream
        assert _shards(engine, stream) == shards


def test_an_iterator_that_was_made_up_is_refused(engine: Engine) -> None:
    with pytest.raises(ValidationError, match="Invalid ShardIterator"):
        engine.call("GetRecords", {"ShardIterator": "made up"})
