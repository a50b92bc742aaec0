"""Creates a client for an address, a path or a boto3 object."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from keyfold_engine.clients.address import Embedded, parse
from keyfold_engine.clients.protocol import AsyncClient, Client
from keyfold_engine.clients.request import ClientOptions
from keyfold_engine.clock import Clock

if TYPE_CHECKING:
    from keyfold_engine.engine import Engine
    from keyfold_engine.engine.sweeper import Sweeper


def connect(
    backend: str | Any, options: ClientOptions | None = None, *, clock: Clock | None = None
) -> Client:
    """A client for an address or data file path, or for a boto3 client or session.

    An embedded engine deletes expired items by itself. With your own clock it follows that clock,
    and sweeps when you call it.
    """
    if isinstance(backend, PathLike):
        backend = fspath(backend)
    if not isinstance(backend, str):
        from keyfold_engine.clients.boto import BotoClient

        return BotoClient(backend)
    address = parse(backend)
    if isinstance(address, Embedded):
        from keyfold_engine.clients.embedded import EmbeddedClient

        return EmbeddedClient(*_open_engine(address, clock))
    from keyfold_engine.clients.http import HttpClient

    return HttpClient(address, options)


def connect_async(
    backend: str | Any, options: ClientOptions | None = None, *, clock: Clock | None = None
) -> AsyncClient:
    """`connect` for an event loop."""
    if isinstance(backend, PathLike):
        backend = fspath(backend)
    if not isinstance(backend, str):
        from keyfold_engine.clients.boto import AsyncBotoClient

        return AsyncBotoClient(backend)
    address = parse(backend)
    if isinstance(address, Embedded):
        from keyfold_engine.clients.embedded import AsyncEmbeddedClient

        return AsyncEmbeddedClient(*_open_engine(address, clock))
    from keyfold_engine.clients.async_http import AsyncHttpClient

    return AsyncHttpClient(address, options)


def _open_engine(address: Embedded, clock: Clock | None) -> tuple[Engine, Sweeper | None]:
    from keyfold_engine.engine import Engine
    from keyfold_engine.engine.sweeper import Sweeper

    engine = Engine.open(address.path, clock=clock)
    return engine, Sweeper(engine) if clock is None else None
