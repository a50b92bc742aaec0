"""Around every request: an id, headers that keep browsers safe, a log line."""

from __future__ import annotations

import logging
import time
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyfold.serve.tracing import new_instance

ID_HEADER: Final = "x-request-id"
_SAFE: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
log = logging.getLogger("keyfold.serve.http")


class RequestScope:
    """Gives every HTTP request its id; operations log themselves, the rest is for debugging."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        given = Headers(scope=scope).get(ID_HEADER)
        instance = new_instance(given)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[ID_HEADER] = instance
                for name, value in _SAFE.items():
                    headers.setdefault(name, value)
                if headers.get("content-type", "").startswith("text/html"):
                    headers["content-security-policy"] = _POLICY
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
