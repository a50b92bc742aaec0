"""The issuer of tokens of a development server: it gives one to anybody, at /sign-in."""

from __future__ import annotations

import secrets
from typing import Annotated, Final

import jwt
from pydantic import StringConstraints, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from keyfold_engine.clock import Clock, SystemClock
from keyfold_web.asgi import read_body
from keyfold_web.auth import Verified, verify
from keyfold_web.exchange import problem_answer
from keyfold_web.identity import Identity
from keyfold_web.names import Payload
from keyfold_web.problems import Refused, invalid_json, problem_for
from keyfold_web.rest import response

ISSUER: Final = "keyfold-development"
AUDIENCE: Final = "keyfold"
LASTS_SECONDS: Final = 12 * 3600

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class DevelopmentTokens:
    """Tokens signed with a key of this machine, for development and tests only."""

    def __init__(self, key: str | None = None, *, clock: Clock | None = None) -> None:
        self._key = key or secrets.token_hex(32)
        self._clock = clock or SystemClock()
        self._verified = Verified(self._clock)

    def issue(self, id: str, *groups: str, seconds: int = LASTS_SECONDS) -> str:
        """A token for this user and groups."""
        now = int(self._clock.now())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": id,
            "groups": sorted(groups),
            "iat": now,
            "exp": now + seconds,
        }
        return jwt.encode(claims, self._key, algorithm="HS256")

    async def identity(self, token: str) -> Identity:
        if (known := self._verified.find(token)) is not None:
            return known
        claims = verify(token, self._key, ["HS256"], ISSUER, AUDIENCE, self._clock, 0)
        return self._verified.keep(token, Identity.from_claims(claims))


class SignIn(Payload):
    user: Word
    groups: tuple[Word, ...] = ()


def sign_in_route(tokens: DevelopmentTokens) -> Route:
    """Gives a token for the user and the groups that are sent."""

    async def issue(request: Request) -> Response:
        try:
            body = await read_body(request.receive)
            wanted = SignIn.model_validate_json(body)
        except ValidationError as wrong:
            return response(problem_answer(problem_for(invalid_json(wrong, body))))
        except Refused as refused:
            return response(problem_answer(problem_for(refused)))
        return JSONResponse({"token": tokens.issue(wanted.user, *wanted.groups)})

    return Route("/sign-in", issue, methods=["POST"])
