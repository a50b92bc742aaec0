"""Reads are never older than the last commit, of this process or another."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.errors import ConditionFailed, StorageError, TransactionCanceled

TABLE = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call("CreateTable", TABLE)
        yield opened


def put(engine: Engine, key: str, number: int) -> None:
    item = {"pk": {"S": key}, "n": {"N": str(number)}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})


def get(engine: Engine, key: str) -> int | None:
    found = engine.call("GetItem", {"TableName": "Things", "Key": {"pk": {"S": key}}})
    return int(found["Item"]["n"]["N"]) if "Item" in found else None


def test_a_read_sees_the_write_before_it(engine: Engine) -> None:
    for number in range(3):
        put(engine, "a", number)
        assert [get(engine, "a"), get(engine, "a")] == [number, number]
    engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"S": "a"}}})
    assert get(engine, "a") is None


def test_a_write_that_is_taken_back_changes_nothing(engine: Engine) -> None:
    put(engine, "a", 1)
    assert get(engine, "a") == 1
    writes = [
        {"Put": {"TableName": "Things", "Item": {"pk": {"S": "a"}, "n": {"N": "2"}}}},
        {
            "ConditionCheck": {
                "TableName": "Things",
                "Key": {"pk": {"S": "b"}},
                "ConditionExpression": "attribute_exists(pk)",
            }
        },
    ]
    with pytest.raises(TransactionCanceled):
        engine.call("TransactWriteItems", {"TransactItems": writes})
    assert get(engine, "a") == 1


def test_an_update_after_a_failed_one_starts_from_what_was_stored(engine: Engine) -> None:
    put(engine, "a", 1)

    def update(condition: str) -> tuple[str, bytes]:
        request = {
            "TableName": "Things",
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "ADD n :one",
            "ConditionExpression": condition,
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        return "UpdateItem", orjson.dumps(request)

    right, wrong = update("attribute_exists(pk)"), update("attribute_not_exists(pk)")
    results = engine.call_many_bytes([right, wrong, right, wrong, right])
    assert [type(result) for result in results] == [
        bytes, ConditionFailed, bytes, ConditionFailed, bytes,
    ]  # fmt: skip
    assert get(engine, "a") == 4


def test_a_table_made_again_has_none_of_the_old_items(engine: Engine) -> None:
    put(engine, "a", 1)
    assert get(engine, "a") == 1
    engine.call("DeleteTable", {"TableName": "Things"})
    engine.call("CreateTable", TABLE)
    assert get(engine, "a") is None


def test_a_closed_engine_reads_nothing(engine: Engine) -> None:
    put(engine, "a", 1)
    assert get(engine, "a") == 1
    engine.close()
    with pytest.raises(StorageError, match="closed"):
        get(engine, "a")


def test_threads_never_read_what_was_before_an_acknowledged_write(engine: Engine) -> None:
    put(engine, "a", 0)
    acknowledged = 0
    failures: list[tuple[int, int | None]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            before = acknowledged
            found = get(engine, "a")
            if found is None or found < before:
                failures.append((before, found))

    watchers = [threading.Thread(target=watch) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    for number in range(1, 1500):
        put(engine, "a", number)
        acknowledged = number
    done.set()
    for watcher in watchers:
        watcher.join()
    assert failures == []


FORKS = """
import os
from keyfold_engine.engine import Engine

def put(number):
    item = {"pk": {"S": "a"}, "n": {"N": number}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})

def get():
    asked = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}
    return engine.call("GetItem", asked)["Item"]["n"]["N"]

with Engine.open() as engine:
    engine.call("CreateTable", TABLE)
    put("1")
    assert get() == "1"
    child = os.fork()
    if child == 0:
        put("2")
        os._exit(0 if get() == "2" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert get() == "1"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_memory_of_its_own() -> None:
    # In a process of its own: this one may have threads, which a fork would leave behind.
    subprocess.run([sys.executable, "-c", f"TABLE = {TABLE!r}\n{FORKS}"], check=True, timeout=60)


def test_what_another_process_writes_to_a_file_is_read(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data.db") as engine:
        engine.call("CreateTable", TABLE)
        for number in range(3):
            put(engine, "a", number)
            assert [get(engine, "a"), get(engine, "a")] == [number, number]
            _elsewhere(engine.path, f"put(engine, 'a', {number + 10})")
            assert [get(engine, "a"), get(engine, "a")] == [number + 10, number + 10]
            _elsewhere(engine.path, "delete(engine, 'a')")
            assert get(engine, "a") is None


def test_a_file_stays_in_use_when_another_engine_of_the_process_closes_it(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data.db") as engine:
        engine.call("CreateTable", TABLE)
        put(engine, "a", 1)
        with Engine.open(tmp_path / "data.db") as other:
            assert get(other, "a") == 1
        # The last process to close a file that nobody else uses would delete its log.
        _elsewhere(engine.path, "put(engine, 'a', 2)")
        assert (tmp_path / "data.db-wal").exists()
        assert get(engine, "a") == 2
    assert not (tmp_path / "data.db-wal").exists()


def test_a_closed_engine_takes_no_locks_along_when_it_is_collected(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    closed = Engine.open(path)
    # Another process keeps the file, so that the next engine here has the same index of the log.
    hold = (
        "import sys; from keyfold_engine.engine import Engine; "
        "engine = Engine.open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        closed.close()
        with Engine.open(path):
            before = own_locks(Path(f"{path}-shm"))
            assert before
            del closed
            gc.collect()
            assert own_locks(Path(f"{path}-shm")) == before
        other.communicate()


def own_locks(file: Path) -> list[str]:
    """The locks of this process on a file, as the kernel lists them."""
    ending = f":{file.stat().st_ino}"
    rows = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    return [
        " ".join(row[1:]) for row in rows if row[4] == str(os.getpid()) and row[5].endswith(ending)
    ]


def test_reads_notice_that_their_file_is_gone(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data.db") as engine:
        engine.call("CreateTable", TABLE)
        put(engine, "a", 1)
        assert get(engine, "a") == 1
        (tmp_path / "data.db").unlink()
        assert engine.database.commits._watch is not None
        engine.database.commits._watch.due = 0.0
        with pytest.raises(StorageError, match="was deleted"):
            get(engine, "a")


_ELSEWHERE = """
import sys
from keyfold_engine.engine import Engine

def put(engine, key, number):
    item = {"pk": {"S": key}, "n": {"N": str(number)}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})

def delete(engine, key):
    engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"S": key}}})

with Engine.open(sys.argv[1]) as engine:
    exec(sys.argv[2])
"""


def _elsewhere(path: str, work: str) -> None:
    subprocess.run([sys.executable, "-c", _ELSEWHERE, path, work], check=True, timeout=60)
