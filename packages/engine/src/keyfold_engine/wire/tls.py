"""TLS: the certificate, handshakes under the connection limits, and encryption."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from keyfold_engine.limits import KB
from keyfold_engine.wire.loop import READ, WRITE, Loop
from keyfold_engine.wire.protocol import Connection
from keyfold_engine.wire.registry import ConnectionRegistry
from keyfold_engine.wire.settings import ServeError, ServerSettings
from keyfold_engine.wire.transport import Receiver, Transport

# The size of one encryption step.
_PIECE = 64 * KB


class Handshake:
    """A client during its handshake."""

    def __init__(
        self,
        loop: Loop,
        registry: ConnectionRegistry,
        context: ssl.SSLContext,
        accepted: socket.socket,
        on_end: Callable[[], object],
    ) -> None:
        self._loop, self._registry, self._on_end = loop, registry, on_end
        self._socket = context.wrap_socket(
            accepted, server_side=True, do_handshake_on_connect=False
        )
        registry.handshakes[self] = monotonic()
        loop.watch(self._socket, READ, self._on_ready)

    def drop(self) -> None:
        """Close without an answer."""
        self._end()
        self._socket.close()

    def proceed(self) -> None:
        """Read what the client has sent."""
        self._on_ready(READ)

    def _on_ready(self, _: int) -> None:
        handshakes = self._registry.handshakes
        if self not in handshakes:
            return
        was_silent = self._socket.cipher() is None
        try:
            self._socket.do_handshake()
        except ssl.SSLWantReadError:
            if was_silent and self._socket.cipher() is not None:
                # Its first message has come, and it gets the time for its second.
                del handshakes[self]
                handshakes[self] = monotonic()
            self._loop.watch_for(self._socket, READ, self._on_ready)
        except ssl.SSLWantWriteError:
            self._loop.watch_for(self._socket, WRITE, self._on_ready)
        except OSError:
            # A client that fails or disconnects is not an error of the server.
            self.drop()
        else:
            self._end()
            connection = Connection(self._registry, admitted=True)
            TlsTransport(self._loop, self._socket, connection).start()

    def _end(self) -> None:
        self._registry.handshakes.pop(self, None)
        self._registry.note_large()
        self._loop.forget(self._socket)
        self._on_end()


class TlsTransport(Transport):
    """A socket with TLS on a loop."""

    __slots__ = ()
    _socket: ssl.SSLSocket

    @property
    def can_end(self) -> bool:
        return False

    def resume(self) -> None:
        super().resume()
        # Already decrypted bytes do not wake the loop.
        if not self._closing and self._socket.pending():
            self._loop.call_soon(self._on_ready, READ)

    def _receive(self) -> None:
        while self._events & READ:
            try:
                data = self._socket.recv(_PIECE)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            self._give(data)
            if self._closing or not self._socket.pending():
                return

    def _send(self, data: bytes | memoryview) -> int:
        try:
            return self._socket.send(memoryview(data)[:_PIECE])
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0

    def _leave(self, connection: Receiver) -> None:
        with suppress(OSError, ValueError):
            self._socket.unwrap()
        super()._leave(connection)


def tls_context(settings: ServerSettings) -> ssl.SSLContext:
    """TLS with the settings' certificate."""
    assert settings.tls_certificate is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise ServeError(
            f"cannot use certificate {settings.tls_certificate} with key {settings.tls_key}: "
            f"{error.strerror or error}"
        ) from error
    return context
