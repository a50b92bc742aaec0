from __future__ import annotations

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.places import partition_hash, shard_of


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


def _create(engine: Engine) -> None:
    engine.call(
        "CreateTable",
        {
            "TableName": "tab",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        },
    )


def test_similar_keys_are_spread_over_the_shards_of_a_stream() -> None:
    places = [partition_hash(f"userid-{at}".encode()) for at in range(400)]
    counts = [sum(shard_of(place, 4) == shard for place in places) for shard in range(4)]
    assert min(counts) > 60
