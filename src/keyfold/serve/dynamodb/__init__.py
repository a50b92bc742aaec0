"""DynamoDB's own API, served: JSON 1.0 and Streams on one port."""

from __future__ import annotations

from keyfold.serve.dynamodb.background import BackgroundServer
from keyfold.serve.dynamodb.server import Server
from keyfold.serve.dynamodb.settings import ClientLimits, ServeError, Settings
from keyfold.serve.dynamodb.workers import serve

__all__ = ["BackgroundServer", "ClientLimits", "ServeError", "Server", "Settings", "serve"]
