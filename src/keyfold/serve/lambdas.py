"""A service's operations as an AWS Lambda function.

    handler = LambdaHandler(Clubs, "dynamodb://eu-west-1")

One function answers API Gateway (REST and HTTP APIs, proxy integration) and AppSync (direct
resolvers, one event or a batch). Where the gateway or AppSync has verified the caller, their
claims are the identity; otherwise the bearer token is verified here.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import parse_qs, unquote

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from keyfold.serve.arguments import from_values
from keyfold.serve.auth import Tokens, authenticate
from keyfold.serve.dispatch import Caller, Dispatch
from keyfold.serve.exchange import (
    BODY_BYTES,
    Answer,
    BodyTooLarge,
    Request,
    answer,
    problem_answer,
)
from keyfold.serve.identity import ANONYMOUS, Identity
from keyfold.serve.problems import Missing, NotAuthenticated, Problem, Refused, problem_for
from keyfold.serve.service import Service
from keyfold.serve.signature import Operation, RelatedField, in_routing_order
from keyfold.serve.tracing import new_instance

Event = Mapping[str, Any]
Opening = Callable[[], Awaitable[Service]]


class AppSyncError(Exception):
    """An error as AppSync shows it: the subclass's name is the error's type."""


class LambdaHandler:
    """Call it as the function's handler; the service is opened once for each container."""

    def __init__(
        self,
        service: type[Service],
        backend: str | Opening,
        *,
        tokens: Tokens | None = None,
        prefix: str = "",
    ) -> None:
        self._open = _opening(service, backend) if isinstance(backend, str) else backend
        self._tokens, self._prefix = tokens, prefix
        self._loop = asyncio.new_event_loop()
        self._dispatch: Dispatch | None = None
        self._operations = service.operations
        self._related = {(one.parent.__name__, one.name): one for one in service.related}
        self._routes = [(one, _pattern(one.path)) for one in in_routing_order(service.operations)]

    def __call__(self, event: Any, context: Any = None) -> Any:
        """What Lambda calls."""
        new_instance(getattr(context, "aws_request_id", None))
        return self._loop.run_until_complete(self.answer(event))

    async def answer(self, event: Any) -> Any:
        """The answer to an event of API Gateway or AppSync."""
        dispatch = await self._ready()
        if isinstance(event, list):
            return await self._batch(dispatch, event)
        if "info" in event:
            return await self._resolve(dispatch, event)
        return await self._proxy(dispatch, event)

    async def _ready(self) -> Dispatch:
        if self._dispatch is None:
            service = await self._open()
            await service.start()
            self._dispatch = Dispatch(service)
        return self._dispatch

    async def _proxy(self, dispatch: Dispatch, event: Event) -> dict[str, Any]:
        try:
            request = self._request(event)
            made = await answer(dispatch, self._tokens, request, "lambda")
        except Refused as refused:
            made = problem_answer(problem_for(refused))
        return _proxy_answer(made)

    def _request(self, event: Event) -> Request:
        context = event.get("requestContext", {})
        http = context.get("http", {})
        method = str(event.get("httpMethod") or http.get("method", ""))
        path = str(event.get("rawPath") or event.get("path", "")).removeprefix(self._prefix)
        headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
        operation, found = self._route(method, path)
        return Request(
            operation=operation,
            url=unquote(self._prefix + path),
            path=found,
            query=_query(event),
            headers=headers,
            body=_body(event),
            address=str(http.get("sourceIp") or context.get("identity", {}).get("sourceIp", "")),
            identity=_gateway_identity(context),
        )

    def _route(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        elsewhere = False
        for operation, pattern in self._routes:
            if (match := pattern.match(path)) is not None:
                if operation.verb == method:
                    return operation, {k: unquote(v) for k, v in match.groupdict().items()}
                elsewhere = True
        if elsewhere:
            raise MethodNotAllowed(f"{method} is not for this path.")
        raise Missing("There is nothing at this path.")

    async def _resolve(self, dispatch: Dispatch, event: Event) -> Any:
        try:
            return await self._field(dispatch, event)
        except Exception as error:
            problem = problem_for(error)
            # AppSync shows the class's name as errorType.
            raise type(problem.code, (AppSyncError,), {})(problem.detail) from None

    async def _field(self, dispatch: Dispatch, event: Event) -> Any:
        operation = self._operations.get(event["info"]["fieldName"])
        if operation is None:
            raise Missing("There is no such operation.")
        caller = Caller(await self._appsync_identity(event))
        values = dict(event.get("arguments") or {})
        if operation.page is not None:
            values = _page_arguments(values)
        result = await dispatch.call(
            operation, lambda: from_values(operation, values), caller, "lambda"
        )
        if operation.result is type(None):
            return True
        if operation.item is not None:
            nodes = _plain(operation.items_answer, result.items)
            return _connection(nodes, result.cursor)
        return _plain(operation.answer, result)

    async def _batch(self, dispatch: Dispatch, events: list[Event]) -> list[dict[str, Any]]:
        info = events[0]["info"]
        related = self._related.get((info["parentTypeName"], info["fieldName"]))
        if related is None:
            return [await self._one_of_batch(dispatch, event) for event in events]
        return await self._related_batch(dispatch, related, events)

    async def _one_of_batch(self, dispatch: Dispatch, event: Event) -> dict[str, Any]:
        try:
            return {"data": await self._field(dispatch, event)}
        except Exception as error:
            return _batch_error(problem_for(error))

    async def _related_batch(
        self, dispatch: Dispatch, related: RelatedField, events: list[Event]
    ) -> list[dict[str, Any]]:
        parents = TypeAdapter(list[related.parent])  # type: ignore[name-defined]
        try:
            given: dict[str, Any] = {}
            if related.takes_caller:
                given["caller"] = await self._appsync_identity(events[0])
            found = await related.function(
                dispatch.service,
                parents.validate_python([event["source"] for event in events]),
                **given,
            )
        except Exception as error:
            return [_batch_error(problem_for(error))] * len(events)
        return [{"data": to_jsonable_python(one, by_alias=True)} for one in found]

    async def _appsync_identity(self, event: Event) -> Identity:
        identity = event.get("identity") or {}
        claims = identity.get("claims") or identity.get("resolverContext")
        if claims and claims.get("sub"):
            return Identity.from_claims(claims)
        if identity:
            raise NotAuthenticated("This kind of identity is not known here.")
        headers = (event.get("request") or {}).get("headers") or {}
        return await authenticate(self._tokens, headers.get("authorization"))


def _opening(service: type[Service], backend: str) -> Opening:
    async def open_service() -> Service:
        db = await service.design.open_async(backend)
        opened: Service = cast("Any", service)(db)
        return opened

    return open_service


def _pattern(path: str) -> re.Pattern[str]:
    parts = (
        f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part)
        for part in path.split("/")
    )
    return re.compile("/".join(parts) + r"\Z")


