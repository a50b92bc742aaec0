"""Servers for the clients to meet: a real one, and one that does whatever goes wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from zlib import crc32

import orjson
import pytest

from keyfold_engine.clients import ClientOptions
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as opened:
        opened.call("CreateTable", TABLE)
        yield opened


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    with BackgroundServer(engine) as server:
        yield server.url


@pytest.fixture
def impatient() -> ClientOptions:
    """Options that fail soon, so that tests of failures are quick."""
    return ClientOptions(
        retries=RetryPolicy(attempts=4, first_delay=0.001, longest_delay=0.002),
        connect_seconds=0.5,
        answer_seconds=0.3,
    )


def answer(status: int, body: object, *, headers: str = "", checksum: int | None = None) -> bytes:
    content = orjson.dumps(body)
    checksum = crc32(content) if checksum is None else checksum
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"Content-Length: {len(content)}\r\nx-amz-crc32: {checksum}\r\n{headers}\r\n"
    )
    return head.encode() + content


def error(status: int, name: str, message: str = "no") -> bytes:
    return answer(
        status, {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": message}
    )


Act = Callable[[socket.socket], bool]
"""Does something to a client that has sent a request; whether the connection goes on."""


def send(data: bytes) -> Act:
    def act(client: socket.socket) -> bool:
        client.sendall(data)
        return True

    return act


def drop(client: socket.socket) -> bool:
    return False


def send_half(data: bytes) -> Act:
    def act(client: socket.socket) -> bool:
        client.sendall(data[: len(data) * 2 // 3])
        return False

    return act


class FaultyServer:
    """Reads requests and answers each with the next act of its script; the last one repeats."""

    def __init__(self, *acts: Act) -> None:
        self._acts = list(acts)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ended = threading.Event()
        self.requests: list[dict[str, object]] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._ended.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            while body := self._read_request(client):
                self.requests.append(orjson.loads(body))
                act = self._acts.pop(0) if len(self._acts) > 1 else self._acts[0]
                if not act(client):
                    return

    @staticmethod
    def _read_request(client: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            received = client.recv(65536)
            if not received:
                return b""
            data += received
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += client.recv(65536)
        return body


class Faults:
    """What the tests of both clients make faulty servers from."""

    answer = staticmethod(answer)
    error = staticmethod(error)
    send = staticmethod(send)
    drop = staticmethod(drop)
    send_half = staticmethod(send_half)

    def __init__(self) -> None:
        self.servers: list[FaultyServer] = []

    def server(self, *acts: Act) -> FaultyServer:
        server = FaultyServer(*acts)
        self.servers.append(server)
        return server


@pytest.fixture
def faults() -> Iterator[Faults]:
    made = Faults()
    yield made
    for server in made.servers:
        server.close()
