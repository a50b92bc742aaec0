"""HTTP as strangers speak it: one answer for each request, in order, whatever follows."""

from __future__ import annotations

import socket
import threading
from typing import Any

import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.wire import ClientLimits, ServerSettings

HEAD = (
    b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.%b\r\n"
    b"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
    b"Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=f\r\n"
)


def request(operation: bytes, body: dict[str, Any], extra: bytes = b"") -> bytes:
    content = orjson.dumps(body)
    return HEAD % operation + extra + b"Content-Length: %d\r\n\r\n" % len(content) + content


def put(number: int, extra: bytes = b"") -> bytes:
    return request(b"PutItem", {"TableName": "Things", "Item": {"pk": {"S": str(number)}}}, extra)


def get(number: int) -> bytes:
    return request(b"GetItem", {"TableName": "Things", "Key": {"pk": {"S": str(number)}}})


SCAN = request(b"Scan", {"TableName": "Things"})


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def statuses(data: bytes) -> list[int]:
    return [int(each[:3]) for each in data.split(b"HTTP/1.1 ")[1:]]


def exchange(asker: Any, data: bytes) -> bytes:
    with asker.connect() as connection:
        connection.sendall(data)
        return read_all(connection)


@pytest.mark.parametrize("work", [put(1), get(1), SCAN], ids=["put", "get", "scan"])
def test_a_half_closed_client_gets_its_answers(asker: Any, work: bytes) -> None:
    with asker.connect() as connection:
        connection.sendall(work * 3)
        connection.shutdown(socket.SHUT_WR)
        assert statuses(read_all(connection)) == [200, 200, 200]


@pytest.mark.parametrize("work", [put(1), get(1), SCAN], ids=["put", "get", "scan"])
@pytest.mark.parametrize(
    ("behind", "status"),
    [
        (b"\0\1\2garbage\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000, 431),
    ],
    ids=["garbage", "too large", "no host", "long head"],
)
def test_what_follows_a_request_does_not_take_its_answer(
    asker: Any, work: bytes, behind: bytes, status: int
) -> None:
    assert statuses(exchange(asker, work + work + behind)) == [200, 200, status]


def test_behind_a_last_request_anything_may_follow(asker: Any) -> None:
    last = put(1, b"Connection: close\r\n")
    assert statuses(exchange(asker, last + b"garbage")) == [200]
    assert statuses(exchange(asker, last + put(2))) == [200]


def test_two_hundred_requests_at_once_are_answered_one_by_one(asker: Any) -> None:
    work = b"".join(put(number) + get(number) for number in range(200))
    answers = exchange(asker, work + put(0, b"Connection: close\r\n"))
    assert statuses(answers) == [200] * 401
    bodies = [part.partition(b"\r\n\r\n")[2] for part in answers.split(b"HTTP/1.1 ")[1:]]
    found = [orjson.loads(body) for body in bodies[1:401:2]]
    assert found == [{"Item": {"pk": {"S": str(number)}}} for number in range(200)]


@pytest.mark.parametrize("kind", ["length", "chunked"])
def test_a_client_in_the_middle_of_too_large_a_body_reads_413(asker: Any, kind: str) -> None:
    size = 20_000_000
    with asker.connect() as connection:
        if kind == "length":
            connection.sendall(HEAD % b"PutItem" + b"Content-Length: %d\r\n\r\n" % size)
            connection.sendall(b"x" * size)
        else:
            connection.sendall(HEAD % b"PutItem" + b"Transfer-Encoding: chunked\r\n\r\n")
            for _ in range(size // 100_000):
                connection.sendall(b"186a0\r\n" + b"x" * 100_000 + b"\r\n")
        assert statuses(read_all(connection)) == [413]


@pytest.mark.parametrize("name", [b"X-%d: 1\r\n", b"X: %d\r\n"], ids=["names", "one name"])
@pytest.mark.parametrize("length", [b"0", b"150000"], ids=["no body", "body in the same read"])
def test_ten_thousand_headers_are_too_many(asker: Any, name: bytes, length: bytes) -> None:
    many = b"".join(name % number for number in range(10_000))
    head = HEAD % b"ListTables" + many + b"Content-Length: %b\r\n\r\n" % length
    assert statuses(exchange(asker, head + b" " * int(length))) == [431]


def test_a_request_without_a_host_is_refused_but_from_before_hosts(asker: Any) -> None:
    assert statuses(exchange(asker, b"GET / HTTP/1.1\r\n\r\n")) == [400]
    assert statuses(exchange(asker, b"GET / HTTP/1.0\r\n\r\n")) == [200]


@pytest.mark.parametrize(
    "line",
    [b"GET /\r\n\r\n", b"GET / HTTP/0.9\r\nConnection: keep-alive\r\nHost: x\r\n\r\n"],
)
def test_http_0_9_is_refused(asker: Any, line: bytes) -> None:
    assert statuses(exchange(asker, line)) == [400]


def test_chunks_are_taken_and_their_trailers_bounded(asker: Any) -> None:
    body = b'{"TableName":"Things","Item":{"pk":{"S":"1"}}}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    head = HEAD % b"PutItem" + b"Transfer-Encoding: chunked\r\n\r\n"
    with asker.connect() as connection:
        connection.sendall(head + chunks + b"0\r\nX-Sum: 1\r\n\r\n")
        assert asker.read(connection).status == 200
    trailer = b"0\r\n" + b"X-Sum: 1\r\n" * 20_000
    assert statuses(exchange(asker, head + chunks + trailer)) == [431]
    assert statuses(exchange(asker, head + chunks + b"0\r\nX: " + b"x" * 200_000)) == [431]
    assert statuses(exchange(asker, head + b"1;" + b"x" * 200_000)) == [431]


def test_a_client_that_has_gone_lets_its_work_end(serve: Any, engine: Engine) -> None:
    """Work of clients that have gone is not done: a scan that nobody waits for reads no page."""
    asker = serve(ServerSettings(clients=ClientLimits()))
    called = threading.Event()
    held = threading.Event()
    scan = engine.call_bytes

    def hold(operation: str, body: bytes) -> bytes:
        called.set()
        held.wait(10)
        return scan(operation, body)

    counted: list[str] = []

    def count(operation: str, body: bytes) -> bytes:
        counted.append(operation)
        return hold(operation, body)

    engine.call_bytes = count  # type: ignore[method-assign]
    waiting = [asker.connect() for _ in range(12)]
    for connection in waiting:
        connection.sendall(SCAN)
    assert called.wait(10)
    for connection in waiting:
        connection.close()
    deadline = threading.Event()
    metrics = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    while b"keyfold_connections 1\n" not in asker.raw(metrics).body:
        deadline.wait(0.05)
    held.set()
    assert asker.raw(get(1)).status == 200
    assert asker.raw(SCAN).status == 200
    assert counted.count("Scan") <= 5 + 1
