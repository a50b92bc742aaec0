"""`keyfold-engine serve` as a process of its own: workers, signals, what it says when it cannot."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold_engine.clients import ClientOptions, connect
from keyfold_engine.clients.credentials import FixedCredentials
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.clients.signer import Credentials
from keyfold_engine.engine import Engine
from keyfold_engine.errors import KeyfoldError, TableNotFound

COMMAND = (
    sys.executable,
    "-c",
    "import sys; from keyfold_engine.commands import main; sys.exit(main())",
)
TABLE: dict[str, Any] = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@contextmanager
def serving(
    *arguments: str, command: tuple[str, ...] = COMMAND, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [*command, "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"https?://\S+", line)
        assert found, line or (process.stderr and process.stderr.read())
        yield process, found[0]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def put(number: int) -> dict[str, Any]:
    return {"TableName": "Things", "Item": {"pk": {"S": str(number)}}}


def count(url: str) -> int:
    client = connect(url)
    answer = client.call("Scan", {"TableName": "Things", "Select": "COUNT", "ConsistentRead": True})
    client.close()
    return int(answer["Count"])


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_under_load_loses_no_acknowledged_write(tmp_path: Path, workers: str) -> None:
    data = tmp_path / "things.db"
    acknowledged: list[int] = []
    with serving("--data", str(data), "--workers", workers) as (process, url):
        connect(url).call("CreateTable", TABLE)
        impatient = ClientOptions(retries=RetryPolicy(attempts=1))

        def write(first: int) -> None:
            client = connect(url, impatient)
            try:
                for number in range(first, first + 1_000_000):
                    client.call("PutItem", put(number))
                    acknowledged.append(number)
            except KeyfoldError:
                client.close()

        writers = [threading.Thread(target=write, args=(n * 1_000_000,)) for n in range(4)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 200:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
        for writer in writers:
            writer.join(20)
    with Engine.open(data) as engine:
        for number in acknowledged:
            key = put(number)["Item"]
            found = engine.call("GetItem", {"TableName": "Things", "Key": key})
            assert found == {"Item": key}


def test_workers_see_each_others_tables_and_items(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path / "things.db"), "--workers", "2") as (_, url):
        with ExitStack() as opened:
            clients = [connect(url) for _ in range(8)]
            for client in clients:
                opened.callback(client.close)
            clients[0].call("CreateTable", TABLE)
            for number, client in enumerate(clients):
                client.call("PutItem", put(number))
                for reader in clients:
                    key = put(number)["Item"]
                    asked = {"TableName": "Things", "Key": key, "ConsistentRead": True}
                    assert reader.call("GetItem", asked) == {"Item": key}
        assert count(url) == 8


def test_no_worker_goes_on_with_what_another_has_changed(tmp_path: Path) -> None:
    data = str(tmp_path / "things.db")
    with serving("--data", data, "--workers", "2") as (_, url), ExitStack() as opened:
        clients = [connect(url) for _ in range(8)]
        for client in clients:
            opened.callback(client.close)
        clients[0].call("CreateTable", TABLE)
        asked = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}
        for turn in range(5):
            for number, client in enumerate(clients):
                item = {"pk": {"S": "a"}, "n": {"N": str(10 * turn + number)}}
                client.call("PutItem", {"TableName": "Things", "Item": item})
                assert [reader.call("GetItem", asked) for reader in clients] == [{"Item": item}] * 8
        clients[0].call("DeleteTable", {"TableName": "Things"})
        for reader in clients:
            with pytest.raises(TableNotFound):
                reader.call("GetItem", asked)


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_workers_take_turns_writing_and_none_loses_a_write(tmp_path: Path, durability: str) -> None:
    data = str(tmp_path / "things.db")
    with serving("--data", data, "--workers", "3", "--durability", durability) as (_, url):
        connect(url).call("CreateTable", TABLE)
        once = ClientOptions(retries=RetryPolicy(attempts=1))
        adds: dict[str, Any] = {
            "TableName": "Things",
            "Key": {"pk": {"S": "sum"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        together = {"TransactItems": [{"Update": adds}, {"Put": put(0)}]}

        def write(_: int) -> None:
            client = connect(url, once)
            for turn in range(40):
                if turn % 4:
                    client.call("UpdateItem", adds)
                else:
                    client.call("TransactWriteItems", together)
            client.close()

        with ThreadPoolExecutor(8) as writers:
            list(writers.map(write, range(8)))
        found = connect(url).call(
            "GetItem", {"TableName": "Things", "Key": adds["Key"], "ConsistentRead": True}
        )
        assert found["Item"]["n"] == {"N": "320"}


def test_workers_need_a_file() -> None:
    failed = subprocess.run(
        [*COMMAND, "serve", "--port", "0", "--workers", "2"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert failed.returncode == 2
    assert "--workers 2 needs a data file that the processes share: give --data" in failed.stderr


def children(process: int) -> list[int]:
    return [
        int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers through /proc")
def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path / "things.db"), "--workers", "2") as (process, url):
        connect(url).call("CreateTable", TABLE)
        before = children(process.pid)
        os.kill(before[0], signal.SIGKILL)
        deadline = time.monotonic() + 15
        while len(children(process.pid)) < 2 or children(process.pid) == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert count(url) == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers through /proc")
def test_a_worker_that_hangs_is_ended_and_started_again(tmp_path: Path) -> None:
    hurried = "import sys; from keyfold_engine.wire import workers; workers.HANG_SECONDS = 2.5; "
    command = (*COMMAND[:2], hurried + "from keyfold_engine.commands import main; sys.exit(main())")
    data = str(tmp_path / "things.db")
    with serving("--data", data, "--workers", "2", command=command) as (process, url):
        connect(url).call("CreateTable", TABLE)
        before = children(process.pid)
        os.kill(before[0], signal.SIGSTOP)
        deadline = time.monotonic() + 30
        while before[0] in (found := children(process.pid)) or len(found) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert before[1] in found
        for _ in range(10):
            assert count(url) == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers through /proc")
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path / "things.db"), "--workers", "2") as (process, url):
        connect(url).call("CreateTable", TABLE)
        process.kill()
        process.wait(timeout=20)
        host, port = url.removeprefix("http://").split(":")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
            except OSError:
                return
            time.sleep(0.05)
        raise AssertionError("somebody still listens")


def test_stopping_ends_a_worker_that_is_just_being_started(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path / "things.db"), "--workers", "2") as (process, _):
        before = children(process.pid)
        os.kill(before[0], signal.SIGKILL)
        while len(found := children(process.pid)) < 2 or found == before:
            time.sleep(0.001)
        process.terminate()
        process.wait(timeout=20)


def test_metrics_are_those_of_all_workers(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path / "things.db"), "--workers", "2") as (_, url):
        connect(url).call("CreateTable", TABLE)
        clients = [connect(url) for _ in range(10)]
        for number, client in enumerate(clients):
            client.call("PutItem", put(number))
            client.close()
        host, port = url.removeprefix("http://").split(":")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with socket.create_connection((host, int(port))) as asking:
                asking.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                text = b"".join(iter(lambda: asking.recv(65536), b""))
            if b'keyfold_requests_total{operation="PutItem",status="2xx"} 10\n' in text:
                return
        raise AssertionError(text.decode())


def test_a_second_server_is_told_that_the_port_is_taken(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path / "one.db"), "--workers", "2") as (_, url):
        port, data = url.rpartition(":")[2], str(tmp_path / "two.db")
        for workers in ("1", "2"):
            second = subprocess.run(
                [*COMMAND, "serve", "--port", port, "--workers", workers, "--data", data],
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
            assert second.returncode == 2
            assert f"port {port}" in second.stderr
            assert "--port" in second.stderr
            assert len(second.stderr.splitlines()) == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_file_that_is_no_data_file_is_one_line(tmp_path: Path, workers: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, " * 500)
    failed = subprocess.run(
        [*COMMAND, "serve", "--port", "0", "--data", str(file), "--workers", workers],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert failed.returncode == 2
    assert "notes.txt" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_credentials_of_the_environment_are_asked_for(tmp_path: Path) -> None:
    with serving(KEYFOLD_CREDENTIALS="ALICE:wonderland") as (_, url):
        known = connect(
            url, ClientOptions(credentials=FixedCredentials(Credentials("ALICE", "wonderland")))
        )
        assert known.call("ListTables", {}) == {"TableNames": []}
        with pytest.raises(KeyfoldError, match="security token"):
            connect(url, ClientOptions(credentials=FixedCredentials(Credentials("BOB", "x")))).call(
                "ListTables", {}
            )


def test_the_request_log_has_a_line_for_each_answer(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serving("--request-log", str(log)) as (_, url):
        client = connect(url)
        client.call("CreateTable", TABLE)
        client.call("PutItem", put(1))
        with pytest.raises(KeyfoldError):
            client.call("DescribeTable", {"TableName": "Nothing"})
        client.close()
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    assert [(line["operation"], line["status"]) for line in lines] == [
        ("CreateTable", 200),
        ("PutItem", 200),
        ("DescribeTable", 400),
    ]
    assert all(len(line["request_id"]) == 52 for line in lines)
