"""Parses HTTP answers from bytes, for both clients."""

from __future__ import annotations

from typing import Any, NamedTuple, cast
from zlib import crc32

import orjson

from keyfold_engine.errors import RequestTooLarge, TransportError, Unavailable, from_wire

_HEAD_LIMIT = 64 * 1024


class Answer(NamedTuple):
    """One HTTP answer."""

    status: int
    body: bytes
    keep_alive: bool


def usual(data: bytes) -> Answer | None:
    """The answer in the first bytes received, if it is complete and a plain success; otherwise
    None, and an `AnswerReader` parses it.
    """
    end = data.find(b"\r\n\r\n") + 2
    head, body = data[:end], data[end + 2 :]
    # Compare with the expected header bytes instead of parsing them.
    if (
        head.startswith(b"HTTP/1.1 200 OK\r\n")
        and b"\r\nContent-Length: %d\r\n" % len(body) in head
        and b"\r\nx-amz-crc32: %d\r\n" % crc32(body) in head
        and b"\r\nConnection: close\r\n" not in head
    ):
        return Answer(200, body, True)
    return None


class AnswerReader:
    """Takes bytes as they arrive and returns the answer once it is complete."""

    __slots__ = ("_body", "_buffer", "_checksum", "_chunked", "_keep_alive", "_left", "_status")

    def __init__(self) -> None:
        self._buffer = b""
        self._status = 0
        self._left = -1
        """Bytes of the body still to come; -1 until the connection closes."""
        self._chunked = False
        self._checksum: int | None = None
        self._keep_alive = True
        self._body: list[bytes] = []

    def feed(self, data: bytes) -> Answer | None:
        """Add received bytes; returns the answer if that completed it."""
        buffer = self._buffer + data if self._buffer else data
        while not self._status:
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(buffer) > _HEAD_LIMIT:
                    raise TransportError("the response headers do not end")
                self._buffer = buffer
                return None
            self._read_head(buffer[: end + 2].lower())
            buffer = buffer[end + 4 :]
        if self._left == len(buffer) and not self._body:
            return self._intact(buffer)
        if self._chunked:
            return self._feed_chunks(buffer)
        self._buffer = b""
        self._body.append(buffer)
        if self._left < 0:
            return None
        self._left -= len(buffer)
        if self._left > 0:
            return None
        if self._left < 0:
            raise TransportError("the response is longer than its Content-Length")
        return self._whole()

    def finish(self) -> Answer:
        """The connection closed: the answer, if its end is marked that way."""
        if self._status and self._left < 0 and not self._chunked:
            self._keep_alive = False
            return self._whole()
        raise TransportError("the connection was closed in the middle of a response")

    def _whole(self) -> Answer:
        return self._intact(self._body[0] if len(self._body) == 1 else b"".join(self._body))

    def _intact(self, body: bytes) -> Answer:
        if self._checksum is not None and crc32(body) != self._checksum:
            raise TransportError("the response is damaged: its checksum does not match")
        return Answer(self._status, body, self._keep_alive)

    def _read_head(self, head: bytes) -> None:
        """Read the status line and headers, in lower case, including line ends."""
        digits = head[9:12]
        if not head.startswith(b"http/1.") or not digits.isdigit():
            raise TransportError(f"not an HTTP response: {head[:40]!r}")
        status = int(digits)
        if status < 200:
            return
        self._status = status
        length = _field(head, b"\r\ncontent-length:")
        if length.isdigit():
            self._left = int(length)
        elif length:
            raise TransportError(f"invalid Content-Length: {length!r}")
        elif status == 204:
            self._left = 0
        else:
            self._chunked = b"chunked" in _field(head, b"\r\ntransfer-encoding:")
        checksum = _field(head, b"\r\nx-amz-crc32:")
        if checksum.isdigit():
            self._checksum = int(checksum)
        connection = _field(head, b"\r\nconnection:")
        self._keep_alive = (
            connection != b"close" if head[7:8] == b"1" else connection == b"keep-alive"
        )

    def _feed_chunks(self, buffer: bytes) -> Answer | None:
        while True:
            line_end = buffer.find(b"\r\n")
            if line_end < 0:
                break
            try:
                size = int(buffer[:line_end].partition(b";")[0], 16)
            except ValueError:
                raise TransportError("the response has invalid chunks") from None
            end = line_end + 2 + size
            if size == 0:
                if b"\r\n\r\n" not in buffer[line_end:]:
                    break
                return self._whole()
            if len(buffer) < end + 2:
                break
            self._body.append(buffer[line_end + 2 : end])
            buffer = buffer[end + 2 :]
        self._buffer = buffer
        return None


def _field(head: bytes, name: bytes) -> bytes:
    start = head.find(name)
    if start < 0:
        return b""
    start += len(name)
    return head[start : head.find(b"\r\n", start)].strip()


def result(answer: Answer) -> dict[str, Any]:
    """The result in an answer; raises the error it carries."""
    status, body, _ = answer
    try:
        decoded = orjson.loads(body) if body else {}
    except orjson.JSONDecodeError:
        decoded = None
    if status == 200:
        if not isinstance(decoded, dict):
            raise TransportError("the response is not a JSON object; is this a DynamoDB endpoint?")
        return cast("dict[str, Any]", decoded)
    if status == 413:
        raise RequestTooLarge("the request is too large for the server")
    if not isinstance(decoded, dict) or "__type" not in decoded:
        if status == 503:
            raise Unavailable("the server is unavailable")
        decoded = {"__type": f"HTTP {status}", "message": body[:200].decode("utf-8", "replace")}
    raise from_wire(status, decoded)
