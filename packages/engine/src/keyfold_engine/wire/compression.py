"""Compressed requests and answers."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from keyfold_engine.errors import SerializationError
from keyfold_engine.limits import KB

FROM = 8 * KB
"""DynamoDB compresses only large answers, from an unpublished size."""
_LEVEL = 1
# More than any client sends: each costs a copy of the bytes after it.
_MEMBERS = 16


def is_wanted(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the client accepts compressed answers."""
    accepted = headers.get(b"accept-encoding")
    if accepted is None:
        return False
    for choice in accepted.lower().split(b","):
        coding, _, weight = choice.replace(b" ", b"").partition(b";q=")
        if coding == b"gzip":
            return weight.strip(b"0.") != b"" or weight == b""
    return False


def compress(body: bytes) -> bytes:
    """Compress as DynamoDB does, whose checksum covers the compressed bytes."""
    return zlib.compress(body, _LEVEL, zlib.MAX_WBITS | 16)


def decompress(body: bytes, encoding: bytes, limit: int) -> bytes:
    """The decoded body; never more than the limit."""
    encoding = encoding.strip().lower()
    if encoding in (b"", b"identity"):
        return body
    if encoding not in (b"gzip", b"x-gzip", b"deflate"):
        raise SerializationError
    unpacked = b""
    try:
        for _ in range(_MEMBERS):
            unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
            unpacked += unpacker.decompress(body, limit + 1 - len(unpacked))
            if len(unpacked) > limit or not unpacker.eof:
                raise SerializationError
            body = unpacker.unused_data
            if not body:
                return unpacked
    except zlib.error:
        raise SerializationError from None
    raise SerializationError
