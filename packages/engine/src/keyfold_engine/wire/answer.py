"""Answers as bytes: status line, DynamoDB's headers, checksum, body."""

from __future__ import annotations

import os
import time
from base64 import b32encode
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from zlib import crc32

import orjson

from keyfold_engine.errors import OperationError, StorageError, to_wire

JSON_1_0 = b"application/x-amz-json-1.0"
JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"

_STATUS_LINES = {
    200: b"HTTP/1.1 200 OK",
    204: b"HTTP/1.1 204 No Content",
    400: b"HTTP/1.1 400 Bad Request",
    403: b"HTTP/1.1 403 Forbidden",
    404: b"HTTP/1.1 404 Not Found",
    408: b"HTTP/1.1 408 Request Timeout",
    413: b"HTTP/1.1 413 Request Entity Too Large",
    431: b"HTTP/1.1 431 Request Header Fields Too Large",
    500: b"HTTP/1.1 500 Internal Server Error",
    503: b"HTTP/1.1 503 Service Unavailable",
    507: b"HTTP/1.1 507 Insufficient Storage",
}
_ANSWER = (
    b"%b\r\nServer: Server\r\nDate: %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n%b"
    b"x-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n\r\n%b"
)
_CLOSE = b"Connection: close\r\n"


def request_ids() -> Callable[[], bytes]:
    """Generates unique ids in DynamoDB's format: 52 capitals and digits."""
    shape = b32encode(os.urandom(25)) + b"%012X"
    return map(shape.__mod__, count()).__next__


@lru_cache(maxsize=2)
def _http_date(second: int) -> bytes:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(second)).encode()


def render(
    status: int,
    body: bytes,
    request_id: bytes,
    content_type: bytes = JSON_1_0,
    extra: bytes = b"",
    keep_alive: bool = True,
) -> bytes:
    """A whole HTTP answer; `extra` are complete header lines."""
    return _ANSWER % (
        _STATUS_LINES[status],
        _http_date(int(time.time())),
        content_type,
        len(body),
        extra if keep_alive else _CLOSE + extra,
        request_id,
        crc32(body),
        body,
    )


def error_body(error: OperationError | StorageError) -> tuple[int, bytes]:
    """The status and JSON of an error."""
    status, body = to_wire(error)
    return status, orjson.dumps(body)
