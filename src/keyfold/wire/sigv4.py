"""Who asks: the signature of a request, refused in DynamoDB's words and in its order."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

from keyfold.clients.signer import (
    ALGORITHM,
    SERVICE,
    Credentials,
    signing_key,
    string_to_sign,
)
from keyfold.clock import Clock
from keyfold.errors import (
    IncompleteSignature,
    InvalidSignature,
    MissingAuthentication,
    UnrecognizedClient,
)

SKEW_SECONDS = 15 * 60
PRESIGNED_MAX_SECONDS = 7 * 24 * 3600

_HEADER_PARTS = ("Credential", "Signature", "SignedHeaders")
_QUERY_PARTS = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "X-Amz-Date",
)
# Amazon asks for the host and every header that says what to do.
_MUST_BE_SIGNED = (("host", "Host"), ("x-amz-target", "X-Amz-Target"))


class Signed(NamedTuple):
    """What a request says about its signature, wherever it says so."""

    algorithm: str
    credential: str
    signed_headers: str
    signature: str
    timestamp: str
    token: str | None
    """Of temporary credentials."""
    expires: int | None
    """Seconds, for presigned requests."""


def read(url: bytes, headers: Mapping[bytes, bytes]) -> Signed:
    """The signature's parts; raises what DynamoDB answers when they are not all there."""
    header = headers.get(b"authorization")
    if header is not None and b"?" not in url:
        return _from_header(header.decode("latin-1"), headers)
    query = dict(parse_qsl(_split(url).query, keep_blank_values=True))
    in_query = "X-Amz-Algorithm" in query
    if header is not None and in_query:
        raise InvalidSignature(
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP "
            "header."
        )
    if header is not None:
        return _from_header(header.decode("latin-1"), headers)
    if not in_query:
        raise MissingAuthentication("Request is missing Authentication Token")
    return _from_query(query)


_SCOPE = re.compile(rb"Credential=([^/,\s]+)/\d{8}/([a-z0-9-]+)/").search


def scope_of(url: bytes, headers: Mapping[bytes, bytes]) -> tuple[str, str]:
    """The access key and region that a request is signed with, right or wrong; empty if not."""
    found = _SCOPE(headers.get(b"authorization", b"")) or _SCOPE(url.replace(b"%2F", b"/"))
    return (found[1].decode("latin-1"), found[2].decode()) if found else ("", "")


def _from_header(text: str, headers: Mapping[bytes, bytes]) -> Signed:
    text = text.strip()
    if not text.startswith("AWS4-"):
        raise MissingAuthentication("Request is missing Authentication Token")
    algorithm, _, rest = text.partition(" ")
    parts: dict[str, str] = {}
    for piece in rest.replace(",", " ").split():
        name, _, value = piece.partition("=")
        parts[name] = value
    timestamp = headers.get(b"x-amz-date") or headers.get(b"date")
    missing = [
        f"Authorization header requires '{name}' parameter. "
        for name in _HEADER_PARTS
        if not parts.get(name)
    ]
    if not timestamp:
        missing.append(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    if missing or not timestamp:
        raise IncompleteSignature("".join(missing) + f"Authorization={text}")
    token = headers.get(b"x-amz-security-token")
    return Signed(
        algorithm,
        parts["Credential"],
        parts["SignedHeaders"],
        parts["Signature"],
        timestamp.decode("latin-1"),
        token.decode("latin-1") if token else None,
        None,
    )


def _from_query(query: Mapping[str, str]) -> Signed:
    missing = [
        f"AWS query-string parameters must include '{name}'. "
        for name in _QUERY_PARTS
        if not query.get(name)
    ]
    if missing:
        raise IncompleteSignature("".join(missing) + "Re-examine the query-string parameters.")
    expires = query.get("X-Amz-Expires", str(SKEW_SECONDS))
    if not expires.isdecimal() or not 0 < int(expires) <= PRESIGNED_MAX_SECONDS:
        raise IncompleteSignature(
            f"X-Amz-Expires must be a number of seconds between 1 and {PRESIGNED_MAX_SECONDS}"
        )
    return Signed(
        query["X-Amz-Algorithm"],
        query["X-Amz-Credential"],
        query["X-Amz-SignedHeaders"],
        query["X-Amz-Signature"],
        query["X-Amz-Date"],
        query.get("X-Amz-Security-Token"),
        int(expires),
    )


class SignatureVerifier:
    """Checks signatures against the access keys this server knows."""

    def __init__(self, known: Iterable[Credentials], region: str, clock: Clock) -> None:
        self._known = {credentials.access_key: credentials for credentials in known}
        self._region, self._clock = region, clock

    def verify(
        self, method: str, url: bytes, headers: Mapping[bytes, bytes], body: bytes
    ) -> Credentials:
        """The known key that the request is signed by; raises DynamoDB's refusal otherwise."""
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
            # DynamoDB adds the canonical strings it computed; they hold nothing secret, and they
            # are what finds the mistake.
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
    """The request in the one form both sides hash; `names` are the signed headers."""
    parts = _split(url)
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


def _split(url: bytes) -> SplitResult:
    try:
        return urlsplit(url.decode("latin-1"))
    except ValueError as error:
        raise InvalidSignature(f"The URL cannot be read: {error}") from None


def _same(expected: str, given: str) -> bool:
    """Compares in a time that tells nothing of what was expected."""
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
