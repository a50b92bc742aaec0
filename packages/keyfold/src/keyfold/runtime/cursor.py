"""Cursors: opaque, URL-safe, and bound to one read and one caller.

A cursor is encrypted and authenticated with SIV (Rogaway and Shrimpton): a tag over the scope, the
caller and the contents is the initialisation vector of a key stream that encrypts the contents.
Nobody can read a position or forge one. Every invalid cursor gets the same error. ADR 25 explains
the choice of primitives and its limits.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from keyfold.errors import CursorRefused, PlanError
from keyfold_engine.clock import Clock, SystemClock

VARIABLE = "KEYFOLD_CURSOR_SECRET"
GOOD_SECONDS = 7 * 86400
"""How long a cursor stays valid."""
_TAG_BYTES = 16
_DIGEST_BYTES = 32
_LEAST_BYTES = 16
_OF_THIS_PROCESS = secrets.token_bytes(32)

cursor_holder: ContextVar[str] = ContextVar("keyfold_cursor_holder", default="")
"""The caller: only they can use the cursor."""


@dataclass(frozen=True)
class CursorKey:
    """The secrets that seal cursors: the first seals new ones, the others still open old ones."""

    secrets: tuple[bytes, ...]
    clock: Clock


def cursor_key(
    given: bytes | str | Sequence[bytes], beside: Path | None, clock: Clock | None = None
) -> CursorKey:
    """Secrets from the argument, the environment, a file beside the data, or this process."""
    found = _read(given or os.environ.get(VARIABLE, ""))
    if not found:
        found = (_shared_secret(beside) if beside is not None else _OF_THIS_PROCESS,)
    return CursorKey(found, clock or SystemClock())


def _read(given: bytes | str | Sequence[bytes]) -> tuple[bytes, ...]:
    if isinstance(given, str):
        found = tuple(one.strip().encode() for one in given.split(",") if one.strip())
    else:
        found = ((given,) if given else ()) if isinstance(given, bytes) else tuple(given)
    for one in found:
        if len(one) < _LEAST_BYTES:
            raise PlanError(
                f"the cursor secret has {len(one)} bytes; use at least {_LEAST_BYTES}, for "
                "example from `openssl rand -hex 32`"
            )
    return found


def _shared_secret(data: Path) -> bytes:
    """A random secret in a file beside the data, shared by all processes on it."""
    path = data.with_name(f"{data.name}.cursor-secret")
    made = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    if not path.exists():
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
        try:
            os.link(made, path)
        except FileExistsError:
            pass
        finally:
            made.unlink()
    return path.read_bytes()


def seal(key: CursorKey, scope: str, position: Any) -> str:
    """A cursor that only the same scope and caller can open."""
    body = orjson.dumps([int(key.clock.now()), position])
    for_tags, for_streams = _keys(key.secrets[0])
    tag = _tag(for_tags, scope, body)
    return _text(tag + _xor_stream(for_streams, tag, body))


def unseal(key: CursorKey, scope: str, cursor: str) -> Any:
    """The position inside a cursor; refuses one that was not sealed for this scope."""
    try:
        raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), b"-_", validate=True)
    except (AttributeError, TypeError, ValueError):
        raise cursor_refused() from None
    if _text(raw) != cursor:
        raise cursor_refused()
    tag, hidden = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
    for secret in key.secrets:
        for_tags, for_streams = _keys(secret)
        body = _xor_stream(for_streams, tag, hidden)
        if hmac.compare_digest(tag, _tag(for_tags, scope, body)):
            made, position = orjson.loads(body)
            if key.clock.now() - made > GOOD_SECONDS:
                raise cursor_refused()
            return position
    raise cursor_refused()


def arguments_of(arguments: Mapping[str, Any], left_out: Sequence[str]) -> str:
    """The arguments a cursor is bound to: those that select another list.

    Times move between two pages of one list, and the page size may change, so both are left out.
    """
    kept = {
        name: value
        for name, value in arguments.items()
        if name not in left_out and not isinstance(value, datetime)
    }
    text = orjson.dumps(kept, default=repr, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def cursor_refused() -> CursorRefused:
    return CursorRefused(
        "the cursor is damaged, too old, or belongs to another read or caller; start again "
        "without one"
    )


@lru_cache(64)
def _keys(secret: bytes) -> tuple[bytes, bytes]:
    """Two keys derived by HKDF with SHA-256 (RFC 5869): one for tags, one for streams."""
    extracted = hmac.digest(bytes(_DIGEST_BYTES), secret, "sha256")
    first = hmac.digest(extracted, b"keyfold cursor\x01", "sha256")
    return first, hmac.digest(extracted, first + b"keyfold cursor\x02", "sha256")


def _tag(key: bytes, scope: str, body: bytes) -> bytes:
    # JSON contains no zero byte, so no two pairs give the same text.
    bound = orjson.dumps([scope, cursor_holder.get()])
    return hmac.digest(key, bound + b"\0" + body, "sha256")[:_TAG_BYTES]


def _xor_stream(key: bytes, tag: bytes, body: bytes) -> bytes:
    """The body XORed with a key stream from HMAC in counter mode (SP 800-108)."""
    bits = (len(body) * 8).to_bytes(4, "big")
    stream = b"".join(
        hmac.digest(key, block.to_bytes(4, "big") + b"cursor\0" + tag + bits, "sha256")
        for block in range(1, -(-len(body) // _DIGEST_BYTES) + 1)
    )
    mixed = int.from_bytes(body) ^ int.from_bytes(stream[: len(body)])
    return mixed.to_bytes(len(body))
