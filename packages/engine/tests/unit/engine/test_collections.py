"""Item collections of tables with local indexes: what they count for, and their limit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums
from keyfold_engine.errors import CollectionTooLarge, TransactionCanceled

TABLE: dict[str, Any] = {
    "TableName": "Songs",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "artist", "AttributeType": "N"},
        {"AttributeName": "title", "AttributeType": "S"},
        {"AttributeName": "year", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "artist", "KeyType": "HASH"},
        {"AttributeName": "title", "KeyType": "RANGE"},
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": name,
            "KeySchema": [
                {"AttributeName": "artist", "KeyType": "HASH"},
                {"AttributeName": "year", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": projection},
        }
        for name, projection in (("whole", "ALL"), ("keys", "KEYS_ONLY"))
    ],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "songs.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    with Engine.open(path, durability="memory") as opened:
        opened.call("CreateTable", TABLE)
        yield opened


def _song(artist: int, title: str, length: int, year: str | None = None) -> dict[str, Any]:
    item = {"artist": {"N": str(artist)}, "title": {"S": title}, "text": {"S": "x" * length}}
    return item if year is None else {**item, "year": {"S": year}}


def _put(item: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": "Songs", "Item": item}


def _key(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in ("artist", "title")}


def _kept(path: Path, table: int = 1) -> list[int]:
    """The sizes of all collections, as the file has them."""
    rows: Any = apsw.Connection(str(path), vfs=checksums.layer()).execute(
        f"SELECT size FROM collections_{table}"
    )
    return sorted(size for (size,) in rows)


def _counted(path: Path, table: int = 1) -> list[int]:
    """The same, added up from items and entries."""
    connection = apsw.Connection(str(path), vfs=checksums.layer())
    sizes: dict[bytes, int] = {}
    for name in (f"items_{table}", f"index_{table}_1", f"index_{table}_2"):
        rows: Any = connection.execute(f"SELECT place, size FROM {name}")
        for place, size in rows:
            partition = place[: place.index(b"\0\0", 4)]
            sizes[partition] = sizes.get(partition, 0) + size
    return sorted(sizes.values())


def _write_at_random(engine: Engine, steps: int) -> None:
    dice = random.Random(7)
    for _ in range(steps):
        song = _song(
            dice.randrange(4),
            dice.choice("abcdef"),
            dice.randrange(300),
            dice.choice([None, "1999", "2001"]),
        )
        match dice.randrange(4):
            case 0 | 1:
                engine.call("PutItem", _put(song))
            case 2:
                engine.call("DeleteItem", {"TableName": "Songs", "Key": _key(song)})
            case _:
                update = {"UpdateExpression": "SET #y = :y, note = :y"}
                engine.call(
                    "UpdateItem",
                    {
                        "TableName": "Songs",
                        "Key": _key(song),
                        **update,
                        "ExpressionAttributeNames": {"#y": "year"},
                        "ExpressionAttributeValues": {":y": {"S": song["text"]["S"] or "y"}},
                    },
                )


def test_sizes_follow_every_write(engine: Engine, path: Path) -> None:
    _write_at_random(engine, 200)
    assert _kept(path) == _counted(path) != []


def test_a_collection_without_items_is_forgotten(engine: Engine, path: Path) -> None:
    song = _song(1, "a", 10, "1999")
    engine.call("PutItem", _put(song))
    engine.call("DeleteItem", {"TableName": "Songs", "Key": _key(song)})
    assert _kept(path) == []


def test_a_restored_table_has_its_sizes(engine: Engine, path: Path) -> None:
    _write_at_random(engine, 100)
    backup = engine.call("CreateBackup", {"TableName": "Songs", "BackupName": "saved"})
    arn = backup["BackupDetails"]["BackupArn"]
    engine.call("RestoreTableFromBackup", {"TargetTableName": "Again", "BackupArn": arn})
    assert _kept(path, 2) == _counted(path, 2) == _kept(path)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> Engine:
    """An engine whose collections hold 1,000 bytes, the first one with 900 in it."""
    monkeypatch.setattr("keyfold_engine.limits.ITEM_COLLECTION_BYTES", 1000)
    engine.call("PutItem", _put(_song(1, "a", 879)))
    return engine


def test_growth_beyond_the_limit_is_refused_and_nothing_is_written(
    small: Engine, path: Path
) -> None:
    with pytest.raises(CollectionTooLarge, match="Collection size exceeded"):
        small.call("PutItem", _put(_song(1, "b", 200)))
    assert small.call("Scan", {"TableName": "Songs", "Select": "COUNT"})["Count"] == 1
    assert _kept(path) == _counted(path)
    small.call("PutItem", _put(_song(2, "b", 200)))


def test_growth_that_is_refused_takes_back_nothing_of_others_in_its_commit(
    small: Engine, path: Path
) -> None:
    songs = [_song(2, "a", 200), _song(1, "b", 200), _song(2, "b", 200)]
    results = small.call_many_bytes([("PutItem", orjson.dumps(_put(song))) for song in songs])
    assert [type(result) for result in results] == [bytes, CollectionTooLarge, bytes]
    assert small.call("Scan", {"TableName": "Songs", "Select": "COUNT"})["Count"] == 3
    assert _kept(path) == _counted(path)


def test_entries_in_local_indexes_count(small: Engine) -> None:
    small.call("PutItem", _put(_song(1, "b", 20)))
    with pytest.raises(CollectionTooLarge):
        small.call("PutItem", _put(_song(1, "b", 20, "1999")))


def test_a_collection_over_the_limit_may_shrink(
    small: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyfold_engine.limits.ITEM_COLLECTION_BYTES", 100)
    small.call("PutItem", _put(_song(1, "a", 300)))
    with pytest.raises(CollectionTooLarge):
        small.call("PutItem", _put(_song(1, "a", 301)))
    small.call("DeleteItem", {"TableName": "Songs", "Key": _key(_song(1, "a", 0))})
    small.call("PutItem", _put(_song(1, "a", 10)))


def test_a_transaction_says_which_part_grew_too_large(small: Engine) -> None:
    parts = [{"Put": _put(_song(2, "a", 10))}, {"Put": _put(_song(1, "b", 200))}]
    with pytest.raises(TransactionCanceled) as caught:
        small.call("TransactWriteItems", {"TransactItems": parts})
    assert [reason.code for reason in caught.value.reasons] == [
        "None",
        "ItemCollectionSizeLimitExceeded",
    ]
    assert small.call("Scan", {"TableName": "Songs", "Select": "COUNT"})["Count"] == 1


def test_metrics_tell_the_range_of_gigabytes(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyfold_engine.limits.GB", 100)
    asked = {**_put(_song(1, "a", 230)), "ReturnItemCollectionMetrics": "SIZE"}
    assert engine.call("PutItem", asked)["ItemCollectionMetrics"] == {
        "ItemCollectionKey": {"artist": {"N": "1"}},
        "SizeEstimateRangeGB": [2.0, 3.0],
    }
