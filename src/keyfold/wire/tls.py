"""TLS: the certificate, and connections that count before their handshake is over."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress

from keyfold.wire.protocol import Connection
from keyfold.wire.registry import ConnectionRegistry
from keyfold.wire.settings import ServeError, ServerSettings

# After an accept that failed, for want of file handles: others may be closed meanwhile.
_PAUSE_SECONDS = 0.1


class TlsListener:
    """Takes connections one by one, and lets each shake hands beside the others."""

    def __init__(
        self,
        registry: ConnectionRegistry,
        listener: socket.socket,
        context: ssl.SSLContext,
        backlog: int,
    ) -> None:
        self._registry, self._context, self._listener = registry, context, listener
        listener.setblocking(False)
        listener.listen(backlog)
        self._accepting = asyncio.create_task(self._accept_forever())

    def close(self) -> None:
        self._accepting.cancel()
        self._listener.close()

    async def _accept_forever(self) -> None:
        loop, registry = asyncio.get_running_loop(), self._registry
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listener)
            except OSError:
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if not registry.admits():
                accepted.close()
                continue
            handshake = asyncio.create_task(self._shake_hands(accepted))
            registry.handshakes[handshake] = registry.now
            handshake.add_done_callback(self._shaken)

    def _shaken(self, handshake: asyncio.Task[None]) -> None:
        self._registry.handshakes.pop(handshake, None)
        self._registry.note_large()

    async def _shake_hands(self, accepted: socket.socket) -> None:
        # A client that does not know how, takes too long or has gone is nobody's fault here.
        with suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError):
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: Connection(self._registry, admitted=True),
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=self._registry.limits.receive_seconds,
            )


def tls_context(settings: ServerSettings) -> ssl.SSLContext | None:
    """TLS by the settings' certificate, if there is one."""
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
