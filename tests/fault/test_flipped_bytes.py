"""One byte of the data file is another: what is read is right, or the damage is named."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.fault.replay import replayed

from keyfold.errors import Corrupt
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

FLIPS = int(os.environ.get("FLIPS", "200"))
LETTERS = {"pk": "S", "sk": "N", "g": "S"}


def _table(name: str) -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": letter}
            for attribute, letter in LETTERS.items()
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_group",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "local",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "g", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


TABLES = ("Powered", "Other")


def _fill(path: Path) -> None:
    chance = random.Random(20)
    with Engine.open(path, clock=ManualClock()) as engine:
        for name in TABLES:
            engine.call("CreateTable", _table(name))
            for number in range(70):
                item = {
                    "pk": {"S": f"p{number % 7}"},
                    "sk": {"N": str(number)},
                    "g": {"S": f"g{number % 5}"},
                    "data": {"S": "d" * chance.choice((10, 300, 300, 9000))},
                }
                engine.call("PutItem", {"TableName": name, "Item": item})
            engine.call("CreateBackup", {"TableName": name, "BackupName": "first"})
            put = {"Put": {"TableName": name, "Item": item}}
            engine.call("TransactWriteItems", {"TransactItems": [put], "ClientRequestToken": name})


def _reads(engine: Engine) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything there is to read, each with the table that it is about."""

    def ask(operation: str, **request: Any) -> Callable[[], Any]:
        return lambda: engine.call(operation, request)

    for name in TABLES:
        yield name, ask("DescribeTable", TableName=name)
        yield name, partial(replayed, engine, name)
        for index in ({}, {"IndexName": "by_group"}, {"IndexName": "local"}):
            yield name, ask("Scan", TableName=name, **index)
        for number in range(0, 70, 3):
            key = {"pk": {"S": f"p{number % 7}"}, "sk": {"N": str(number)}}
            yield name, ask("GetItem", TableName=name, Key=key)
        for number in range(5):
            yield (
                name,
                ask(
                    "Query",
                    TableName=name,
                    IndexName="by_group",
                    KeyConditionExpression="g = :g",
                    ExpressionAttributeValues={":g": {"S": f"g{number}"}},
                ),
            )
        yield name, ask("ListBackups", TableName=name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Any]]:
    path = tmp_path_factory.mktemp("whole") / "data.db"
    _fill(path)
    with Engine.open(path, clock=ManualClock()) as engine:
        truth = [read() for _, read in _reads(engine)]
    return path.read_bytes(), truth


def test_no_flipped_byte_is_read_as_data(whole: tuple[bytes, list[Any]], tmp_path: Path) -> None:
    content, truth = whole
    path = tmp_path / "data.db"
    noticed = unharmed = contained = 0
    for round in range(FLIPS):
        chance = random.Random(round)
        place, change = chance.randrange(len(content)), chance.randrange(1, 256)
        flipped = bytearray(content)
        flipped[place] ^= change
        for old in tmp_path.iterdir():
            old.unlink()
        path.write_bytes(flipped)
        failed = _compare(path, truth, f"byte {place} xor {change}")
        if failed is None or failed:
            noticed += 1
            contained += failed is not None and failed < len(truth)
        else:
            unharmed += 1
    print(
        f"{FLIPS} flips: {noticed} noticed ({contained} with the rest readable), "
        f"{unharmed} that no read came across, 0 silent"
    )
    assert contained > FLIPS / 3


def _compare(path: Path, truth: list[Any], flip: str) -> int | None:
    """How many reads failed, by name; None if the file was refused whole."""
    try:
        engine = Engine.open(path, clock=ManualClock())
    except Corrupt as error:
        _check_names(error, path, None, flip)
        return None
    failed = 0
    with engine:
        for (table, read), right in zip(_reads(engine), truth, strict=True):
            try:
                found = read()
            except Corrupt as error:
                failed += 1
                _check_names(error, path, table, flip)
            else:
                assert found == right, f"silent: {flip}, table {table}"
    return failed


def _check_names(error: Corrupt, path: Path, table: str | None, flip: str) -> None:
    assert str(path) in str(error), flip
    if error.where:
        assert table is not None, flip
        assert table in error.where, flip
