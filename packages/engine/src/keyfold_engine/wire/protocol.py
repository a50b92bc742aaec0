"""HTTP/1.1 on one connection: parses requests, sends answers in order, enforces limits."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, cast

import httptools

from keyfold_engine.limits import KB
from keyfold_engine.wire import answer
from keyfold_engine.wire.connection_limits import ConnectionRegistry
from keyfold_engine.wire.known_head import Known, learn
from keyfold_engine.wire.request import WireRequest

if TYPE_CHECKING:
    from keyfold_engine.wire.listener import Handshake

_PIPELINE = 16
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# The parser gets at most this much at once, so that a head is measured before it is parsed
# completely.
_PIECE = 8 * KB
# Bodies and answers up to this size are not counted against the budget.
_SMALL = 64 * KB
_VERSIONS = ("1.1", "1.0")
_LINGER_SECONDS = 2.0


class Connection(asyncio.Protocol):
    """One client's connection."""

    # Slots: Python shares dictionaries only up to 30 keys.
    __slots__ = (
        "_answered", "_body", "_busy", "_choked", "_closed", "_ended", "_fields",
        "_front", "_half_closed", "_handshake", "_headers", "_held_answer", "_held_body",
        "_held_request", "_in_head", "_known", "_learns", "_length", "_limits", "_lines",
        "_overhead", "_parser", "_receiving", "_refusal", "_registry", "_transport", "_uncounted",
        "_unread", "_url", "_waiting", "deadline", "gone", "on_header", "on_url", "waits_since",
    )  # fmt: skip

    def __init__(self, registry: ConnectionRegistry, handshake: Handshake | None = None) -> None:
        """A connection with a handshake, which is TLS, is counted since that began."""
        self._registry = registry
        self._handshake = handshake
        self._limits = registry.limits
        self._front = registry.front
        self._fields: dict[bytes, bytes] = {}
        # The parser calls these C functions for every header and URL fragment: no Python runs. If a
        # header is repeated, the last one counts.
        self.on_header = self._fields.__setitem__
        self._url: list[bytes] = []
        self.on_url = self._url.append
        # A reference cycle with the parser until the connection is lost.
        self._parser: Any = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport = None  # type: ignore[assignment]
        self._waiting: deque[WireRequest] = deque()
        self._known: Known | None = None
        """Reads requests with a head like that of the first."""
        self._learns = registry.front.knows_heads
        self._busy = False
        self._ended = False
        """The rest is not read: the last request has arrived, or something else than a request."""
        self._closed = False
        self._half_closed = False
        """The client sends nothing more, but may wait for answers."""
        self._choked = False
        """The client takes its answers too slowly."""
        self._answered = False
        """The answer to the current request waits in the buffer of a slow client."""
        self._receiving = self._in_head = False
        self._refusal: tuple[int, str] | None = None
        self._headers: dict[bytes, bytes] = {}
        self._lines = self._length = 0
        self._overhead = 0
        """Bytes of a request's head, or since a chunk of it began, that are not its body."""
        self._body: bytes | bytearray = b""
        self._uncounted = min(_SMALL, registry.limits.body_bytes)
        self._unread = 0
        self._held_body = self._held_request = self._held_answer = 0
        self.gone = False
        """The client has disconnected."""
        self.waits_since = 0.0
        """Since when the server waits for this client to send or to take something."""
        self.deadline = 0.0

    @property
    def held_bytes(self) -> int:
        """Bytes of the budget that this connection holds."""
        return self._held_body + self._held_answer + sum(each.held for each in self._waiting)

    @property
    def address(self) -> str:
        """The peer's address."""
        peer = self._transport.get_extra_info("peername")
        return str(peer[0]) if peer else ""

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        registry = self._registry
        if self._handshake is not None:
            registry.end_handshake(self._handshake)
            self._transport.set_write_buffer_limits(_SMALL)
        elif not registry.admits():
            self._refuse(503, "too many connections")
            return
        registry.enter(self)
        self.deadline = registry.now + self._limits.idle_seconds

    def connection_lost(self, _: Exception | None) -> None:
        self._closed = self.gone = True
        self._registry.leave(self)
        self._release()
        self._parser = None
        self._fields.clear()
        self._headers = {}

    def data_received(self, data: bytes) -> None:
        if self._known is not None and not (self._busy or self._receiving or self._ended):
            known = self._known(data)
            if known is not None and len(known[2]) <= self._uncounted:
                headers, target, body = known
                self._take(WireRequest(self, b"POST", b"/", headers, body, True, 0, target))
                return
        if self._ended:
            self._discard(len(data))
            return
        try:
            if len(data) <= _PIECE:
                # The common case: a complete request.
                if data.count(b"\n") > self._limits.headers and not self._receiving:
                    self._check_lines(data)
                    if self._ended:
                        return
                self._parser.feed_data(data)
                if self._receiving:
                    self._measure(data)
                elif self._learns:
                    self._learns = False
                    self._known = learn(data, self._headers)
            else:
                self._feed_pieces(data)
        except httptools.HttpParserUpgrade:
            self._stop(400, "this server only supports HTTP/1.1")
        except httptools.HttpParserError:
            # Anything may follow a final request.
            if not self._ended:
                self._stop(*(self._refusal or (400, "not an HTTP request")))

    def eof_received(self) -> bool:
        self._half_closed = self._ended = True
        return self._busy and self._handshake is None

    def pause_writing(self) -> None:
        self._choked = True
        self._transport.pause_reading()
        self._wait_for_client(self._limits.send_seconds)

    def resume_writing(self) -> None:
        self._choked = False
        self._hold_answer(0)
        self._wait_for_nobody()
        self._transport.resume_reading()
        if self._answered:
            self._answered = False
            self._go_on()

    # Called by the parser.

    def on_message_begin(self) -> None:
        self._receiving = self._in_head = True
        self._url.clear()
        self._fields.clear()
        self._overhead = self._lines = 0
        if not self._busy:
            now = self.waits_since = self._registry.now
            self.deadline = now + self._limits.receive_seconds

    def on_headers_complete(self) -> None:
        self._in_head = False
        headers = self._headers = {name.lower(): value for name, value in self._fields.items()}
        if b"host" not in headers or b"connection" in headers:
            self._check_version(headers)
        if len(headers) > self._limits.headers:
            self._leave_parser(431, "the request has too many headers")
        text = headers.get(b"content-length", b"0")
        length = self._length = int(text) if text.isdigit() else 0
        if length > self._uncounted and length > self._limits.body_bytes:
            self._leave_parser(413, "")
        if b"expect" in headers:
            self._transport.write(_CONTINUE)

    def on_chunk_header(self) -> None:
        self._overhead = 0

    def on_body(self, body: bytes) -> None:
        size = len(body)
        self._overhead -= size
        if self._body:
            if isinstance(self._body, bytes):
                self._body = bytearray(self._body)
            self._body += body
            size = len(self._body)
        else:
            self._body = body
        if size > self._uncounted:
            self._check_body(size)

    def on_message_complete(self) -> None:
        self._receiving = False
        if self._ended:
            return
        parser = self._parser
        body, held = self._body, self._held_body
        self._body = b""
        self._held_body = 0
        if isinstance(body, bytearray):
            body = bytes(body)
        keep_alive = parser.should_keep_alive()
        if not keep_alive:
            self._ended = True
        url = self._url[0] if len(self._url) == 1 else b"".join(self._url)
        request = WireRequest(self, parser.get_method(), url, self._headers, body, keep_alive, held)
        if self._busy:
            self._waiting.append(request)
            if len(self._waiting) >= _PIPELINE:
                self._transport.pause_reading()
            return
        self._take(request)

    def _take(self, request: WireRequest) -> None:
        self._busy = True
        self.waits_since = self.deadline = 0.0
        self._held_request = request.held
        self._front.handle(request)

    # Called by the front door.

    def reply(self, data: bytes, keep_alive: bool) -> None:
        """Send a whole answer and continue with the next request."""
        if self._held_request:
            self._registry.hold(-self._held_request)
            self._held_request = 0
        is_large = len(data) > _SMALL
        if is_large:
            self._registry.note_large()
        if self._closed:
            return
        if is_large and not self._registry.has_room(len(data)):
            data = self._rendered(503, "the server is busy; try again", keep_alive)
        if is_large and self._handshake is not None:
            self._write_pieces(data)
        else:
            self._transport.write(data)
        if not keep_alive or (self._registry.draining and not self._waiting):
            self._close(lingers=self._unread > 0)
            return
        if self._choked:
            self._hold_answer(self._transport.get_write_buffer_size())
            self._answered = True
        else:
            self._go_on()

    def _write_pieces(self, data: bytes) -> None:
        """Write by TLS, whose transport does not count what it has encrypted in one piece."""
        for at in range(0, len(data), _SMALL):
            self._transport.write(data[at : at + _SMALL])

    def _go_on(self) -> None:
        """Take the next request, or wait for one."""
        if self._waiting:
            request = self._waiting.popleft()
            if len(self._waiting) < _PIPELINE // 2:
                self._transport.resume_reading()
            self._take(request)
            return
        self._busy = False
        if self._refusal is not None:
            self._refuse(*self._refusal)
        elif self._half_closed:
            self._close(lingers=False)
        elif self._receiving:
            self._wait_for_client(self._limits.receive_seconds)
        else:
            self.deadline = self._registry.now + self._limits.idle_seconds

    # Called by the registry.

    def expire(self) -> None:
        """Close a connection that is idle or too slow; if it still exists next time, abort it."""
        if not self._closed and (self._receiving or self._choked):
            self._registry.metrics.add("slow_clients", 1)
        if self._receiving and not self._ended:
            self._stop(408, "the request did not arrive in time")
            return
        self.drop()

    def probe(self) -> None:
        """Check whether a silent client is still waiting for its answer."""
        if self._half_closed and self._busy and not self._closed and not self._choked:
            # A disconnected client resets the connection; others ignore it.
            self._transport.write(_CONTINUE)

    def drop(self) -> None:
        """Close without an answer."""
        self._closed = self._ended = self.gone = True
        self._release()
        self._transport.abort()

    def close_when_idle(self) -> None:
        """Close now, or after the answer in progress."""
        if self._busy:
            return
        self._closed = self._ended = True
        if self._transport.get_write_buffer_size():
            self._transport.close()
        else:
            # A graceful close would wait for a TLS client that is not reading.
            self._transport.abort()

    # Reading.

    def _check_lines(self, data: bytes) -> None:
        """Refuse a head of too many lines; the parser keeps one of those with the same name."""
        # The request line, and the blank line at the end, are no headers.
        if data.count(b"\n", 0, data.find(b"\r\n\r\n")) > self._limits.headers:
            self._stop(431, "the request has too many headers")

    def _measure(self, data: bytes) -> None:
        """Check the size of an incomplete request."""
        if not self._ended:
            self._overhead += len(data)
            if self._in_head:
                # Bytes of earlier requests, up to the end of the last complete head, do not count.
                self._lines += data.count(b"\n", data.rfind(b"\r\n\r\n") + 1)
            if self._overhead > self._limits.head_bytes or self._lines > self._limits.headers:
                self._stop(431, "the request line and headers are too large")

    def _feed_pieces(self, data: bytes) -> None:
        at = 0
        while at < len(data) and not self._ended:
            end = at + _PIECE
            if self._receiving and not self._in_head:
                end = max(end, at + self._length - len(self._body))
            piece = data[at:end]
            self._parser.feed_data(piece)
            if self._receiving:
                self._measure(piece)
            at = end
        if at < len(data):
            self._discard(len(data) - at)

    def _check_version(self, headers: dict[bytes, bytes]) -> None:
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            self._leave_parser(400, "this server only supports HTTP/1.1")
        if version == "1.1" and b"host" not in headers:
            self._leave_parser(400, "the request has no Host header")

    def _check_body(self, size: int) -> None:
        if size > self._limits.body_bytes:
            self._leave_parser(413, "")
        more = size - self._held_body
        if not self._registry.has_room(more):
            self._leave_parser(503, "the server is busy; try again")
        self._registry.hold(more)
        self._held_body = size

    def _leave_parser(self, status: int, message: str) -> None:
        """Raised inside the parser, which stops and reports the exception."""
        self._refusal = (status, message)
        raise OverflowError(message)

    def _discard(self, amount: int) -> None:
        """Drain what a refused client still sends, up to a limit, so that it reads the error."""
        self._unread += amount
        if self._unread > 4 * self._limits.body_bytes:
            if self._busy:
                self._transport.pause_reading()
            else:
                self.drop()

    # Ending.

    def _stop(self, status: int, message: str) -> None:
        """Stop reading; refuse once earlier requests have their answers."""
        self._ended = True
        self._refusal = (status, message)
        self._registry.hold(-self._held_body)
        self._body, self._held_body = b"", 0
        if not self._busy:
            self._refuse(status, message)

    def _refuse(self, status: int, message: str) -> None:
        self._transport.write(self._rendered(status, message, keep_alive=False))
        self._close(lingers=True)

    def _rendered(self, status: int, message: str, keep_alive: bool) -> bytes:
        return answer.render(
            status,
            message.encode(),
            self._registry.request_id(),
            answer.TEXT,
            keep_alive=keep_alive,
        )

    def _close(self, *, lingers: bool) -> None:
        """Close once the answers are sent; closing at once would lose them for a client that
        still sends.
        """
        self._closed = self._ended = True
        self._busy = False
        if not lingers or self._half_closed:
            self._transport.close()
            return
        if self._handshake is None:
            self._transport.write_eof()
        self.deadline = self._registry.now + _LINGER_SECONDS

    def _release(self) -> None:
        """Release what is held for this client, except for the request being answered."""
        self._registry.hold(-self.held_bytes)
        self._waiting.clear()
        self._body = b""
        self._held_body = self._held_answer = 0

    def _hold_answer(self, amount: int) -> None:
        self._registry.hold(amount - self._held_answer)
        self._held_answer = amount

    def _wait_for_client(self, seconds: float) -> None:
        self.waits_since = self._registry.now
        self.deadline = self.waits_since + seconds

    def _wait_for_nobody(self) -> None:
        self.waits_since = self.deadline = 0.0
