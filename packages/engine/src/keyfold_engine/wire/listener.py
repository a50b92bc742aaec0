"""The listening socket: accepts connections, with TLS after a handshake, under the limits."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from time import monotonic
from typing import Any

from keyfold_engine.addresses import open_port
from keyfold_engine.errors import KeyfoldError
from keyfold_engine.wire.connection_limits import ConnectionRegistry
from keyfold_engine.wire.protocol import Connection
from keyfold_engine.wire.settings import ServeError, ServerSettings

_BACKLOG = 1024
# Yield to other work after this many.
_AT_ONCE = 64
# The pause for lack of file handles or of room for handshakes: others may close meanwhile.
_PAUSE_SECONDS = 0.1
# How long a closed TLS connection waits for its client to agree.
_SHUTDOWN_SECONDS = 2.0


class Handshake:
    """A client that has not shown who it is."""

    def __init__(self, accepted: socket.socket) -> None:
        self._socket = accepted
        self.opening: asyncio.Task[None]

    @property
    def has_unread(self) -> bool:
        """Whether the client has sent what the loop had no time to read."""
        with suppress(OSError):
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        return False

    def drop(self) -> None:
        """Close without an answer, in the next iteration."""
        self.opening.cancel()


class Listener:
    """Accepts connections until it is closed."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        registry: ConnectionRegistry,
        listener: socket.socket,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._loop, self._registry, self._socket, self._tls = loop, registry, listener, tls
        self._options: dict[str, Any] = {}
        if tls is not None:
            self._options = {
                "ssl": tls,
                "ssl_handshake_timeout": registry.limits.receive_seconds,
                "ssl_shutdown_timeout": _SHUTDOWN_SECONDS,
            }
        self._opening: set[asyncio.Task[None]] = set()
        self._closed = False
        listener.setblocking(False)
        listener.listen(_BACKLOG)
        self._watch()

    def close(self) -> None:
        self._closed = True
        self._loop.remove_reader(self._socket)
        self._socket.close()

    def _watch(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._socket, self._accept)

    def _pause(self) -> None:
        """Leave new clients in the system's queue."""
        self._loop.remove_reader(self._socket)
        self._loop.call_later(_PAUSE_SECONDS, self._watch)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            if self._tls is not None and not self._registry.has_room_for_handshake():
                self._pause()
                return
            try:
                accepted, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                self._pause()
                return
            self._take(accepted)

    def _take(self, accepted: socket.socket) -> None:
        handshake = None
        if self._tls is not None:
            if not self._registry.admits():
                accepted.close()
                return
            handshake = Handshake(accepted)
            self._registry.handshakes[handshake] = monotonic()
        opening = self._loop.create_task(self._open(accepted, handshake))
        if handshake is not None:
            handshake.opening = opening
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket, handshake: Handshake | None) -> None:
        connection = Connection(self._registry, handshake)
        try:
            await self._loop.connect_accepted_socket(lambda: connection, accepted, **self._options)
        except (OSError, asyncio.CancelledError):
            # A client that fails or disconnects is not an error of the server.
            accepted.close()
        finally:
            if handshake is not None:
                self._registry.end_handshake(handshake)
                self._watch()


def bind(settings: ServerSettings, *, shared: bool = False) -> socket.socket:
    """A socket bound to the settings' host and port; `shared` with other workers."""
    try:
        return open_port(settings.host, settings.port, shared=shared)
    except KeyfoldError as error:
        raise ServeError(str(error)) from None


def tls_context(settings: ServerSettings) -> ssl.SSLContext | None:
    """TLS with the settings' certificate, if there is one."""
    if settings.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise ServeError(
            f"cannot use certificate {settings.tls_certificate} with key {settings.tls_key}: "
            f"{error.strerror or error}"
        ) from error
    return context
