"""A server killed under load keeps every write that it has answered."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from keyfold.errors import KeyfoldError
from keyfold_engine.clients import ClientOptions, connect
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums

KILLS = int(os.environ.get("KILLS", "4"))
KILLS_PER_FILE = 10
WRITERS = 4

TABLE = {
    "TableName": "Served",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "g")],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_group",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


@pytest.mark.parametrize("file", range(-(-KILLS // KILLS_PER_FILE)))
def test_a_killed_server_loses_nothing_that_it_answered(tmp_path: Path, file: int) -> None:
    path = tmp_path / "served.db"
    with Engine.open(path) as engine:
        engine.call("CreateTable", TABLE)
    chance = random.Random(file)
    answered = dict.fromkeys(range(WRITERS), 0)
    sent = dict.fromkeys(range(WRITERS), 0)
    for _ in range(min(KILLS, KILLS_PER_FILE)):
        _serve_until_killed(path, chance.uniform(0.0, 0.15), answered, sent)
        assert apsw.Connection(str(path), vfs=checksums.layer()).pragma("integrity_check") == "ok"
        with Engine.open(path) as engine:
            items = _items(engine)
            assert _items(engine, IndexName="by_group") == items
        for writer in range(WRITERS):
            halves = [items.get(f"{side}{writer}") for side in ("left", "right")]
            numbers = [0 if half is None else int(half["number"]["N"]) for half in halves]
            assert numbers[0] == numbers[1]
            assert answered[writer] <= numbers[0] <= sent[writer]
    assert all(answered.values())


def _serve_until_killed(
    path: Path, seconds: float, answered: dict[int, int], sent: dict[int, int]
) -> None:
    command = [sys.executable, "-c", "import keyfold.cli, sys; sys.exit(keyfold.cli.main())"]
    server = subprocess.Popen(
        [*command, "serve", "--port", "0", "--data", str(path)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    address = re.search(r"http://\S+", server.stdout.readline())
    assert address is not None
    url = address[0]

    def write(writer: int) -> None:
        client = connect(url, ClientOptions(retries=RetryPolicy(attempts=1)))
        try:
            while True:
                sent[writer] += 1
                client.call("TransactWriteItems", _both_halves(writer, sent[writer]))
                answered[writer] = sent[writer]
        except KeyfoldError:
            client.close()

    before = dict(answered)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    while any(answered[number] == before[number] for number in range(WRITERS)):
        assert all(writer.is_alive() for writer in writers)
        time.sleep(0.01)
    time.sleep(seconds)
    server.send_signal(signal.SIGKILL)
    server.communicate()
    for writer in writers:
        writer.join()


def _both_halves(writer: int, number: int) -> dict[str, Any]:
    rest = {"g": {"S": str(number % 3)}, "number": {"N": str(number)}}
    items = [{"pk": {"S": f"{side}{writer}"}, **rest} for side in ("left", "right")]
    return {"TransactItems": [{"Put": {"TableName": "Served", "Item": item}} for item in items]}


def _items(engine: Engine, **options: Any) -> dict[str, Any]:
    found = engine.call("Scan", {"TableName": "Served", **options})["Items"]
    return {item["pk"]["S"]: item for item in found}
