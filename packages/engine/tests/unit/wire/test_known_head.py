"""Requests whose head is like the first one's are read without the parser, and mean the same."""

from __future__ import annotations

import pytest
from tests.unit.wire.conftest import Asker

from keyfold_engine.wire.known_head import Headers, Known, learn

LINES = (
    b"Host: localhost:8000",
    b"Accept-Encoding: identity",
    b"X-Amz-Target: DynamoDB_20120810.GetItem",
    b"Content-Type: application/x-amz-json-1.0",
    b"X-Amz-Date: 20260101T000000Z",
    b"Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
    b"SignedHeaders=host, Signature=" + b"0a" * 32,
    b"amz-sdk-invocation-id: 7b1c6b2c-90b5-4a2e-9b47-2b9ff1d0ef3a",
    b"amz-sdk-request: attempt=1",
)


def request(*lines: bytes, first: bytes = b"POST / HTTP/1.1", body: bytes = b"{}") -> bytes:
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join((first, *(lines or LINES), length)) + b"\r\n\r\n" + body


def headers_of(data: bytes) -> Headers:
    lines = data.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(b": ", 1) for line in lines)}


def learned(data: bytes) -> Known | None:
    return learn(data, headers_of(data))


def test_another_operation_signature_and_length_are_read() -> None:
    known = learned(request())
    assert known is not None
    changed = [
        line.replace(b"GetItem", b"PutItem")
        .replace(b"0a" * 32, b"f0" * 32)
        .replace(b"T000000Z", b"T235959Z")
        .replace(b"7b1c", b"0000")
        .replace(b"attempt=1", b"ttl=20260101T000000Z; attempt=2; max=3")
        for line in LINES
    ]
    found = known(request(*changed, body=b'{"a":1}'))
    assert found is not None
    assert found == (headers_of(request()), b"DynamoDB_20120810.PutItem", b'{"a":1}')


@pytest.mark.parametrize(
    "other",
    [
        request(*LINES, b"Origin: http://localhost"),
        request(*LINES, b"Connection: close"),
        request(*LINES[:-1]),
        request(*LINES[::-1]),
        request(*(line.replace(b"identity", b"gzip") for line in LINES)),
        request(*(line.replace(b"0a" * 32, b"0A" * 32) for line in LINES)),
        request(*(line.replace(b"Credential=a", b"Credential=b") for line in LINES)),
        request(*(line.replace(b"T000000Z", b"T00000Z") for line in LINES)),
        request(first=b"POST /x HTTP/1.1"),
        request(first=b"POST / HTTP/1.0"),
        request(first=b"GET / HTTP/1.1"),
        request(body=b""),
        request() + b"more",
        request()[:-1],
        request() + request(),
    ],
)
def test_what_is_not_alike_goes_to_the_parser(other: bytes) -> None:
    known = learned(request())
    assert known is not None
    assert known(other) is None


@pytest.mark.parametrize(
    "first",
    [
        request(*LINES, b"Origin: http://localhost"),
        request(*LINES, b"Connection: keep-alive"),
        request(*LINES, b"Content-Encoding: gzip"),
        request(*LINES[:2], *LINES[3:]),
        request(*LINES[:5]),
        request(*LINES, b"Padding: " + b"x" * 5000),
        request(first=b"POST /x HTTP/1.1"),
    ],
)
def test_an_unusual_head_is_not_learned(first: bytes) -> None:
    assert learned(first) is None


def test_a_connection_with_a_known_head_answers_whatever_comes(asker: Asker) -> None:
    def ask(operation: bytes, body: bytes, *more: bytes) -> tuple[int, bytes]:
        lines = [line.replace(b"GetItem", operation) for line in LINES]
        connection.sendall(request(*lines, *more, body=body))
        reply = asker.read(connection)
        return reply.status, reply.body

    item = b'{"pk":{"S":"a"}}'
    with asker.connect() as connection:
        for _ in range(2):
            assert ask(b"PutItem", b'{"TableName":"Things","Item":%b}' % item) == (200, b"{}")
            got = ask(b"GetItem", b'{"TableName":"Things","Key":%b}' % item)
            assert got == (200, b'{"Item":%b}' % item)
            assert ask(b"Nonsense", b"{}")[0] == 400
            assert ask(b"GetItem", b'{"TableName":"Things"}')[0] == 400
            large = b'{"TableName":"Things","Item":{"pk":{"S":"a"},"t":{"S":"%b"}}}' % (
                b"x" * 90_000
            )
            assert ask(b"PutItem", large) == (200, b"{}")
        assert ask(b"ListTables", b"{}", b"Connection: close") == (
            200,
            b'{"TableNames":["Things"]}',
        )
        assert connection.recv(1) == b""
