"""Uvicorn's connections with timeouts and limits."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from keyfold_web.graphql.events import STREAMS
from keyfold_engine.limits import KB

CONNECTIONS: Final = 1000
"""Concurrent connections per worker."""
RECEIVE_SECONDS: Final = 30.0
"""From a connection's or request's start to the complete request."""
HEAD_BYTES: Final = 64 * KB
_REFUSAL: Final = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedConnection(HttpToolsProtocol):
    """Closes connections that are too slow, too many or too large."""

    receive_seconds = RECEIVE_SECONDS
    most = CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head = 0
        self._in_head = False
        self._patience = self.loop.call_later(self.receive_seconds, self._time_out)
        if len(self.connections) > self.most:
            self._refuse(b"503 Service Unavailable")

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        self._head, self._in_head = 0, True
        self._patience.cancel()
        self._patience = self.loop.call_later(self.receive_seconds, self._time_out)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._patience.cancel()
        super().on_message_complete()

    def shutdown(self) -> None:
        super().shutdown()
        cycle: Any = self.cycle
        if cycle is not None and cycle.scope.get(STREAMS) and not cycle.response_complete:
            # A streaming answer has no end; its client reconnects to the next server.
            self.transport.close()

    def _time_out(self) -> None:
        if not self.transport.is_closing():
            self._refuse(b"408 Request Timeout")

    def _refuse(self, status: bytes) -> None:
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_REFUSAL % status)
        self.transport.close()
