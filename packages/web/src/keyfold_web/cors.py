"""CORS: which origins may call the services from a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from keyfold.errors import KeyfoldError

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT: Final = (
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "traceparent",
    "x-request-id",
)
SEEN: Final = (
    "etag",
    "keyfold-left-out",
    "link",
    "retry-after",
    "www-authenticate",
    "x-request-id",
)


def cross_origin(origins: Sequence[str]) -> Middleware:
    """Middleware that allows these origins to call; `*` means all.

    Tokens are sent in a header that pages set themselves, never in cookies, so no credentials are
    allowed and `*` gives a page nothing that curl would not get.
    """
    for one in origins:
        _check(one)
    return Middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=METHODS,
        allow_headers=SENT,
        expose_headers=SEEN,
    )


def _check(origin: str) -> None:
    parts = urlsplit(origin)
    if origin != "*" and (
        parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}"
    ):
        raise KeyfoldError(
            f"Invalid origin {origin!r}: give scheme, host and port alone, like "
            "https://app.example or http://localhost:5173, or * for all"
        )
