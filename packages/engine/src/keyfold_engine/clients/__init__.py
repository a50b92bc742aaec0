"""Backends behind one `call(operation, request)`: embedded, over HTTP, or a user's boto3."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold_engine.clients.backend import connect, connect_async
    from keyfold_engine.clients.protocol import AsyncClient, Client
    from keyfold_engine.clients.request import ClientOptions

__all__ = ["AsyncClient", "Client", "ClientOptions", "connect", "connect_async"]

# A server uses only this package's signer, so the other parts are imported on first use.
_PARTS = {
    "AsyncClient": "protocol",
    "Client": "protocol",
    "ClientOptions": "request",
    "connect": "backend",
    "connect_async": "backend",
}


def __getattr__(name: str) -> object:
    part = _PARTS.get(name)
    if part is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{part}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
