"""The listening socket."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from keyfold_engine.addresses import listening_socket
from keyfold_engine.wire.loop import READ, Loop
from keyfold_engine.wire.protocol import Connection
from keyfold_engine.wire.registry import ConnectionRegistry
from keyfold_engine.wire.settings import ServeError, ServerSettings
from keyfold_engine.wire.transport import Transport

if TYPE_CHECKING:
    import ssl

_BACKLOG = 1024
# Yield to other work after this many.
_AT_ONCE = 64
# The pause for lack of file handles or of room for handshakes: others may close meanwhile.
_PAUSE_SECONDS = 0.1


class Listener:
    """Accepts connections until it is closed."""

    def __init__(
        self,
        loop: Loop,
        registry: ConnectionRegistry,
        listener: socket.socket,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._loop, self._registry, self._socket, self._tls = loop, registry, listener, tls
        self._watched = self._closed = False
        listener.setblocking(False)
        listener.listen(_BACKLOG)
        self._watch()

    def close(self) -> None:
        self._closed = True
        if self._watched:
            self._loop.forget(self._socket)
        self._socket.close()

    def _watch(self) -> None:
        if not (self._closed or self._watched):
            self._watched = True
            self._loop.watch(self._socket, READ, self._accept)

    def _pause(self) -> None:
        """Leave new clients in the system's queue."""
        self._watched = False
        self._loop.forget(self._socket)
        self._loop.call_later(_PAUSE_SECONDS, self._watch)

    def _accept(self, _: int) -> None:
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
            try:
                self._take(accepted)
            except OSError:
                # The client disconnected.
                accepted.close()

    def _take(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        if self._tls is None:
            Transport(self._loop, accepted, Connection(self._registry)).start()
        elif self._registry.admits():
            from keyfold_engine.wire.tls import Handshake

            Handshake(self._loop, self._registry, self._tls, accepted, on_end=self._watch)
        else:
            accepted.close()


def bind(settings: ServerSettings, *, shared: bool = False) -> socket.socket:
    """A socket bound to the settings' host and port; `shared` with other workers."""
    try:
        return listening_socket(settings.host, settings.port, shared=shared)
    except socket.gaierror as error:
        raise ServeError(f"no address for host {settings.host}: {error.strerror}") from error
    except OSError as error:
        raise ServeError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
            "stop what uses it or choose another with --port"
        ) from error
