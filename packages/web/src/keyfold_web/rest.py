"""A service's operations as REST: a Starlette application with one route for each."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from keyfold_web.asgi import address_of, headers_of, path_of, query_of, read_body, send_answer
from keyfold_web.auth import Tokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.exchange import BodyTooLarge, HttpAnswer, HttpRequest, answer, problem_answer
from keyfold_web.openapi import openapi_document
from keyfold_web.parameters import Operation, in_routing_order
from keyfold_web.problems import INTERNAL, Invalid, Problem, problem_for


def rest_app(dispatch: Dispatch, tokens: Tokens | None = None) -> Starlette:
    """The REST application of a service; routes can be added as to any Starlette application."""
    service = type(dispatch.service)
    described = cache(partial(openapi_document, service))

    async def openapi(request: Request) -> Response:
        # Swagger UI and clients ask below the mount path.
        server = {"servers": [{"url": root}]} if (root := request.scope.get("root_path")) else {}
        return JSONResponse(described() | server)

    routes = [
        Route(
            operation.path,
            RestEndpoint(operation, dispatch, tokens),
            methods=[operation.verb],
            name=operation.name,
        )
        for operation in in_routing_order(service.operations)
    ]
    app = Starlette(
        routes=[Route("/openapi.json", openapi), *routes], exception_handlers=problem_handlers()
    )
    app.router.redirect_slashes = False
    return app


class RestEndpoint:
    """One operation over HTTP, as an ASGI application."""

    def __init__(self, operation: Operation, dispatch: Dispatch, tokens: Tokens | None) -> None:
        self._operation, self._dispatch, self._tokens = operation, dispatch, tokens
        self._reads_body = operation.body is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(receive) if self._reads_body else b""
            url, query = path_of(scope), query_of(scope)
        except (BodyTooLarge, Invalid) as error:
            await send_answer(send, problem_answer(problem_for(error)))
            return
        except ClientDisconnect:
            return
        request = HttpRequest(
            operation=self._operation,
            url=url,
            path=scope["path_params"],
            query=query,
            headers=headers_of(scope),
            body=body,
            address=address_of(scope),
        )
        await send_answer(send, await answer(self._dispatch, self._tokens, request))


def problem_handlers() -> dict[Any, Any]:
    """Exception handlers that answer every error as problem+json."""
    return {HTTPException: _http_problem, Exception: _internal_problem}


def response(made: HttpAnswer) -> Response:
    """An answer as a Starlette response."""
    return Response(made.body, made.status, headers=made.headers)


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = str(error.detail)
    code = title.upper().replace(" ", "_")
    made = problem_answer(Problem(error.status_code, code, title, f"{title}."))
    made.headers.update(error.headers or {})
    if error.status_code == 405:
        made.headers["Allow"] = ", ".join(sorted(_methods_at(request)))
    return response(made)


def _methods_at(request: Request) -> set[str]:
    """The allowed methods of a path: one route per method."""
    return {
        method
        for route in request.app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }


async def _internal_problem(_request: Request, _error: Exception) -> Response:
    return response(problem_answer(INTERNAL))
