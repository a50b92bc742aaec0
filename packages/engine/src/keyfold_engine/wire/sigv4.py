"""Verifies signatures with the server's keys, with DynamoDB's messages and order of checks."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from urllib.parse import parse_qsl, quote

from keyfold_engine.clients.signer import (
    ALGORITHM,
    SERVICE,
    Credentials,
    signing_key,
    string_to_sign,
)
from keyfold_engine.clock import Clock
from keyfold_engine.errors import IncompleteSignature, InvalidSignature, UnrecognizedClient
from keyfold_engine.wire.signed_request import SKEW_SECONDS, Signed, read, split

# Amazon requires the host and every header that affects the request to be signed.
_MUST_BE_SIGNED = (("host", "Host"), ("x-amz-target", "X-Amz-Target"))


class SignatureVerifier:
    """Verifies signatures with the access keys of this server."""

    def __init__(self, known: Iterable[Credentials], region: str, clock: Clock) -> None:
        self._known = {credentials.access_key: credentials for credentials in known}
        self._region, self._clock = region, clock

    def verify(
        self, method: str, url: bytes, headers: Mapping[bytes, bytes], body: bytes
    ) -> Credentials:
        """The known key that signed the request; raises DynamoDB's error otherwise."""
        signed = read(url, headers)
        self._check_time(signed)
        names = signed.signed_headers.lower().split(";")
        for name, shown in _MUST_BE_SIGNED:
            if name not in names:
                raise InvalidSignature(
                    f"'{shown}' must be a 'SignedHeader' in the AWS Authorization."
                )
        if signed.algorithm != ALGORITHM:
            raise IncompleteSignature(
                f"Unsupported AWS 'algorithm': '{signed.algorithm}' "
                "(only AWS4-HMAC-SHA256 for now). "
            )
        access_key, date = self._check_scope(signed)
        known = self._known.get(access_key)
        if known is None or not _same(known.token or "", signed.token or ""):
            raise UnrecognizedClient("The security token included in the request is invalid.")
        canonical = canonical_request(method, url, headers, names, body)
        scope = f"{date}/{self._region}/{SERVICE}/aws4_request"
        text = string_to_sign(signed.timestamp, scope, sha256(canonical.encode()).hexdigest())
        key = signing_key(known.secret_key, date, self._region)
        expected = key.signature(text.encode())
        if not _same(expected, signed.signature):
            # Like DynamoDB, add the canonical strings: they contain no secret and help to find the
            # mistake.
            raise InvalidSignature(
                "The request signature we calculated does not match the signature you provided. "
                "Check your AWS Secret Access Key and signing method. Consult the service "
                "documentation for details.\n\nThe Canonical String for this request should have "
                f"been\n'{canonical}'\n\nThe String-to-Sign should have been\n'{text}'\n"
            )
        return known

    def _check_time(self, signed: Signed) -> None:
        sent = _seconds(signed.timestamp)
        if sent is None:
            raise IncompleteSignature(
                f"Date must be in ISO-8601 'basic format'. Got '{signed.timestamp}'. "
                "See http://en.wikipedia.org/wiki/ISO_8601"
            )
        now = self._clock.now()
        lifetime = signed.expires or SKEW_SECONDS
        minutes = f"{lifetime // 60} min." if lifetime % 60 == 0 else f"{lifetime} sec."
        if sent + lifetime < now:
            raise InvalidSignature(
                f"Signature expired: {signed.timestamp} is now earlier than "
                f"{_stamp(now - lifetime)} ({_stamp(now)} - {minutes})"
            )
        if sent > now + SKEW_SECONDS:
            raise InvalidSignature(
                f"Signature not yet current: {signed.timestamp} is still later than "
                f"{_stamp(now + SKEW_SECONDS)} ({_stamp(now)} + {SKEW_SECONDS // 60} min.)"
            )

    def _check_scope(self, signed: Signed) -> tuple[str, str]:
        pieces = signed.credential.rstrip("/").split("/")
        if len(pieces) != 5:
            raise IncompleteSignature(
                "Credential must have exactly 5 slash-delimited elements, e.g. "
                f"keyid/date/region/service/term, got '{signed.credential}'"
            )
        access_key, date, region, service, terminator = pieces
        wrong = ""
        if region != self._region:
            wrong += f"Credential should be scoped to a valid region, not '{region}'. "
        if service != SERVICE:
            wrong += f"Credential should be scoped to correct service: '{SERVICE}'. "
        if terminator != "aws4_request":
            wrong += (
                "Credential should be scoped with a valid terminator: 'aws4_request', not "
                f"'{terminator}'. "
            )
        if date != signed.timestamp[:8]:
            wrong += (
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
                f"from HTTP: '{date}' != '{signed.timestamp[:8]}', from '{signed.timestamp}'."
            )
        if wrong:
            raise InvalidSignature(wrong)
        return access_key, date


def canonical_request(
    method: str, url: bytes, headers: Mapping[bytes, bytes], names: list[str], body: bytes
) -> str:
    """The canonical request that both sides hash; `names` are the signed headers."""
    parts = split(url)
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name != "X-Amz-Signature"
    )
    query = "&".join(f"{name}={value}" for name, value in pairs)
    lines = "".join(
        f"{name}:{' '.join(headers.get(name.encode(), b'').decode('latin-1').split())}\n"
        for name in names
    )
    path = parts.path or "/"
    return f"{method}\n{path}\n{query}\n{lines}\n{';'.join(names)}\n{sha256(body).hexdigest()}"


def _same(expected: str, given: str) -> bool:
    """Comparison in constant time."""
    return hmac.compare_digest(expected.encode(), given.encode())


_is_timestamp = re.compile(r"[0-9]{8}T[0-9]{6}Z").fullmatch


@lru_cache(maxsize=256)
def _seconds(timestamp: str) -> int | None:
    if not _is_timestamp(timestamp):
        return None
    try:
        return int(datetime.fromisoformat(timestamp).timestamp())
    except ValueError:
        return None


def _stamp(seconds: float) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))