class MethodNotAllowed(Refused):
    status = 405
    title = "Method not allowed"
    default_code = "METHOD_NOT_ALLOWED"


def _query(event: Event) -> dict[str, list[str]]:
    if "rawQueryString" in event:
        return parse_qs(event["rawQueryString"], keep_blank_values=True)
    return dict(event.get("multiValueQueryStringParameters") or {})


def _body(event: Event) -> bytes:
    text = event.get("body") or ""
    try:
        body = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
    except binascii.Error:
        body = b""
    if len(body) > BODY_BYTES:
        raise BodyTooLarge(f"The body may have {BODY_BYTES} bytes.")
    return body


def _gateway_identity(context: Event) -> Identity | None:
    authorizer = context.get("authorizer")
    if not authorizer:
        return None
    claims = authorizer.get("jwt", {}).get("claims") or authorizer.get("claims")
    return Identity.from_claims(claims) if claims and claims.get("sub") else ANONYMOUS


def _proxy_answer(made: Answer) -> dict[str, Any]:
    return {
        "statusCode": made.status,
        "headers": made.headers,
        "body": made.body.decode(),
        "isBase64Encoded": False,
    }


def _page_arguments(values: dict[str, Any]) -> dict[str, Any]:
    names = {"first": "limit", "after": "cursor"}
    return {names.get(name, name): value for name, value in values.items() if value is not None}


def _plain(adapter: TypeAdapter[Any], value: Any) -> Any:
    return adapter.dump_python(value, mode="json", by_alias=True, warnings="error")


def _connection(nodes: list[Any], cursor: str | None) -> dict[str, Any]:
    last = len(nodes) - 1
    return {
        "nodes": nodes,
        "edges": [
            {"node": node, "cursor": cursor if place == last else None}
            for place, node in enumerate(nodes)
        ],
        "pageInfo": {"endCursor": cursor, "hasNextPage": cursor is not None},
    }


def _batch_error(problem: Problem) -> dict[str, Any]:
    return {"data": None, "errorType": problem.code, "errorMessage": problem.detail}
