"""One function for HTTP requests and for AppSync's fields."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from keyfold.errors import KeyfoldError
from keyfold.runtime.cursor import VARIABLE
from keyfold_engine.tracing import new_instance
from keyfold_web.auth import Tokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.exchange import HttpAnswer, HttpRequest, answer, problem_answer
from keyfold_web.identity import ADMIN_GROUP, ANONYMOUS, Identity
from keyfold_web.lambdas.appsync import Resolver
from keyfold_web.lambdas.http import HttpEvent, http_event
from keyfold_web.log import log_json_lines
from keyfold_web.parameters import Operation, in_routing_order
from keyfold_web.problems import Invalid, Missing, Refused, problem_for
from keyfold_web.service import Service

if TYPE_CHECKING:
    from keyfold_web.graphql import GraphQLEndpoint

GRAPHQL_PATH = "/graphql"
Opening = Callable[[], Awaitable[Service]]


class LambdaHandler:
    """Use it as the function's handler; the service is opened once per container.

    It answers API Gateway (REST and HTTP APIs, proxy integration), function URLs, application load
    balancers, and AppSync (direct resolvers, single or batched). If the gateway or AppSync has
    verified the caller, their claims are the identity; otherwise `tokens` verifies the bearer
    token. All containers must share `cursor_secret` or KEYFOLD_CURSOR_SECRET.
    """

    def __init__(
        self,
        service: type[Service],
        backend: str | Opening,
        *,
        tokens: Tokens | None = None,
        admin_group: str = ADMIN_GROUP,
        prefix: str = "",
        cursor_secret: str = "",
    ) -> None:
        if isinstance(backend, str):
            _check_secret(service, backend, cursor_secret)
            backend = _opening(service, backend, cursor_secret)
        if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
            log_json_lines(replace=True)  # the runtime's own handler drops the operations
        self._open = backend
        self._tokens, self._admin_group, self._prefix = tokens, admin_group, prefix
        self._loop = asyncio.new_event_loop()
        self._dispatch: Dispatch | None = None
        self._graphql: GraphQLEndpoint | None = None
        self._routes = [(one, _pattern(one.path)) for one in in_routing_order(service.operations)]

    def __call__(self, event: Any, context: Any = None) -> Any:
        """Called by Lambda."""
        new_instance(getattr(context, "aws_request_id", None))
        return self._loop.run_until_complete(self.answer(event))

    async def answer(self, event: Any) -> Any:
        """The answer to an event; refuses unknown events, so that they do not count as handled."""
        if isinstance(event, list) and event and all("info" in one for one in event):
            return await self._resolver(await self._ready()).batch(event)
        if isinstance(event, Mapping):
            if "info" in event:
                return await self._resolver(await self._ready()).one(event)
            if (http := http_event(event)) is not None:
                return http.answer(await self._http(await self._ready(), http))
        raise KeyfoldError(
            f"this event is neither an HTTP request nor an AppSync field ({_describe(event)}); "
            "for DynamoDB Streams use keyfold.streams.stream_handler"
        )

    async def _ready(self) -> Dispatch:
        if self._dispatch is None:
            service = await self._open()
            await service.start()
            self._dispatch = Dispatch(service)
        return self._dispatch

    def _resolver(self, dispatch: Dispatch) -> Resolver:
        return Resolver(dispatch, self._tokens, self._admin_group)

    async def _http(self, dispatch: Dispatch, event: HttpEvent) -> HttpAnswer:
        path = event.path.removeprefix(self._prefix)
        identity = self._identity(event)
        try:
            if path == GRAPHQL_PATH and event.method == "POST":
                endpoint = self._endpoint(dispatch)
                return await endpoint.answer(event.headers, event.body(), event.address, identity)
            try:
                url = unquote(event.path, errors="strict")
            except UnicodeDecodeError:
                raise Invalid("path", "is not UTF-8 text") from None
            operation, found = self._route(event.method, path)
            request = HttpRequest(
                operation=operation,
                url=url,
                path=found,
                query=event.query(),
                headers=event.headers,
                body=event.body(),
                address=event.address,
                identity=identity,
            )
        except MethodNotAllowed as refused:
            made = problem_answer(problem_for(refused))
            made.headers["allow"] = ", ".join(refused.allowed)
            return made
        except Refused as refused:
            return problem_answer(problem_for(refused))
        return await answer(dispatch, self._tokens, request, "lambda")

    def _endpoint(self, dispatch: Dispatch) -> GraphQLEndpoint:
        if self._graphql is None:
            # Building the schema takes time: only functions that serve GraphQL do it.
            from keyfold_web.graphql import Executor, GraphQLEndpoint

            executor = Executor(dispatch, introspection=False)
            self._graphql = GraphQLEndpoint(executor, self._tokens)
        return self._graphql

    def _route(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        wanted = "GET" if method == "HEAD" else method
        allowed: set[str] = {"POST"} if path == GRAPHQL_PATH else set()
        for operation, pattern in self._routes:
            if (match := pattern.match(path)) is not None:
                if operation.verb == wanted:
                    return operation, {k: unquote(v) for k, v in match.groupdict().items()}
                allowed |= {operation.verb} | ({"HEAD"} if operation.verb == "GET" else set())
        if allowed:
            raise MethodNotAllowed(method, sorted(allowed))
        raise Missing("No operation has this path.")

    def _identity(self, event: HttpEvent) -> Identity | None:
        """The caller verified by the gateway; None if the bearer token decides."""
        if (claims := event.claims()) is not None:
            return Identity.from_claims(claims, admin_group=self._admin_group)
        return ANONYMOUS if event.authorizer and self._tokens is None else None


class MethodNotAllowed(Refused):
    status = 405
    title = "Method not allowed"
    default_code = "METHOD_NOT_ALLOWED"

    def __init__(self, method: str, allowed: list[str]) -> None:
        super().__init__(f"{method} is not allowed on this path; use {', '.join(allowed)}.")
        self.allowed = allowed


def _check_secret(service: type[Service], backend: str, secret: str) -> None:
    """Refuse paged operations without a shared cursor secret: another container could not
    continue them.
    """
    paged = [one.name for one in service.operations.values() if one.page is not None]
    if paged and "://" in backend and not (secret or os.environ.get(VARIABLE)):
        raise KeyfoldError(
            f"Set {VARIABLE} or cursor_secret=: containers on {backend} must share one secret for "
            f"the cursors of {paged[0]}"
        )


def _opening(service: type[Service], backend: str, secret: str) -> Opening:
    async def open_service() -> Service:
        db = await service.design.open_async(backend, cursor_secret=secret, on_undecodable="log")
        opened: Service = cast("Any", service)(db)
        return opened

    return open_service


def _pattern(path: str) -> re.Pattern[str]:
    literal_and_name = re.split(r"\{(\w+)\}", path)
    parts = (
        f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part)
        for at, part in enumerate(literal_and_name)
    )
    return re.compile("".join(parts) + r"\Z")


def _describe(event: Any) -> str:
    if not isinstance(event, Mapping):
        return f"it is a {type(event).__name__}"
    return f"it has {', '.join(sorted(map(str, event)))[:200] or 'nothing'}"
