"""The server over streamable HTTP: on loopback, with a token."""

from __future__ import annotations

import hmac
from typing import Any

from mcp.server.mcpserver import MCPServer
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def http_app(server: MCPServer[Any], token: str) -> ASGIApp:
    """The ASGI application; a request without the token is refused before its body is read."""
    inner = server.streamable_http_app(json_response=True)
    wanted = f"Bearer {token}".encode()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, wanted):
                refused = PlainTextResponse("Send the token that keyfold mcp printed.", 401)
                await refused(scope, receive, send)
                return
        await inner(scope, receive, send)

    return app
