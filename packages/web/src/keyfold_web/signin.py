"""The development sign-in: tokens for anybody, on a development server only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import StringConstraints, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from keyfold_web import pages
from keyfold_web.asgi import read_body
from keyfold_web.auth import DevelopmentTokens
from keyfold_web.exchange import problem_answer
from keyfold_web.identity import Identity
from keyfold_web.names import Payload
from keyfold_web.problems import Refused, invalid_json, problem_for
from keyfold_web.rest import response

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SignIn(Payload):
    user: Word
    groups: tuple[Word, ...] = ()


def sign_in_routes(
    tokens: DevelopmentTokens, people: Mapping[str, Sequence[Identity]]
) -> list[Route]:
    """The page with the users, and the POST that it makes."""

    async def page(_request: Request) -> Response:
        return HTMLResponse(pages.sign_in(people))

    async def issue(request: Request) -> Response:
        try:
            body = await read_body(request.receive)
            wanted = SignIn.model_validate_json(body)
        except ValidationError as wrong:
            return response(problem_answer(problem_for(invalid_json(wrong, body))))
        except Refused as refused:
            return response(problem_answer(problem_for(refused)))
        return JSONResponse({"token": tokens.issue(wanted.user, *wanted.groups)})

    return [
        Route("/sign-in", page, methods=["GET"]),
        Route("/sign-in", issue, methods=["POST"]),
    ]
