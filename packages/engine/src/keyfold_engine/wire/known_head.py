"""Heads like one that was read before: the same but for the operation, the length, and the like.

A client sends the same head again and again. An expression made from one that the parser has read
recognises the others, in a third of the time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

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
_SIGNATURE: Final = rb"[0-9a-f]{64}"

Headers = dict[bytes, bytes]
Known = Callable[[bytes], tuple[Headers, bytes] | None]
"""Returns the headers and the body of a request whose head is known."""


def learn(data: bytes, headers: Headers) -> Known | None:
    """A function that reads requests like this one; None if it is not an ordinary one."""
    head, end, _ = data.partition(_END)
    lines = head.split(b"\r\n")
    signature = headers.get(b"authorization", b"")[-64:]
    if (
        not end
        or len(head) > _MOST
        or lines[0] != b"POST / HTTP/1.1"
        or len(lines) - 1 != len(headers)
        or not _UNUSUAL.isdisjoint(headers)
        or not headers.keys() >= _NEEDED
        or re.fullmatch(_SIGNATURE, signature) is None
    ):
        return None
    pattern = [re.escape(lines[0])]
    for line in lines[1:]:
        name, _, value = line.partition(b": ")
        varying = _VARYING.get(name.lower())
        if varying is not None:
            pattern.append(re.escape(name) + b": " + varying)
        elif value.endswith(signature):
            pattern.append(re.escape(line[:-64]) + _SIGNATURE)
        else:
            pattern.append(re.escape(line))
    match = _compiled(b"\r\n".join(pattern) + _END)

    def read(request: bytes) -> tuple[Headers, bytes] | None:
        found = match(request)
        if found is None:
            return None
        target, length = found.group("target", "length")
        body = request[found.end() :]
        if len(body) != int(length):
            return None
        return {**headers, b"x-amz-target": target, b"content-length": length}, body

    return read


@lru_cache(256)
def _compiled(pattern: bytes) -> Callable[[bytes], re.Match[bytes] | None]:
    return re.compile(pattern).match
