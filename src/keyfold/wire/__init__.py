"""Serves DynamoDB's own API: JSON 1.0 and Streams on one port."""

from __future__ import annotations

from keyfold.wire.background import BackgroundServer
from keyfold.wire.server import Server
from keyfold.wire.settings import ClientLimits, ServeError, ServerSettings
from keyfold.wire.workers import serve

__all__ = ["BackgroundServer", "ClientLimits", "ServeError", "Server", "ServerSettings", "serve"]
