from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.errors import TableNotFound, ValidationError

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def _enable(call: Any, table: str, view: str) -> str:
    specification = {"StreamEnabled": True, "StreamViewType": view}
    call("UpdateTable", {"TableName": table, "StreamSpecification": specification})
    stream: str = call("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
    return stream


def _records(call: Any, stream: str, kind: str) -> list[dict[str, Any]]:
    description = call("DescribeStream", {"StreamArn": stream})["StreamDescription"]
    found: list[dict[str, Any]] = []
    for shard in description["Shards"]:
        wanted = {"StreamArn": stream, "ShardId": shard["ShardId"], "ShardIteratorType": kind}
        iterator = call("GetShardIterator", wanted)["ShardIterator"]
        found += call("GetRecords", {"ShardIterator": iterator})["Records"]
    return found


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", [set(), set(), set()]),
        ("NEW_IMAGE", [{"NewImage"}, {"NewImage"}, set()]),
        ("OLD_IMAGE", [set(), {"OldImage"}, {"OldImage"}]),
        ("NEW_AND_OLD_IMAGES", [{"NewImage"}, {"NewImage", "OldImage"}, {"OldImage"}]),
    ],
)
def test_what_happened_to_an_item_in_order(
    call: Any, table: str, view: str, images: list[set[str]]
) -> None:
    stream = _enable(call, table, view)
    call("PutItem", {"TableName": table, "Item": KEY})
    for _ in range(2):  # The second changes nothing and leaves no record.
        call("PutItem", {"TableName": table, "Item": {**KEY, "n": {"N": "1"}}})
    for _ in range(2):
        call("DeleteItem", {"TableName": table, "Key": KEY})
    records = _records(call, stream, "TRIM_HORIZON")
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    for record, shown in zip(records, images, strict=True):
        change = record["dynamodb"]
        assert change["Keys"] == KEY
        assert change["StreamViewType"] == view
        assert {name for name in ("NewImage", "OldImage") if name in change} == shown
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
    assert numbers == sorted(set(numbers))
    assert _records(call, stream, "LATEST") == []


def test_streams_are_listed_by_table(call: Any, table: str) -> None:
    assert call("ListStreams", {"TableName": table})["Streams"] == []
    stream = _enable(call, table, "KEYS_ONLY")
    (listed,) = call("ListStreams", {"TableName": table})["Streams"]
    assert (listed["TableName"], listed["StreamArn"]) == (table, stream)


def _shard(call: Any, stream: str) -> str:
    description = call("DescribeStream", {"StreamArn": stream})["StreamDescription"]
    shard: str = description["Shards"][0]["ShardId"]
    return shard


def test_an_iterator_begins_at_a_time(call: Any, table: str) -> None:
    stream = _enable(call, table, "KEYS_ONLY")
    call("PutItem", {"TableName": table, "Item": KEY})
    (record,) = _records(call, stream, "TRIM_HORIZON")
    created = record["dynamodb"]["ApproximateCreationDateTime"]
    wanted = {
        "StreamArn": stream,
        "ShardId": _shard(call, stream),
        "ShardIteratorType": "AT_TIMESTAMP",
    }
    for timestamp, found in ((created, 1), (created - 100_000, 1)):
        iterator = call("GetShardIterator", {**wanted, "Timestamp": timestamp})["ShardIterator"]
        assert len(call("GetRecords", {"ShardIterator": iterator})["Records"]) == found
    with pytest.raises(ValidationError, match="cannot be in the future"):
        call("GetShardIterator", {**wanted, "Timestamp": created + 100})


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("AT_SEQUENCE_NUMBER", {}, "SequenceNumber is required"),
        ("AFTER_SEQUENCE_NUMBER", {}, "SequenceNumber is required"),
        ("AT_TIMESTAMP", {}, "Timestamp is required"),
        ("LATEST", {"SequenceNumber": "1" * 21}, "SequenceNumber cannot be specified"),
        ("TRIM_HORIZON", {"SequenceNumber": "1" * 21}, "SequenceNumber cannot be specified"),
        ("TRIM_HORIZON", {"Timestamp": 1}, "Timestamp cannot be specified"),
    ],
)
def test_an_iterator_is_told_just_what_its_kind_needs(
    call: Any, table: str, kind: str, more: dict[str, Any], message: str
) -> None:
    stream = _enable(call, table, "KEYS_ONLY")
    wanted = {"StreamArn": stream, "ShardId": _shard(call, stream), "ShardIteratorType": kind}
    with pytest.raises(ValidationError, match=message):
        call("GetShardIterator", {**wanted, **more})


def test_what_names_no_stream_is_refused_before_it_is_looked_for(call: Any, table: str) -> None:
    nonsense = "x" * 40
    for operation, member, more in (
        ("ListStreams", "ExclusiveStartStreamArn", {}),
        ("DescribeStream", "StreamArn", {}),
        ("GetShardIterator", "StreamArn", {"ShardId": "s" * 28, "ShardIteratorType": "LATEST"}),
    ):
        with pytest.raises(ValidationError, match="Invalid StreamArn"):
            call(operation, {member: nonsense, **more})
    stream = _enable(call, table, "KEYS_ONLY")
    with pytest.raises(TableNotFound):
        call("DescribeStream", {"StreamArn": stream.replace(table, "Elsewhere")})


def test_pages_of_streams_shards_and_records_have_their_limits(call: Any, table: str) -> None:
    stream = _enable(call, table, "KEYS_ONLY")
    shard = _shard(call, stream)
    wanted = {"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "LATEST"}
    iterator = call("GetShardIterator", wanted)["ShardIterator"]
    for operation, request, most in (
        ("ListStreams", {}, 100),
        ("DescribeStream", {"StreamArn": stream}, 100),
        ("GetRecords", {"ShardIterator": iterator}, 1000),
    ):
        call(operation, {**request, "Limit": most})
        with pytest.raises(ValidationError, match=f"less than or equal to {most}"):
            call(operation, {**request, "Limit": most + 1})


def test_shards_begin_behind_any_id_and_have_no_children(call: Any, table: str) -> None:
    stream = _enable(call, table, "KEYS_ONLY")
    shard = _shard(call, stream)

    def shards(**more: Any) -> list[str]:
        answer = call("DescribeStream", {"StreamArn": stream, **more})
        return [each["ShardId"] for each in answer["StreamDescription"]["Shards"]]

    assert shards(ExclusiveStartShardId="shardId-00000000000000000000") == [shard]
    assert shards(ExclusiveStartShardId=shard) == []
    assert shards(ExclusiveStartShardId="z" * 28) == []
    assert shards(ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard}) == []
    for half in ({"Type": "CHILD_SHARDS"}, {"ShardId": shard}):
        with pytest.raises(ValidationError, match="Member must not be null"):
            shards(ShardFilter=half)
