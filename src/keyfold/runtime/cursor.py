"""Cursors: opaque, url-safe, signed, and bound to the pattern and partition they came from."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import orjson

from keyfold.errors import CursorRefused

_SIGNATURE_BYTES = 16


def seal(key: bytes, scope: str, position: Any) -> str:
    """A cursor that only the same scope opens again."""
    body = orjson.dumps(position)
    return base64.urlsafe_b64encode(_sign(key, scope, body) + body).rstrip(b"=").decode()


def unseal(key: bytes, scope: str, cursor: str) -> Any:
    """The position inside a cursor; anything not sealed for this scope is refused."""
    try:
        raw = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
    except (AttributeError, TypeError, ValueError):
        raise CursorRefused("the cursor is damaged; start again without one") from None
    signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _sign(key, scope, body)):
        raise CursorRefused(
            "the cursor was edited, or belongs to another access pattern or other parameters; "
            "start again without one"
        )
    return orjson.loads(body)


def _sign(key: bytes, scope: str, body: bytes) -> bytes:
    return hmac.digest(key, scope.encode() + b"\0" + body, hashlib.sha256)[:_SIGNATURE_BYTES]
