"""Serves DynamoDB's own API: JSON 1.0 and Streams on one port."""

from __future__ import annotations

from keyfold_engine.wire.background import BackgroundServer
from keyfold_engine.wire.server import Server
from keyfold_engine.wire.settings import ClientLimits, ServeError, ServerSettings
from keyfold_engine.wire.workers import serve

__all__ = ["BackgroundServer", "ClientLimits", "ServeError", "Server", "ServerSettings", "serve"]
