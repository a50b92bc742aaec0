"""Access: a token is exchanged for a cookie; requests from other sites are refused."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from keyfold_web.guards import LOOPBACK_HOSTS

COOKIE: Final = "keyfold_studio"
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": with it, browsers send our own forms with the origin "null".
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
SESSIONS: Final = 200
ATTEMPTS: Final = 10
PAUSE_SECONDS: Final = 60.0


@dataclass
class Gate:
    """Access control. With a password people sign in; without one, only this machine is served."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    password: str = field(default="", repr=False)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _sessions: OrderedDict[str, None] = field(default_factory=OrderedDict, repr=False)
    _wrong: list[float] = field(default_factory=list, repr=False)

    def is_expected_host(self, request: Request) -> bool:
        """Without sign-in, unexpected host names are refused (DNS rebinding)."""
        host = request.headers.get("host", "").lower()
        name, colon, port = host.rpartition(":")
        return bool(self.password) or (
            (name if colon and port.isdecimal() else host) in LOOPBACK_HOSTS
        )

    def is_same_origin(self, request: Request) -> bool:
        """Whether a state-changing request comes from one of our pages."""
        wanted = f"{request.url.scheme}://{request.headers.get('host', '')}"
        site = request.headers.get("sec-fetch-site", "same-origin")
        return request.headers.get("origin") == wanted and site == "same-origin"

    def session(self, request: Request) -> str | None:
        found = request.cookies.get(_cookie(request), "")
        return found if found in self._sessions else None

    def csrf(self, session: str) -> str:
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()

    def is_genuine(self, session: str, given: str) -> bool:
        return hmac.compare_digest(self.csrf(session).encode(), given.encode())

    def exchange(self, request: Request) -> Response | None:
        """Exchange a token in the address for a cookie, and remove it from the address."""
        given = request.query_params.get("token")
        if given is None or self.password:
            return None
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        rest = [(n, v) for n, v in parse_qsl(request.url.query) if n != "token"]
        where = request.url.path + (f"?{urlencode(rest)}" if rest else "")
        return self._admit(RedirectResponse(where, 303), request)

    def sign_in(self, request: Request, password: str, where: str) -> Response | None:
        now = time.monotonic()
        self._wrong = [at for at in self._wrong if now - at < PAUSE_SECONDS]
        if len(self._wrong) >= ATTEMPTS or not self.password:
            return None
        if not hmac.compare_digest(password.encode(), self.password.encode()):
            self._wrong.append(now)
            return None
        return self._admit(RedirectResponse(where, 303), request)

    def _admit(self, response: Response, request: Request) -> Response:
        session = secrets.token_urlsafe(24)
        self._sessions[session] = None
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        path = request.scope.get("root_path", "") or "/"
        response.set_cookie(
            _cookie(request),
            session,
            path=path,
            httponly=True,
            samesite="strict",
        )
        return response


def _cookie(request: Request) -> str:
    """Named by the port, as browsers send the cookies of one host to all of its ports."""
    port = request.url.port
    return COOKIE if port is None else f"{COOKIE}_{port}"
