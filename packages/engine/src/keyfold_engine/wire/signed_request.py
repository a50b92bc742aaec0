"""Parses a request's signature; raises DynamoDB's error if it is incomplete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from keyfold_engine.errors import IncompleteSignature, InvalidSignature, MissingAuthentication

if TYPE_CHECKING:
    from urllib.parse import SplitResult

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


class Signed(NamedTuple):
    """A request's signature, from headers or query string."""

    algorithm: str
    credential: str
    signed_headers: str
    signature: str
    timestamp: str
    token: str | None
    """The session token of temporary credentials."""
    expires: int | None
    """Seconds, for presigned requests."""


def read(url: bytes, headers: Mapping[bytes, bytes]) -> Signed:
    """The signature's parts; raises DynamoDB's error if any is missing."""
    header = headers.get(b"authorization")
    if header is not None and b"?" not in url:
        return _from_header(header.decode("latin-1"), headers)
    from urllib.parse import parse_qsl

    query = dict(parse_qsl(split(url).query, keep_blank_values=True))
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
    """The access key and region that a request claims, valid or not; empty if none."""
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


def split(url: bytes) -> SplitResult:
    """A URL's parts."""
    # Few requests have a URL with more than a path.
    from urllib.parse import urlsplit

    try:
        return urlsplit(url.decode("latin-1"))
    except ValueError as error:
        raise InvalidSignature(f"The URL cannot be read: {error}") from None
