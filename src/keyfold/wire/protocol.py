"""HTTP/1.1 on one connection: bytes to requests, answers in order, and no patience for abuse."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Protocol, cast

import httptools

from keyfold.wire import answer
from keyfold.wire.settings import ClientLimits

if TYPE_CHECKING:
    from keyfold.wire.metrics import Metrics

_PIPELINE = 16
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class WireRequest:
    """One whole request, and how its answer is to be."""

    __slots__ = (
        "body",
        "connection",
        "content_type",
        "extra",
        "headers",
        "keep_alive",
        "method",
        "url",
    )

    def __init__(
        self,
        connection: Connection,
        method: bytes,
        url: bytes,
        headers: dict[bytes, bytes],
        body: bytes,
        keep_alive: bool,
    ) -> None:
        self.connection = connection
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.keep_alive = keep_alive
        self.content_type = answer.JSON_1_0
        self.extra = b""
        """Header lines of the answer."""


class Front(Protocol):
    """Whoever answers requests, now or later, by `request.connection.reply`."""

    def handle(self, request: WireRequest) -> None: ...


class ConnectionRegistry:
    """The connections of a worker and its coarse clock, which ticks once a second."""

    def __init__(self, front: Front, limits: ClientLimits, metrics: Metrics) -> None:
        self.front, self.limits, self.metrics = front, limits, metrics
        self.request_id = answer.RequestIds()
        self.open: set[Connection] = set()
        self.now = 0.0
        self.draining = False

    def tick(self, now: float) -> None:
        """Note the time and end the connections whose time is up."""
        self.now = now
        for connection in [c for c in self.open if c.deadline and now > c.deadline]:
            connection.expire()

    def drain(self) -> None:
        """Answer what is under way, then close; idle connections close at once."""
        self.draining = True
        for connection in list(self.open):
            connection.close_when_idle()


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, registry: ConnectionRegistry) -> None:
        self._registry = registry
        self._limits = registry.limits
        self._front = registry.front
        self._fields: dict[bytes, bytes] = {}
        # The parser calls this for every header: no Python runs, and of two the last one counts.
        self.on_header = self._fields.__setitem__
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport = None  # type: ignore[assignment]
        self._waiting: deque[WireRequest] = deque()
        self._busy = False
        self._closed = False
        self._choked = False
        """The client takes its answers too slowly."""
        self._answered = False
        """The answer to the request at hand waits in the buffer of a choked client."""
        self._receiving = self._in_head = False
        self._refusal: tuple[int, str] | None = None
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._head_bytes = 0
        self._body: list[bytes] = []
        self._body_bytes = 0
        self.deadline = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        registry = self._registry
        if registry.draining or len(registry.open) >= self._limits.connections:
            registry.metrics.add("refused_connections", 1)
            self._refuse(503, "too many connections")
            return
        registry.open.add(self)
        registry.metrics.add("connections", 1)
        self.deadline = registry.now + self._limits.idle_seconds

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._closed = True
        if self in self._registry.open:
            self._registry.open.discard(self)
            self._registry.metrics.add("connections", -1)
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        if self._closed:
            return
        try:
            self._parser.feed_data(data)
            if self._in_head:
                self._check_head(len(data))
        except httptools.HttpParserUpgrade:
            self._refuse(400, "this server speaks HTTP/1.1 and nothing else")
        except httptools.HttpParserError:
            self._refuse(*(self._refusal or (400, "not an HTTP request")))

    def pause_writing(self) -> None:
        self._choked = True
        self._transport.pause_reading()
        self.deadline = self._registry.now + self._limits.send_seconds

    def resume_writing(self) -> None:
        self._choked = False
        self.deadline = 0.0
        self._transport.resume_reading()
        if self._answered:
            self._answered = False
            self._go_on()

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._receiving = self._in_head = True
        self._url = b""
        self._fields.clear()
        self._head_bytes = self._body_bytes = 0
        self._body.clear()
        if not self._busy:
            self.deadline = self._registry.now + self._limits.receive_seconds

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._headers = {name.lower(): value for name, value in self._fields.items()}
        length = self._headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._limits.body_bytes:
            self._stop_reading(413, "")
        if b"expect" in self._headers:
            self._transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes:
            self._stop_reading(413, "")
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._receiving = False
        parser = self._parser
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        request = WireRequest(
            self, parser.get_method(), self._url, self._headers, body, parser.should_keep_alive()
        )
        if self._busy:
            self._waiting.append(request)
            if len(self._waiting) >= _PIPELINE:
                self._transport.pause_reading()
            return
        self._busy = True
        self.deadline = 0.0
        self._front.handle(request)

    # What whoever answers calls.

    def reply(self, data: bytes, keep_alive: bool) -> None:
        """Send a whole answer and go on with the next request."""
        if self._closed:
            return
        self._transport.write(data)
        if not keep_alive or (self._registry.draining and not self._waiting):
            self._close()
            return
        if self._choked:
            self._answered = True
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Take the next request, or wait for one."""
        if self._waiting:
            request = self._waiting.popleft()
            if len(self._waiting) < _PIPELINE // 2:
                self._transport.resume_reading()
            self._front.handle(request)
            return
        self._busy = False
        patience = self._limits.receive_seconds if self._receiving else self._limits.idle_seconds
        self.deadline = self._registry.now + patience

    def expire(self) -> None:
        """End a connection that is idle or too slow; one that is still there next time, hard."""
        if not self._closed and (self._receiving or self._choked):
            self._registry.metrics.add("slow_clients", 1)
        if self._receiving and not self._closed:
            self._refuse(408, "the request did not arrive in time")
            return
        self._closed = True
        self._transport.abort()

    def close_when_idle(self) -> None:
        """Close now, or after the answer under way."""
        if self._busy:
            return
        self._closed = True
        if self._transport.get_write_buffer_size():
            self._transport.close()
        else:
            # A TLS client that is not listening would let a polite close wait.
            self._transport.abort()

    def _check_head(self, more: int) -> None:
        self._head_bytes += more
        if self._head_bytes > self._limits.head_bytes:
            self._refuse(431, "the request line and headers are too large")

    def _stop_reading(self, status: int, message: str) -> None:
        """Called within the parser, which stops on an exception and reports it to us."""
        self._refusal = (status, message)
        raise OverflowError(message)

    def _refuse(self, status: int, message: str) -> None:
        body = message.encode()
        self._transport.write(
            answer.render(
                status,
                body,
                self._registry.request_id(),
                answer.TEXT,
                keep_alive=False,
            )
        )
        self._close()

    def _close(self) -> None:
        self._closed = True
        self._transport.close()
