"""AWS Signature Version 4: the pure part, which clients sign and the server verifies with."""

from __future__ import annotations

import hmac
import time
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dynamodb"
CONTENT_TYPE = "application/x-amz-json-1.0"

_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


class Credentials(NamedTuple):
    """An access key, its secret and, for temporary ones, the session token."""

    access_key: str
    secret_key: str
    token: str | None = None
    principal: str | None = None
    """The ARN of their owner, for a server that evaluates policies."""

    def __repr__(self) -> str:
        return f"Credentials({self.access_key!r}, secret hidden)"


class SigningKey:
    """HMAC-SHA256 with a fixed key, whose two blocks are hashed once."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        block = key.ljust(64, b"\0")
        self._inner = sha256(block.translate(_INNER_PAD))
        self._outer = sha256(block.translate(_OUTER_PAD))

    def signature(self, text: bytes) -> str:
        """The signature of a string to sign."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(text)
        outer.update(inner.digest())
        return outer.hexdigest()


@lru_cache(maxsize=64)
def signing_key(secret_key: str, date: str, region: str) -> SigningKey:
    """The key for a day, region and service: four HMACs, worth caching."""
    key = hmac.digest(b"AWS4" + secret_key.encode(), date.encode(), "sha256")
    key = hmac.digest(key, region.encode(), "sha256")
    key = hmac.digest(key, SERVICE.encode(), "sha256")
    return SigningKey(hmac.digest(key, b"aws4_request", "sha256"))


def string_to_sign(timestamp: str, scope: str, canonical_digest: str) -> str:
    """What is signed: the time, the scope and the digest of the canonical request."""
    return f"{ALGORITHM}\n{timestamp}\n{scope}\n{canonical_digest}"


class _Form(NamedTuple):
    """What all requests within one second share."""

    second: int
    credentials: Credentials
    key: SigningKey
    canonical: bytes
    """The canonical request up to the digest of the body."""
    to_sign: bytes
    """The string to sign up to the digest of the canonical request."""
    lines: bytes
    """The header lines up to the signature."""


class Signer:
    """Signs requests with one target to one host; caches everything that lasts a second or
    longer.
    """

    def __init__(self, host: str, region: str, target: str) -> None:
        self._host, self._region, self._target = host, region, target
        self._form = self._build_form(Credentials("", ""), 0)

    def headers(self, credentials: Credentials, body: bytes, now: float) -> bytes:
        """The header lines that identify, date and sign a request with this body."""
        form = self._form
        if form.second != int(now) or form.credentials != credentials:
            form = self._form = self._build_form(credentials, int(now))
        _, _, key, canonical, to_sign, lines = form
        canonical += sha256(body).hexdigest().encode()
        signature = key.signature(to_sign + sha256(canonical).hexdigest().encode())
        return b"%b%b\r\n" % (lines, signature.encode())

    def _build_form(self, credentials: Credentials, second: int) -> _Form:
        access_key, secret_key, token, _principal = credentials
        timestamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))
        scope = f"{timestamp[:8]}/{self._region}/{SERVICE}/aws4_request"
        if token is None:
            names = "content-type;host;x-amz-date;x-amz-target"
            signed_token = sent_token = ""
        else:
            names = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
            signed_token = f"x-amz-security-token:{token}\n"
            sent_token = f"X-Amz-Security-Token: {token}\r\n"
        canonical = (
            f"POST\n/\n\ncontent-type:{CONTENT_TYPE}\nhost:{self._host}\nx-amz-date:{timestamp}\n"
            f"{signed_token}x-amz-target:{self._target}\n\n{names}\n"
        )
        lines = (
            f"Host: {self._host}\r\nContent-Type: {CONTENT_TYPE}\r\n"
            f"X-Amz-Target: {self._target}\r\nX-Amz-Date: {timestamp}\r\n{sent_token}"
            f"Authorization: {ALGORITHM} Credential={access_key}/{scope}, "
            f"SignedHeaders={names}, Signature="
        )
        return _Form(
            second,
            credentials,
            signing_key(secret_key, timestamp[:8], self._region),
            canonical.encode(),
            string_to_sign(timestamp, scope, "").encode(),
            lines.encode("latin-1"),
        )
