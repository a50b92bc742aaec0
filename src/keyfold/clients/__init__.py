"""Backends behind one `call(operation, request)`: embedded, over HTTP, or a user's boto3."""

from __future__ import annotations

from typing import Any

from keyfold.clients.address import Embedded, parse
from keyfold.clients.protocol import AsyncClient, Client
from keyfold.clients.request import Options

__all__ = ["AsyncClient", "Client", "Options", "connect", "connect_async"]


def connect(backend: str | Any, options: Options | None = None) -> Client:
    """A client for an address, or for a boto3 client or session."""
    if not isinstance(backend, str):
        from keyfold.clients.boto import BotoClient

        return BotoClient(backend)
    address = parse(backend)
    if isinstance(address, Embedded):
        from keyfold.clients.embedded import EmbeddedClient
        from keyfold.engine import Engine

        return EmbeddedClient(Engine.open(address.path))
    from keyfold.clients.http import HttpClient

    return HttpClient(address, options)


def connect_async(backend: str | Any, options: Options | None = None) -> AsyncClient:
    """The same for an event loop."""
    if not isinstance(backend, str):
        from keyfold.clients.boto import AsyncBotoClient

        return AsyncBotoClient(backend)
    address = parse(backend)
    if isinstance(address, Embedded):
        from keyfold.clients.embedded import AsyncEmbeddedClient
        from keyfold.engine import Engine

        return AsyncEmbeddedClient(Engine.open(address.path))
    from keyfold.clients.async_http import AsyncHttpClient

    return AsyncHttpClient(address, options)
