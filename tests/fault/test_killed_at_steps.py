"""A process killed at any step of its storage leaves a whole number of writes behind."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyfold.errors import TransportError
from keyfold_engine.clients import ClientOptions, connect
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums

KILLS = int(os.environ.get("KILLS", "4"))

WRITER = """
import os, signal, sys
import apsw, orjson
from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums

path, requests, last_step = sys.argv[1], orjson.loads(sys.argv[2]), int(sys.argv[3])
steps = 0


def step():
    global steps
    steps += 1
    if steps == last_step:
        os.kill(os.getpid(), signal.SIGKILL)


class Disk(apsw.VFS):
    def __init__(self):
        self.real = apsw.vfs_names()[0]
        super().__init__("mortal", self.real, makedefault=True)

    def xOpen(self, name, flags):
        return DiskFile(self.real, name, flags)


class DiskFile(apsw.VFSFile):
    def xWrite(self, data, offset):
        step()
        super().xWrite(data, offset)

    def xSync(self, flags):
        step()
        super().xSync(flags)

    def xTruncate(self, size):
        step()
        super().xTruncate(size)


disk = Disk()
if requests:
    with Engine.open(path) as engine:
        for request in requests:
            engine.call("TransactWriteItems", request)
            os.write(1, b".")
else:
    import keyfold.cli
    keyfold.cli.main(["serve", "--port", "0", "--data", path])
os.write(2, f"steps {steps}\\n".encode())
"""

TABLE = {
    "TableName": "Steps",
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


def _put(key: str, number: int) -> dict[str, Any]:
    item = {"pk": {"S": key}, "g": {"S": str(number % 2)}, "data": {"S": str(number) * 2000}}
    return {"Put": {"TableName": "Steps", "Item": item}}


def _delete(key: str) -> dict[str, Any]:
    return {"Delete": {"TableName": "Steps", "Key": {"pk": {"S": key}}}}


REQUESTS = [
    {"TransactItems": [_put("a", 1), _put("b", 1)]},
    {"TransactItems": [_put("a", 2), _put("c", 2)]},
    {"TransactItems": [_delete("a"), _put("b", 3), _put("d", 3)]},
    {"TransactItems": [_put("a", 4), _delete("c"), _delete("d")]},
]


Written = tuple[int, int, int | None]
"""The exit code, how many requests were acknowledged, how many steps there were."""


def _embedded(path: Path, last_step: int) -> Written:
    ran = subprocess.run(
        [sys.executable, "-c", WRITER, str(path), orjson.dumps(REQUESTS), str(last_step)],
        capture_output=True,
        check=False,
    )
    return ran.returncode, len(ran.stdout), _steps(ran.stderr)


def _served(path: Path, last_step: int) -> Written:
    server = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "[]", str(last_step)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdout is not None
    acknowledged = 0
    address = re.search(rb"http://\S+", server.stdout.readline())
    if address is not None:
        client = connect(address[0].decode(), ClientOptions(retries=RetryPolicy(attempts=1)))
        with suppress(TransportError):
            for request in REQUESTS:
                client.call("TransactWriteItems", request)
                acknowledged += 1
        client.close()
    server.terminate()
    _, errors = server.communicate()
    return server.returncode, acknowledged, _steps(errors)


def _steps(errors: bytes) -> int | None:
    found = re.search(rb"steps (\d+)", errors)
    return int(found[1]) if found else None


@pytest.mark.parametrize("written", [_embedded, _served], ids=["embedded", "served"])
def test_a_kill_at_any_storage_step_leaves_whole_transactions(
    written: Callable[[Path, int], Written], tmp_path: Path
) -> None:
    empty = tmp_path / "empty.db"
    with Engine.open(empty) as engine:
        engine.call("CreateTable", TABLE)
    states = _states()

    def tried(last_step: int) -> tuple[Path, Written]:
        path = tmp_path / f"{last_step}.db"
        shutil.copy(empty, path)
        return path, written(path, last_step)

    _, (_, _, total) = tried(0)
    assert total is not None
    assert total > len(REQUESTS)
    steps = range(1, total + 1)
    for last_step in steps if total <= KILLS else random.Random(0).sample(steps, KILLS):
        path, (code, acknowledged, _) = tried(last_step)
        assert code == -signal.SIGKILL
        assert apsw.Connection(str(path), vfs=checksums.layer()).pragma("integrity_check") == "ok"
        # The write under way may have been stored before it could be acknowledged.
        assert _state(path) in states[acknowledged : acknowledged + 2]


def _states() -> list[dict[str, Any]]:
    """What the table holds after none, one, two ... of the requests."""
    states: list[dict[str, Any]] = [{}]
    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", TABLE)
        for request in REQUESTS:
            engine.call("TransactWriteItems", request)
            states.append(_items(engine))
    return states


def _state(path: Path) -> dict[str, Any]:
    with Engine.open(path) as engine:
        items = _items(engine)
        assert _items(engine, IndexName="by_group") == items
    return items


def _items(engine: Engine, **options: Any) -> dict[str, Any]:
    found = engine.call("Scan", {"TableName": "Steps", **options})["Items"]
    return {item["pk"]["S"]: item for item in found}
