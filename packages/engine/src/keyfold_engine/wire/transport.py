"""One client's socket: passes received bytes to a connection, buffers what is sent."""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress
from typing import Final, Protocol

from keyfold_engine.limits import KB
from keyfold_engine.wire.loop import READ, WRITE, Loop

# Above the first the connection pauses, below the second it resumes.
_MUCH: Final = 64 * KB
_LITTLE: Final = 16 * KB
# The size of one read; the allocator has blocks of this size at hand.
_PIECE: Final = 64 * KB
# Reads per client before others get a turn.
_PIECES: Final = 32
_WOULD_BLOCK: Final = (BlockingIOError, InterruptedError)


class Receiver(Protocol):
    """Receives bytes and events from a transport."""

    def connection_made(self, transport: Transport, /) -> None: ...

    def data_received(self, data: bytes, /) -> None: ...

    def eof_received(self) -> bool:
        """The peer sends nothing more; returns whether to keep sending."""
        ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def connection_lost(self) -> None: ...


class Transport:
    """A socket on a loop."""

    __slots__ = (
        "_choked", "_closing", "_connection", "_deaf", "_ended", "_events", "_loop", "_paused",
        "_size", "_socket", "_unsent",
    )  # fmt: skip

    def __init__(self, loop: Loop, accepted: socket.socket, connection: Receiver) -> None:
        self._loop, self._socket = loop, accepted
        self._connection: Receiver | None = connection
        self._unsent: deque[memoryview] = deque()
        self._size = self._events = 0
        self._paused = False
        self._deaf = False
        """The other side sends nothing more."""
        self._ended = False
        """Nothing more will be sent, once all is."""
        self._closing = False
        self._choked = False
        """The connection was told to wait."""

    def start(self) -> None:
        assert self._connection is not None
        self._connection.connection_made(self)
        self._expect()

    @property
    def address(self) -> str:
        """The peer's address."""
        try:
            return str(self._socket.getpeername()[0])
        except OSError:
            return ""

    @property
    def can_end(self) -> bool:
        """Whether one direction can be closed separately."""
        return True

    @property
    def unsent_bytes(self) -> int:
        return self._size

    def write(self, data: bytes) -> None:
        """Send now, or as the peer reads."""
        if self._closing:
            return
        sent = 0
        if not self._unsent:
            try:
                sent = self._send(data)
            except OSError:
                self.abort()
                return
            if sent == len(data):
                return
        rest = memoryview(data)[sent:]
        self._unsent.append(rest)
        self._size += len(rest)
        self._expect()
        if self._size > _MUCH and not self._choked and self._connection is not None:
            self._choked = True
            self._connection.pause_writing()

    def end(self) -> None:
        """Close the sending direction once everything is sent."""
        self._ended = True
        if not self._unsent:
            self._shut()

    def pause(self) -> None:
        """Stop reading from the peer."""
        self._paused = True
        self._expect()

    def resume(self) -> None:
        self._paused = False
        self._expect()

    def close(self) -> None:
        """Close once everything is sent; stop reading."""
        self._closing = True
        if self._unsent:
            self._expect()
        else:
            self.abort()

    def abort(self) -> None:
        """Close now; the connection is notified in the next iteration."""
        self._closing = True
        self._unsent.clear()
        self._size = 0
        self._expect()
        if self._connection is not None:
            self._loop.call_soon(self._leave, self._connection)
            self._connection = None

    def _leave(self, connection: Receiver) -> None:
        try:
            connection.connection_lost()
        finally:
            self._socket.close()

    def _expect(self) -> None:
        """Register for the events that matter now."""
        events = 0 if self._paused or self._deaf or self._closing else READ
        if self._unsent:
            events |= WRITE
        before = self._events
        if events == before:
            return
        self._events = events
        if not before:
            self._loop.watch(self._socket, events, self._on_ready)
        elif events:
            self._loop.watch_for(self._socket, events, self._on_ready)
        else:
            self._loop.forget(self._socket)

    def _on_ready(self, events: int) -> None:
        # The event may be outdated by now.
        events &= self._events
        try:
            if events & WRITE:
                self._flush()
            if events & READ:
                self._receive()
        except OSError:
            self.abort()
        except Exception:
            self.abort()
            raise

    def _receive(self) -> None:
        for _ in range(_PIECES):
            try:
                data = self._socket.recv(_PIECE)
            except _WOULD_BLOCK:
                return
            self._give(data)
            if len(data) < _PIECE or not self._events & READ:
                return

    def _give(self, data: bytes) -> None:
        """Pass received bytes to the connection; empty means the end."""
        if self._connection is None:
            return
        if data:
            self._connection.data_received(data)
            return
        self._deaf = True
        if self._connection.eof_received():
            self._expect()
        else:
            self.close()

    def _send(self, data: bytes | memoryview) -> int:
        try:
            return self._socket.send(data)
        except _WOULD_BLOCK:
            return 0

    def _flush(self) -> None:
        unsent = self._unsent
        while unsent:
            sent = self._send(unsent[0])
            if not sent:
                break
            self._size -= sent
            if sent < len(unsent[0]):
                unsent[0] = unsent[0][sent:]
            else:
                unsent.popleft()
        if self._choked and self._size <= _LITTLE and self._connection is not None:
            self._choked = False
            self._connection.resume_writing()
        if not unsent:
            if self._closing:
                self.abort()
            elif self._ended:
                self._shut()
        self._expect()

    def _shut(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
