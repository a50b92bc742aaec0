"""Heads like one that was read before: the same but for the operation, the length, and the like.

A client sends the same head again and again. An expression made from one that the parser has read
recognises the others, in a third of the time, and what was checked of its headers holds for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from keyfold_engine.wire import answer

_END: Final = b"\r\n\r\n"
_MOST: Final = 4096
# What differs between requests of a client, and does not matter to a server that checks no
# signatures.
_VARYING: Final = {
    b"x-amz-target": rb"(?P<target>[\w.]{1,80})",
    b"content-length": rb"(?P<length>[1-9]\d{0,4})",
    b"x-amz-date": rb"\d{8}T\d{6}Z",
    b"amz-sdk-invocation-id": rb"[\w-]{1,64}",
    b"amz-sdk-request": rb"[ -~]{1,64}",
}
_NEEDED: Final = frozenset((b"host", b"x-amz-target", b"content-length", b"x-amz-date"))
# With one of these, something else than the usual happens.
_UNUSUAL: Final = frozenset(
    (b"connection", b"content-encoding", b"expect", b"origin", b"transfer-encoding", b"upgrade")
)

_is_signed: Final = re.compile(
    rb"AWS4-HMAC-SHA256 Credential=[!-+\--~]+, SignedHeaders=[!-+\--~]+, Signature=[0-9a-f]{64}"
).fullmatch

Headers = dict[bytes, bytes]
Known = Callable[[bytes], tuple[Headers, bytes, bytes] | None]
"""Returns the headers of the first request with this head, and a request's target and body."""


def learn(data: bytes, headers: Headers) -> Known | None:
    """A function that reads requests like this one; None if it is not an ordinary one."""
    head, end, _ = data.partition(_END)
    lines = head.split(b"\r\n")
    authorization = headers.get(b"authorization", b"")
    if (
        not end
        or len(head) > _MOST
        or lines[0] != b"POST / HTTP/1.1"
        or len(lines) - 1 != len(headers)
        or not _UNUSUAL.isdisjoint(headers)
        or not headers.keys() >= _NEEDED
        or headers.get(b"content-type") != answer.JSON_1_0
        or not _is_signed(authorization)
    ):
        return None
    pattern = [re.escape(lines[0])]
    for line in lines[1:]:
        name, _, value = line.partition(b": ")
        varying = _VARYING.get(name.lower())
        if varying is not None:
            pattern.append(re.escape(name) + b": " + varying)
        elif value == authorization:
            pattern.append(re.escape(line[:-64]) + rb"[0-9a-f]{64}")
        else:
            pattern.append(re.escape(line))
    match = _compiled(b"\r\n".join(pattern) + _END)

    def read(request: bytes) -> tuple[Headers, bytes, bytes] | None:
        found = match(request)
        if found is None:
            return None
        target, length = found.group("target", "length")
        body = request[found.end() :]
        if len(body) != int(length):
            return None
        return headers, target, body

    return read


@lru_cache(256)
def _compiled(pattern: bytes) -> Callable[[bytes], re.Match[bytes] | None]:
    return re.compile(pattern).match
