"""A process killed at any moment loses nothing that it had acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.fault.replay import replayed

from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums

KILLS = int(os.environ.get("KILLS", "4"))
KILLS_PER_FILE = 10

WRITER = """
import itertools, os, random, sys
from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums

path, seed, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
engine = Engine.open(path)
for number in itertools.count(first):
    key = {"pk": {"S": str(chance.randrange(20))}}
    item = {**key, "g": {"S": str(chance.randrange(3))}, "number": {"N": str(number)}}
    if number % 3:
        engine.call("PutItem", {"TableName": "Killed", "Item": item})
    else:
        other = {**item, "pk": {"S": "other" + key["pk"]["S"]}}
        count = {"TableName": "Killed", "Key": {"pk": {"S": "count"}},
                 "UpdateExpression": "ADD #n :one SET g = :g",
                 "ExpressionAttributeNames": {"#n": "number"},
                 "ExpressionAttributeValues": {":one": {"N": "1"}, ":g": {"S": "count"}}}
        engine.call("TransactWriteItems", {"TransactItems": [
            {"Put": {"TableName": "Killed", "Item": item}},
            {"Put": {"TableName": "Killed", "Item": other}},
            {"Update": count},
        ]})
    os.write(1, f"{number} {key['pk']['S']}\\n".encode())
"""


@pytest.mark.parametrize("file", range(-(-KILLS // KILLS_PER_FILE)))
def test_killed_writers_lose_no_acknowledged_write(tmp_path: Path, file: int) -> None:
    path = tmp_path / "killed.db"
    with Engine.open(path) as engine:
        _create(engine)
    chance = random.Random(file)
    acknowledged: dict[str, int] = {}
    next_number = counted = 0
    for round in range(1, min(KILLS, KILLS_PER_FILE) + 1):
        lines = _write_until_killed(path, round, next_number, chance.uniform(0.0, 0.2))
        for number, key in lines:
            acknowledged[key] = number
            counted += number % 3 == 0
            next_number = number + 1
        # A write may have been stored and killed before it was acknowledged.
        next_number += 1
        assert apsw.Connection(str(path), vfs=checksums.layer()).pragma("integrity_check") == "ok"
        with Engine.open(path) as engine:
            items = _items(engine)
            for key, number in acknowledged.items():
                assert int(items[key]["number"]["N"]) >= number
            _check_transactions(items, acknowledged)
            assert counted <= int(items["count"]["number"]["N"]) <= counted + round
            _check_index(engine, items)
            assert replayed(engine) == items
    assert acknowledged


def _write_until_killed(path: Path, seed: int, first: int, seconds: float) -> list[tuple[int, str]]:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(seed), str(first)],
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    first_line = writer.stdout.readline()
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    told = (first_line + rest).decode()
    complete = told[: told.rfind("\n")].splitlines()
    return [(int(number), key) for number, key in (line.split() for line in complete)]


def _create(engine: Engine) -> None:
    engine.call(
        "CreateTable",
        {
            "TableName": "Killed",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by_group",
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        },
    )


def _items(engine: Engine) -> dict[str, Any]:
    found = engine.call("Scan", {"TableName": "Killed"})["Items"]
    return {item["pk"]["S"]: item for item in found}


def _check_transactions(items: dict[str, Any], acknowledged: dict[str, int]) -> None:
    """Both halves of a transaction are there: neither is older than the last one told of."""
    for key in acknowledged:
        number = int(items[key]["number"]["N"])
        if number % 3 == 0:
            assert int(items[f"other{key}"]["number"]["N"]) == number


def _check_index(engine: Engine, items: dict[str, Any]) -> None:
    entries = engine.call("Scan", {"TableName": "Killed", "IndexName": "by_group"})["Items"]
    assert {item["pk"]["S"]: item for item in entries} == items
    assert len(entries) == len(items)
