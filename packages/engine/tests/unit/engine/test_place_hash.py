from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.place_hash import partition_hash, shard_of, spread
from keyfold_engine.engine.storage import checksums


def _crc(keys: bytes) -> bytes:
    return crc32(keys).to_bytes(4, "big")


def _old_shard(place: bytes, shards: int) -> int:
    return crc32(place[:4]) % shards


@given(st.binary(max_size=40))
def test_places_of_before_are_those_of_today_once_they_are_spread(keys: bytes) -> None:
    assert spread(_crc(keys) + keys) == partition_hash(keys) + keys
    for shards in (2, 3, 16):
        assert shard_of(partition_hash(keys) + keys, shards) == crc32(_crc(keys)) % shards


@pytest.mark.parametrize(
    "keys",
    [
        [f"userid-{at}" for at in range(50)],
        [f"user#{at:04d}" for at in range(1000)],
        [f"k{at}" for at in range(64)],
        [chr(97 + at) for at in range(26)],
        [f"2026-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)],
    ],
)
def test_similar_keys_are_spread_over_the_segments_of_a_scan(keys: list[str]) -> None:
    with Engine.open() as engine:
        _create(engine)
        for key in keys:
            engine.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": key}}})
        counts = [
            engine.call("Scan", {"TableName": "tab", "Segment": at, "TotalSegments": 4})["Count"]
            for at in range(4)
        ]
    assert sum(counts) == len(keys)
    assert min(counts) > len(keys) / 10


def _create(engine: Engine, sort: bool = False) -> None:
    names = ["pk", "sk", "o2"] if sort else ["pk"]

    def schema(partition: str, sort: str) -> list[dict[str, str]]:
        return [
            {"AttributeName": partition, "KeyType": "HASH"},
            {"AttributeName": sort, "KeyType": "RANGE"},
        ]

    request: dict[str, Any] = {
        "TableName": "tab",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
        "KeySchema": schema("pk", "sk") if sort else schema("pk", "sk")[:1],
    }
    if sort:
        projection = {"ProjectionType": "ALL"}
        local = {"IndexName": "local", "KeySchema": schema("pk", "o2")}
        over_all = {"IndexName": "global", "KeySchema": schema("o2", "pk")}
        request["LocalSecondaryIndexes"] = [{**local, "Projection": projection}]
        request["GlobalSecondaryIndexes"] = [{**over_all, "Projection": projection}]
        request["StreamSpecification"] = {
            "StreamEnabled": True,
            "StreamViewType": "NEW_IMAGE",
        }
    engine.call("CreateTable", request)


def _item(at: int, version: int = 1) -> dict[str, Any]:
    texts = {"pk": f"p{at % 7}\0", "sk": f"s{at}", "o2": f"o{at % 3}", "version": str(version)}
    return {name: {"S": text} for name, text in texts.items()}


def _put(engine: Engine, item: dict[str, Any]) -> None:
    engine.call("PutItem", {"TableName": "tab", "Item": item})


def _all(engine: Engine, table: str = "tab", **more: Any) -> list[dict[str, Any]]:
    items = engine.call("Scan", {"TableName": table, **more})["Items"]
    return sorted(items, key=lambda item: str(sorted(item.items())))


def _keyed(expression: str, **values: str) -> dict[str, Any]:
    return {
        "KeyConditionExpression": expression,
        "ExpressionAttributeValues": {f":{name}": {"S": text} for name, text in values.items()},
    }


@pytest.fixture
def old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of format 4 with everything that has places in it."""
    path = tmp_path / "old.db"
    clock = ManualClock(1_000_000.0)
    with monkeypatch.context() as patched:
        patched.setattr("keyfold_engine.engine.tables.partition_hash", _crc)
        patched.setattr("keyfold_engine.engine.streams.shard_of", _old_shard)
        with Engine.open(path, clock=clock, stream_shards=4) as engine:
            _create(engine, sort=True)
            for at in range(40):
                _put(engine, _item(at))
            engine.call("CreateBackup", {"TableName": "tab", "BackupName": "saved"})
            recovery = {"PointInTimeRecoveryEnabled": True}
            engine.call(
                "UpdateContinuousBackups",
                {"TableName": "tab", "PointInTimeRecoverySpecification": recovery},
            )
            clock.advance(1000)
            for at in range(0, 40, 2):
                _put(engine, _item(at, 2))
    connection = apsw.Connection(str(path), vfs=checksums.layer())
    connection.execute("PRAGMA user_version = 4").fetchall()
    connection.close()
    return path


def test_a_file_of_format_4_is_read_and_written_as_before(old_file: Path) -> None:
    items = [_item(at, 2 - at % 2) for at in range(40)]
    clock = ManualClock(1_002_000.0)
    with Engine.open(old_file, clock=clock) as engine:
        assert _all(engine) == sorted(items, key=lambda item: str(sorted(item.items())))
        segments = [_all(engine, Segment=at, TotalSegments=3) for at in range(3)]
        assert sum(map(len, segments)) == 40
        for index in ("local", "global"):
            assert _all(engine, IndexName=index) == _all(engine)
        for item in items:
            key = {name: item[name] for name in ("pk", "sk")}
            assert engine.call("GetItem", {"TableName": "tab", "Key": key})["Item"] == item
        queries: list[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
            (_keyed("pk = :p", p="p3\0"), lambda item: item["pk"]["S"] == "p3\0"),
            (
                {"IndexName": "global", **_keyed("o2 = :o", o="o1")},
                lambda item: item["o2"]["S"] == "o1",
            ),
            (
                {"IndexName": "local", **_keyed("pk = :p AND o2 = :o", p="p3\0", o="o1")},
                lambda item: (item["pk"]["S"], item["o2"]["S"]) == ("p3\0", "o1"),
            ),
        ]
        for query, belongs in queries:
            found = engine.call("Query", {"TableName": "tab", **query})["Items"]
            assert sorted(i["sk"]["S"] for i in found) == sorted(
                i["sk"]["S"] for i in items if belongs(i)
            )
        for item in items:
            key = {name: item[name] for name in ("pk", "sk")}
            engine.call("DeleteItem", {"TableName": "tab", "Key": key})
        for more in ({}, {"IndexName": "local"}, {"IndexName": "global"}):
            assert _all(engine, **more) == []


def test_backups_and_the_past_of_a_file_of_format_4_are_kept(old_file: Path) -> None:
    first = sorted((_item(at) for at in range(40)), key=lambda item: str(sorted(item.items())))
    clock = ManualClock(1_002_000.0)
    with Engine.open(old_file, clock=clock) as engine:
        [backup] = engine.call("ListBackups", {})["BackupSummaries"]
        engine.call(
            "RestoreTableFromBackup",
            {"TargetTableName": "saved", "BackupArn": backup["BackupArn"]},
        )
        assert _all(engine, "saved") == first
        engine.call(
            "RestoreTableToPointInTime",
            {
                "SourceTableName": "tab",
                "TargetTableName": "past",
                "RestoreDateTime": 1_000_500.0,
            },
        )
        assert _all(engine, "past") == first


def test_collections_of_a_file_of_format_4_keep_their_sizes(old_file: Path) -> None:
    with Engine.open(old_file) as engine:
        answer = engine.call(
            "PutItem",
            {"TableName": "tab", "Item": _item(3), "ReturnItemCollectionMetrics": "SIZE"},
        )
        assert answer["ItemCollectionMetrics"]["SizeEstimateRangeGB"] == [0.0, 1.0]
    connection = apsw.Connection(str(old_file), vfs=checksums.layer())
    sums = "SELECT count(*), sum(size) FROM"
    held: Any = connection.execute(f"{sums} collections_1").fetchone()
    parts: Any = [
        connection.execute(f"{sums} {name}").fetchone() for name in ("items_1", "index_1_1")
    ]
    assert held == (7, parts[0][1] + parts[1][1])
    connection.close()


def test_records_of_an_item_stay_in_their_shard(old_file: Path) -> None:
    clock = ManualClock(1_002_000.0)
    with Engine.open(old_file, clock=clock, stream_shards=4) as engine:
        for at in range(40):
            _put(engine, _item(at, 3))
        [stream] = engine.call("ListStreams", {})["Streams"]
        shards = engine.call("DescribeStream", {"StreamArn": stream["StreamArn"]})
        shard_of_key: dict[str, set[str]] = {}
        versions = set()
        for shard in shards["StreamDescription"]["Shards"]:
            start = engine.call(
                "GetShardIterator",
                {
                    "StreamArn": stream["StreamArn"],
                    "ShardId": shard["ShardId"],
                    "ShardIteratorType": "TRIM_HORIZON",
                },
            )
            records = engine.call("GetRecords", {"ShardIterator": start["ShardIterator"]})
            for record in records["Records"]:
                key = record["dynamodb"]["Keys"]["pk"]["S"]
                versions.add(record["dynamodb"]["NewImage"]["version"]["S"])
                shard_of_key.setdefault(key, set()).add(shard["ShardId"])
    assert (len(shard_of_key), versions) == (7, {"1", "2", "3"})
    assert all(len(shards) == 1 for shards in shard_of_key.values())
