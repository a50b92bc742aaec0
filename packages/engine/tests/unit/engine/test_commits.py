"""Threads and processes on one file."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.errors import ConditionFailed, StorageError, TableNotFound, ValidationError

ADD = {
    "TableName": "Shared",
    "Key": {"pk": {"S": "counter"}},
    "UpdateExpression": "ADD n :one",
    "ExpressionAttributeValues": {":one": {"N": "1"}},
}
GET = {"TableName": "Shared", "Key": {"pk": {"S": "counter"}}}


@pytest.fixture(params=["file", "memory"])
def shared(
    request: pytest.FixtureRequest, tmp_path: Path, create_table: Callable[..., None]
) -> Iterator[Engine]:
    path = tmp_path / "shared.db" if request.param == "file" else ":memory:"
    with Engine.open(path) as engine:
        create_table(engine, "Shared", indexes={"by_n": ("n:N",)})
        yield engine


def test_increments_of_many_threads_all_count(shared: Engine) -> None:
    def add(_: int) -> None:
        for _ in range(25):
            shared.call("UpdateItem", ADD)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert shared.call("GetItem", GET)["Item"]["n"] == {"N": "200"}


def test_only_one_of_many_conditional_puts_wins(shared: Engine) -> None:
    request = {
        "TableName": "Shared",
        "Item": {"pk": {"S": "prize"}},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    start = threading.Barrier(8)

    def compete(_: int) -> bool:
        start.wait()
        try:
            shared.call("PutItem", request)
        except ConditionFailed:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(compete, range(8))) == 1


def test_a_transaction_sent_by_many_with_one_token_happens_once(shared: Engine) -> None:
    request = {"TransactItems": [{"Update": ADD}], "ClientRequestToken": "one"}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: shared.call("TransactWriteItems", request), range(24)))
    assert shared.call("GetItem", GET)["Item"]["n"] == {"N": "1"}


def test_unconditional_puts_of_one_key_all_succeed(shared: Engine) -> None:
    def put(number: int) -> None:
        item = {"pk": {"S": "counter"}, "n": {"N": str(number)}}
        for _ in range(20):
            shared.call("PutItem", {"TableName": "Shared", "Item": item})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(8)))
    kept = shared.call("GetItem", GET)["Item"]["n"]
    assert shared.call("Scan", {"TableName": "Shared", "IndexName": "by_n"})["Items"] == [
        {"pk": {"S": "counter"}, "n": kept}
    ]


def test_a_failing_write_in_a_shared_commit_takes_back_only_itself(shared: Engine) -> None:
    def work(number: int) -> str:
        wrong = number % 2
        item = {"pk": {"S": str(number)}, **({"n": {"S": "not a number"}} if wrong else {})}
        try:
            shared.call("PutItem", {"TableName": "Shared", "Item": item})
        except ValidationError:
            return "refused"
        return "stored"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(work, range(80)))
    assert outcomes == ["stored", "refused"] * 40
    found = shared.call("Scan", {"TableName": "Shared"})["Items"]
    assert {int(item["pk"]["S"]) for item in found} == set(range(0, 80, 2))


def test_a_transaction_is_seen_whole_or_not_at_all(shared: Engine) -> None:
    keys = [{"pk": {"S": name}} for name in ("left", "right")]
    stop = threading.Event()

    def write() -> None:
        for number in range(150):
            parts = [
                {"Put": {"TableName": "Shared", "Item": {**key, "n": {"N": str(number)}}}}
                for key in keys
            ]
            shared.call("TransactWriteItems", {"TransactItems": parts})
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    gets = [{"Get": {"TableName": "Shared", "Key": key}} for key in keys]
    while not stop.is_set():
        left, right = shared.call("TransactGetItems", {"TransactItems": gets})["Responses"]
        assert left.get("Item", {}).get("n") == right.get("Item", {}).get("n")
    writer.join()


OTHER_PROCESS = """
import sys
from keyfold_engine.engine import Engine
with Engine.open(sys.argv[1]) as engine:
    for _ in range(50):
        engine.call("UpdateItem", {
            "TableName": "Shared", "Key": {"pk": {"S": "counter"}},
            "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}},
        })
"""


def test_increments_of_several_processes_all_count(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "shared.db"
    with Engine.open(path) as engine:
        create_table(engine, "Shared")
        others = [
            subprocess.Popen([sys.executable, "-c", OTHER_PROCESS, str(path)]) for _ in range(2)
        ]
        for _ in range(50):
            engine.call("UpdateItem", ADD)
        assert [other.wait() for other in others] == [0, 0]
        assert engine.call("GetItem", GET)["Item"]["n"] == {"N": "150"}


def test_an_index_made_through_one_engine_is_kept_by_writes_of_another(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "shared.db"
    with Engine.open(path) as first, Engine.open(path) as second:
        create_table(first, "Shared")
        second.call("UpdateItem", ADD)
        first.call(
            "UpdateTable",
            {
                "TableName": "Shared",
                "AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}],
                "GlobalSecondaryIndexUpdates": [
                    {
                        "Create": {
                            "IndexName": "by_n",
                            "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    }
                ],
            },
        )
        assert second.call("Scan", {"TableName": "Shared", "IndexName": "by_n"})["Count"] == 1
        second.call("UpdateItem", ADD)
        (entry,) = first.call("Scan", {"TableName": "Shared", "IndexName": "by_n"})["Items"]
        assert entry["n"] == {"N": "2"}
        (seen,) = second.call("Scan", {"TableName": "Shared", "IndexName": "by_n"})["Items"]
        assert seen == entry


def test_a_table_deleted_through_one_engine_is_gone_for_the_other(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "shared.db"
    with Engine.open(path) as first, Engine.open(path) as second:
        create_table(first, "Shared")
        second.call("UpdateItem", ADD)
        first.call("DeleteTable", {"TableName": "Shared"})
        with pytest.raises(TableNotFound):
            second.call("GetItem", GET)
        create_table(first, "Shared")
        assert second.call("GetItem", GET) == {}
        second.call("UpdateItem", ADD)
        assert first.call("GetItem", GET)["Item"]["n"] == {"N": "1"}


def test_a_write_that_waited_while_the_engine_was_closed_is_refused(shared: Engine) -> None:
    commits = shared._database.commits
    with ThreadPoolExecutor(3) as pool:
        with commits._lock:
            waiting = [pool.submit(shared.call, "UpdateItem", ADD) for _ in range(3)]
            while len(commits._queue) < 3:
                time.sleep(0.001)
            commits._closed = True
            commits._writer.connection.close()
        for each in waiting:
            with pytest.raises(StorageError, match="the engine is closed"):
                each.result()
