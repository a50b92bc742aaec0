from __future__ import annotations

from typing import Any

import pytest

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
