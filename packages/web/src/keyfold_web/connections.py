"""Uvicorn's connections with timeouts and limits."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from keyfold_engine.limits import KB
from keyfold_web.graphql.events import STREAMS

CONNECTIONS: Final = 1000
"""Concurrent connections per worker."""
RECEIVE_SECONDS: Final = 30.0
"""From a connection's or request's start to the complete request."""
UNREAD_SECONDS: Final = 30.0
"""How long an answer may wait for a client that takes nothing of it."""
HEAD_BYTES: Final = 64 * KB
"""Of a request besides its body: its head, and between two chunks or in its trailers."""
HEADERS: Final = 100
_REFUSAL: Final = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedConnection(HttpToolsProtocol):
    """Closes connections that are too slow, too many or too large."""

    receive_seconds = RECEIVE_SECONDS
    unread_seconds = UNREAD_SECONDS
    _giving_up: asyncio.TimerHandle | None = None
    most = CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        accepted = transport.get_extra_info("socket")
        if accepted is not None and accepted.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio does so only where the listening socket names its protocol.
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._beside_body = self._head_bytes = self._lines = 0
        self._in_head = self._in_request = self._begins = self._is_refused = False
        self._patience = self.loop.call_later(self.receive_seconds, self._time_out)
        if len(self.connections) > self.most:
            self._refuse(b"503 Service Unavailable")

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        self._keep_open()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        # Closing would wait for what is unread.
        self._giving_up = self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._keep_open()
        super().resume_writing()

    def _keep_open(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._begins = False
        self._beside_body += len(data)
        super().data_received(data)
        if self._begins and self._in_head:
            # It began in this piece, and is not complete.
            self._beside_body += len(data)
        if self._in_request and self._beside_body > HEAD_BYTES:
            self._refuse_head()

    def on_message_begin(self) -> None:
        self._beside_body = self._head_bytes = self._lines = 0
        self._in_head = self._in_request = self._begins = True
        self._patience.cancel()
        self._patience = self.loop.call_later(self.receive_seconds, self._time_out)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._lines += 1
        self._head_bytes += len(name) + len(value)
        # Trailers are dropped: nobody may sign in by one.
        if self._lines > HEADERS or self._head_bytes > HEAD_BYTES:
            self._refuse_head()
        elif self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if not self._is_refused:
            super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._beside_body = 0

    def on_body(self, body: bytes) -> None:
        self._beside_body -= len(body)
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_request = False
        self._patience.cancel()
        if not self._is_refused:
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

    def _refuse_head(self) -> None:
        if not self._is_refused:
            self._is_refused = True
            self._refuse(b"431 Request Header Fields Too Large")

    def _refuse(self, status: bytes) -> None:
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_REFUSAL % status)
        self.transport.close()
