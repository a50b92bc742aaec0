"""Two workers on one file: the owner carries out the writes of both."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.wire import Server, ServerSettings
from keyfold_engine.wire.relay import Relay
from tests.unit.wire.conftest import TABLE, Asker


@contextmanager
def worker(data: Path, address: Path, owned: socket.socket | None) -> Iterator[Asker]:
    with Engine.open(str(data)) as engine:
        server = Server(engine, ServerSettings(data=str(data), port=0), sweeps=False)
        server.share(Relay(address, owned))
        server.start()
        running = threading.Thread(target=server.run)
        running.start()
        try:
            yield Asker(server.port)
        finally:
            server.stop()
            running.join()


class Pair:
    """An owner that can end before the other worker does."""

    def __init__(self, data: Path, address: Path) -> None:
        self.data, self.address = data, address
        self._owner, self._other = ExitStack(), ExitStack()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(address))
        self._listener.listen()
        self.owner = self._owner.enter_context(worker(data, address, self._listener))
        self.owner.call("CreateTable", TABLE)
        self.other = self._other.enter_context(worker(data, address, None))

    def end_owner(self) -> None:
        self._owner.close()
        self._listener.close()

    def end(self) -> None:
        self._other.close()
        self.end_owner()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path / "things.db", tmp_path / "writes")
    yield made
    made.end()


def put(key: str, **more: Any) -> dict[str, Any]:
    return {"TableName": "Things", "Item": {"pk": {"S": key}}, **more}


def read(asker: Asker, key: str) -> dict[str, Any]:
    return asker.call("GetItem", {"TableName": "Things", "Key": {"pk": {"S": key}}}).json


def test_a_write_is_seen_by_both_as_soon_as_it_is_answered(pair: Pair) -> None:
    for number in range(20):
        assert pair.other.call("PutItem", put(f"a{number}")).status == 200
        assert read(pair.owner, f"a{number}") == {"Item": {"pk": {"S": f"a{number}"}}}
        assert pair.owner.call("PutItem", put(f"b{number}")).status == 200
        assert read(pair.other, f"b{number}") == {"Item": {"pk": {"S": f"b{number}"}}}


def test_errors_are_those_that_the_owner_would_tell_itself(pair: Pair) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("PutItem", {"TableName": "Things", "Item": {}}),
        ("PutItem", put("a", ConditionExpression="attribute_exists(pk)")),
        ("DeleteItem", {"TableName": "None", "Key": {"pk": {"S": "a"}}}),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": put("a", ConditionExpression="attribute_exists(pk)")}]},
        ),
    ]
    for operation, request in wrong:
        relayed, told = (each.call(operation, request) for each in (pair.other, pair.owner))
        assert relayed.status == told.status == 400
        assert relayed.body == told.body


def test_a_write_that_is_too_long_for_the_owners_loop_is_carried_out(pair: Pair) -> None:
    puts = [{"Put": put(f"long{number}")} for number in range(100)]
    assert pair.other.call("TransactWriteItems", {"TransactItems": puts}).status == 200
    assert read(pair.owner, "long99")


def test_a_worker_writes_itself_while_there_is_no_owner(tmp_path: Path) -> None:
    with worker(tmp_path / "things.db", tmp_path / "none", None) as alone:
        assert alone.call("CreateTable", TABLE).status == 200
        assert alone.call("PutItem", put("a")).status == 200
        assert read(alone, "a")


def test_writes_under_way_are_answered_when_all_workers_stop(pair: Pair) -> None:
    connections = [pair.other.connect() for _ in range(8)]
    for connection in connections:
        connection.settimeout(20)
    kept: list[str] = []

    def write(number: int, connection: socket.socket) -> None:
        for turn in range(1_000):
            key = f"{number}-{turn}"
            body = b'{"TableName":"Things","Item":{"pk":{"S":"%b"}}}' % key.encode()
            try:
                connection.sendall(
                    b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"
                    b"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
                    b"Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, "
                    b"Signature=f\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
                )
                if Asker.read(connection).status != 200:
                    return
            except (OSError, AssertionError):
                return
            kept.append(key)

    clients = [threading.Thread(target=write, args=each) for each in enumerate(connections)]
    for client in clients:
        client.start()
    while len(kept) < 50:
        pass
    ending = threading.Thread(target=pair.end_owner)
    ending.start()
    pair.end()
    ending.join()
    for client, connection in zip(clients, connections, strict=True):
        client.join()
        connection.close()
    with Engine.open(str(pair.data)) as engine:
        for key in kept:
            request = {"TableName": "Things", "Key": {"pk": {"S": key}}}
            assert "Item" in engine.call("GetItem", request)
