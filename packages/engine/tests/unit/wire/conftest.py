"""A served engine, and a client that sends exactly the bytes it is told to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from keyfold_engine.clients.signer import Credentials, Signer
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer, ServerSettings

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        decoded: dict[str, Any] = orjson.loads(self.body)
        return decoded


@dataclass
class Asker:
    """Sends requests to one server, each byte as the test wants it."""

    port: int
    signed: dict[str, str] = field(
        default_factory=lambda: {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/"
            "aws4_request, SignedHeaders=host, Signature=b",
        }
    )

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def send(
        self,
        body: bytes = b"{}",
        *,
        method: str = "POST",
        url: str = "/",
        target: str | None = "DynamoDB_20120810.ListTables",
        headers: dict[str, str] | None = None,
    ) -> Reply:
        sent = {**self.signed, **(headers or {}), "Host": "localhost"}
        if target is not None:
            sent["X-Amz-Target"] = target
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value)
        head = f"{method} {url} HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
        return self.raw(head.encode() + body)

    def call(self, operation: str, request: dict[str, Any], **headers: str) -> Reply:
        return self.send(
            orjson.dumps(request), target=f"DynamoDB_20120810.{operation}", headers=headers
        )

    def raw(self, data: bytes) -> Reply:
        with self.connect() as connection:
            connection.sendall(data)
            return self.read(connection)

    @staticmethod
    def read(connection: socket.socket) -> Reply:
        data = b""
        while b"\r\n\r\n" not in data:
            received = connection.recv(65536)
            assert received, f"the server closed after {data!r}"
            data += received
        head, _, body = data.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        while len(body) < int(headers["content-length"]):
            body += connection.recv(65536)
        return Reply(int(status.split()[1]), headers, body)


def signed_request(
    credentials: Credentials, port: int, operation: str, body: bytes, now: float
) -> bytes:
    signer = Signer(f"127.0.0.1:{port}", "us-east-1", f"DynamoDB_20120810.{operation}")
    headers = signer.headers(credentials, body, now)
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    return b"POST / HTTP/1.1\r\n" + headers + length + body


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as opened:
        opened.call("CreateTable", TABLE)
        yield opened


Serve = Callable[..., Asker]


@pytest.fixture
def serve(engine: Engine) -> Iterator[Serve]:
    with ExitStack() as running:

        def start(settings: ServerSettings | None = None) -> Asker:
            settings = (settings or ServerSettings())._replace(port=0)
            return Asker(running.enter_context(BackgroundServer(engine, settings)).port)

        yield start


@pytest.fixture
def asker(serve: Serve) -> Asker:
    return serve()


@pytest.fixture
def sign() -> Callable[..., bytes]:
    return signed_request
