"""Answers as bytes: status line, DynamoDB's headers, checksum, body."""

from __future__ import annotations

import os
import time
from base64 import b32encode
from itertools import count
from zlib import crc32

import orjson

from keyfold.errors import OperationError, to_wire

JSON_1_0 = "application/x-amz-json-1.0"
TEXT = "text/plain; charset=utf-8"

_REASONS = {
    200: "OK",
    204: "No Content",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    408: "Request Timeout",
    413: "Request Entity Too Large",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class RequestIds:
    """Ids shaped as DynamoDB's: 52 capitals and digits, never the same twice."""

    def __init__(self) -> None:
        self._prefix = b32encode(os.urandom(25)).decode()
        self._numbers = count()

    def __call__(self) -> str:
        return f"{self._prefix}{next(self._numbers):012X}"


class HttpDate:
    """The `Date` header, formatted once a second."""

    def __init__(self) -> None:
        self._second = -1
        self._text = ""

    def __call__(self) -> str:
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._text = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(second))
        return self._text


_http_date = HttpDate()


def render(
    status: int,
    body: bytes,
    request_id: str,
    *,
    content_type: str = JSON_1_0,
    extra: str = "",
    keep_alive: bool = True,
) -> bytes:
    """A whole HTTP answer."""
    connection = "" if keep_alive else "Connection: close\r\n"
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nServer: Server\r\nDate: {_http_date()}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{connection}{extra}"
        f"x-amzn-RequestId: {request_id}\r\nx-amz-crc32: {crc32(body)}\r\n\r\n"
    )
    return head.encode("latin-1") + body


def error_body(error: OperationError) -> tuple[int, bytes]:
    """The status and JSON of an error."""
    status, body = to_wire(error)
    return status, orjson.dumps(body)
