"""Reads ASGI requests and sends answers without intermediate objects."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from keyfold_web.exchange import BODY_BYTES, BodyTooLarge, HttpAnswer
from keyfold_web.problems import Invalid

_BODILESS: Final = frozenset({204, 304})


def headers_of(scope: Scope) -> dict[str, str]:
    """Headers by lower-case name; the first of repeated ones counts."""
    return {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in reversed(scope["headers"])
    }


def query_of(scope: Scope) -> dict[str, list[str]]:
    """The query string: every name with its values, including empty ones."""
    found: dict[str, list[str]] = {}
    if given := scope["query_string"]:
        try:
            pairs = parse_qsl(given.decode("latin-1"), keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:
            raise Invalid("query", "is not UTF-8 text") from None
        for name, text in pairs:
            found.setdefault(name, []).append(text)
    return found


def path_of(scope: Scope) -> str:
    """The path; servers replace what is not UTF-8 in it, so that it would name something else."""
    path: str = scope["path"]
    if "\ufffd" in path:
        try:
            unquote_to_bytes(scope.get("raw_path") or b"").decode()
        except UnicodeDecodeError:
            raise Invalid("path", "is not UTF-8 text") from None
    return path


def address_of(scope: Scope) -> str:
    """The caller's address."""
    client = scope.get("client")
    return client[0] if client else ""


async def read_body(receive: Receive) -> bytes:
    """The body; refused if it exceeds the limit."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > BODY_BYTES:
            raise BodyTooLarge(f"The body must not exceed {BODY_BYTES} bytes.")
        parts.append(part)
        if not message.get("more_body"):
            return part if len(parts) == 1 else b"".join(parts)


async def send_answer(send: Send, made: HttpAnswer) -> None:
    """Send an answer with its length."""
    headers = [
        (name.encode("latin-1"), value.encode("latin-1")) for name, value in made.headers.items()
    ]
    if made.status not in _BODILESS:
        headers.append((b"content-length", b"%d" % len(made.body)))
    await send({"type": "http.response.start", "status": made.status, "headers": headers})
    await send({"type": "http.response.body", "body": made.body})
