"""AWS Signature Version 4: the pure part that clients sign and the server verifies with."""

from __future__ import annotations

import hmac
import time
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dynamodb"
CONTENT_TYPE = "application/x-amz-json-1.0"


class Credentials(NamedTuple):
    """An access key, its secret and, for temporary ones, the session token."""

    access_key: str
    secret_key: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials({self.access_key!r}, secret hidden)"


@lru_cache(maxsize=64)
def signing_key(secret_key: str, date: str, region: str, service: str = SERVICE) -> bytes:
    """The key of one day, region and service: four HMACs that are worth keeping."""
    key = hmac.digest(b"AWS4" + secret_key.encode(), date.encode(), "sha256")
    key = hmac.digest(key, region.encode(), "sha256")
    key = hmac.digest(key, service.encode(), "sha256")
    return hmac.digest(key, b"aws4_request", "sha256")


def string_to_sign(timestamp: str, scope: str, canonical_request: str) -> str:
    """What is signed: the time, the scope and the digest of the canonical request."""
    digest = sha256(canonical_request.encode()).hexdigest()
    return f"{ALGORITHM}\n{timestamp}\n{scope}\n{digest}"


def signature(key: bytes, text: str) -> str:
    """The signature of a string to sign."""
    return hmac.digest(key, text.encode(), "sha256").hex()


class Signer:
    """Signs requests to one host in one region, remembering whatever lasts a second or longer."""

    def __init__(self, host: str, region: str) -> None:
        self._host, self._region = host, region
        self._second = -1
        self._timestamp = self._scope = self._date = ""

    def headers(self, credentials: Credentials, target: str, body: bytes, now: float) -> str:
        """The header lines that identify, date and sign a request with this target and body."""
        if int(now) != self._second:
            self._second = int(now)
            self._timestamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
            self._date = self._timestamp[:8]
            self._scope = f"{self._date}/{self._region}/{SERVICE}/aws4_request"
        timestamp, scope, token = self._timestamp, self._scope, credentials.token
        if token is None:
            names = "content-type;host;x-amz-date;x-amz-target"
            signed_token = sent_token = ""
        else:
            names = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
            signed_token = f"x-amz-security-token:{token}\n"
            sent_token = f"X-Amz-Security-Token: {token}\r\n"
        canonical = (
            f"POST\n/\n\ncontent-type:{CONTENT_TYPE}\nhost:{self._host}\nx-amz-date:{timestamp}\n"
            f"{signed_token}x-amz-target:{target}\n\n{names}\n{sha256(body).hexdigest()}"
        )
        key = signing_key(credentials.secret_key, self._date, self._region)
        signed = signature(key, string_to_sign(timestamp, scope, canonical))
        return (
            f"Host: {self._host}\r\nContent-Type: {CONTENT_TYPE}\r\nX-Amz-Target: {target}\r\n"
            f"X-Amz-Date: {timestamp}\r\n{sent_token}"
            f"Authorization: {ALGORITHM} Credential={credentials.access_key}/{scope}, "
            f"SignedHeaders={names}, Signature={signed}\r\n"
        )
