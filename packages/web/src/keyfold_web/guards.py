"""Who may see a page: on a development server only this machine, elsewhere administrators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from keyfold_web.asgi import headers_of, send_answer
from keyfold_web.auth import Tokens, authenticate
from keyfold_web.exchange import problem_answer
from keyfold_web.problems import NotAllowed, NotAuthenticated, Refused, problem_for

LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")


class WrongHost(Refused):
    """A request for another host: possibly DNS rebinding by a web page."""

    status = 421
    title = "Misdirected request"
    default_code = "WRONG_HOST"


class LocalHosts:
    """Answers requests for this machine's own names only, for a server without authentication."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wrong = scope["type"] != "lifespan" and not _is_local(headers_of(scope).get("host", ""))
        if wrong and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        if wrong:
            refused = WrongHost("A development server only accepts requests for localhost.")
            await send_answer(send, problem_answer(problem_for(refused)))
            return
        await self._app(scope, receive, send)


def _is_local(host: str) -> bool:
    name, colon, port = host.lower().rpartition(":")
    return (name if colon and port.isdecimal() else host.lower()) in LOOPBACK_HOSTS


class AdminPages:
    """Restricts some paths to administrators."""

    def __init__(self, app: ASGIApp, paths: Iterable[str], tokens: Tokens | None) -> None:
        self._app, self._paths, self._tokens = app, frozenset(paths), tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] == "http"
            and scope["method"] in ("GET", "HEAD")
            and (scope["path"].rstrip("/") or "/") in self._paths
        ):
            try:
                await self._require_admin(headers_of(scope).get("authorization"))
            except Refused as refused:
                await send_answer(send, problem_answer(problem_for(refused)))
                return
        await self._app(scope, receive, send)

    async def _require_admin(self, header: str | None) -> None:
        identity = await authenticate(self._tokens, header)
        if identity.is_anonymous:
            raise NotAuthenticated()
        if not identity.is_admin:
            raise NotAllowed("This page is for administrators.")
