"""Wraps every request: request id, security headers, log line."""

from __future__ import annotations

import logging
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyfold_engine.tracing import new_instance

ID_HEADER: Final = b"x-request-id"
_SAFE: Final = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
}
_POLICY: Final = (
    b"default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    b"worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
log = logging.getLogger("keyfold_web.http")


class RequestScope:
    """Gives every HTTP request an id; operations log themselves, other requests at debug level."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        given = next((value for name, value in scope["headers"] if name == ID_HEADER), b"")
        instance = new_instance(given.decode("latin-1"))

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers: dict[bytes, bytes] = dict(message["headers"])
                added = {name: value for name, value in _SAFE.items() if name not in headers}
                added[ID_HEADER] = instance.encode()
                is_page = headers.get(b"content-type", b"").startswith(b"text/html")
                if is_page and b"content-security-policy" not in headers:
                    added[b"content-security-policy"] = _POLICY
                message["headers"] = [*message["headers"], *added.items()]
                if log.isEnabledFor(logging.DEBUG):
                    fields = {
                        "method": scope["method"],
                        "path": scope["path"],
                        "status": message["status"],
                        "milliseconds": round((time.perf_counter() - started) * 1000, 3),
                    }
                    log.debug("%(method)s %(path)s %(status)s", fields, extra={"fields": fields})
            await send(message)

        await self._app(scope, receive, answer)
