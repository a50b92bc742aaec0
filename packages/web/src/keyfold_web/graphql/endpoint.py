"""GraphQL over HTTP: one POST endpoint with limits checked before anything runs."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, TypeGuard

import orjson
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    MaxIntrospectionDepthRule,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    execute,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
)
from graphql.execution import create_source_event_stream, execute_subscription_event
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from keyfold_engine.tracing import instance
from keyfold_web.asgi import address_of, headers_of, read_body, send_answer
from keyfold_web.auth import Tokens, authenticate
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.exchange import (
    JSON,
    BodyTooLarge,
    HttpAnswer,
    UnsupportedMedia,
    problem_answer,
    refuse_encoding,
)
from keyfold_web.graphql.appsync import appsync_schema
from keyfold_web.graphql.events import EVENT_STREAM, STREAMS, send_events
from keyfold_web.graphql.execution import PlainFieldsFirst, Plans
from keyfold_web.graphql.limits import QUERY_CHARACTERS, QUERY_TOKENS, QueryRefused, check
from keyfold_web.graphql.request import GraphQLRequest
from keyfold_web.graphql.schema import GraphQLContext, build_schema, schema_text
from keyfold_web.graphql.socket import GraphQLSocket
from keyfold_web.identity import Identity
from keyfold_web.problems import Problem, Refused, invalid_json, problem_for

Answered = tuple[int, dict[str, Any]]
"""An HTTP status and a body."""
Answers = AsyncGenerator[dict[str, Any], None]
_ONE_ANSWER = QueryRefused(
    "A subscription needs `Accept: text/event-stream` or a WebSocket.",
    code="SUBSCRIPTION",
)
KEPT_CHARACTERS = 256 * 1024
"""The total length of cached queries; their documents take about 70 bytes per character."""
log = logging.getLogger("keyfold_web")


@dataclass(frozen=True, slots=True)
class AskedDocument:
    """A validated request."""

    document: DocumentNode
    plans: Plans | None
    operation: OperationDefinitionNode
    variables: dict[str, Any]

    @property
    def is_subscription(self) -> bool:
        return self.operation.operation is OperationType.SUBSCRIPTION


class Executor:
    """Runs GraphQL requests against one service."""

    def __init__(self, dispatch: Dispatch, *, introspection: bool) -> None:
        self._dispatch = dispatch
        self._schema = build_schema(type(dispatch.service))
        self.sdl = schema_text(self._schema)
        extra = MaxIntrospectionDepthRule if introspection else NoSchemaIntrospectionCustomRule
        self._rules = [*specified_rules, extra]
        self._documents: OrderedDict[str, tuple[DocumentNode, Plans | None]] = OrderedDict()
        self._kept_characters = 0

    async def run(self, request: GraphQLRequest, caller: Caller) -> Answered:
        """The HTTP status and body; 400 if the request cannot run at all."""
        prepared = self._prepare(request, caller)
        if isinstance(prepared, tuple):
            return prepared
        if prepared.is_subscription:
            return 400, {"errors": [_refusal(problem_for(_ONE_ANSWER))]}
        return await self._run(prepared, request, caller)

    async def stream(self, request: GraphQLRequest, caller: Caller) -> Answered | Answers:
        """The answers: several for a subscription, otherwise one."""
        prepared = self._prepare(request, caller)
        if isinstance(prepared, tuple):
            return prepared
        if not prepared.is_subscription:
            return _once(await self._run(prepared, request, caller))
        built = PlainFieldsFirst.build(
            self._schema,
            prepared.document,
            context_value=self._context(prepared, caller),
            raw_variable_values=prepared.variables,
            operation_name=request.operation_name,
            is_awaitable=_is_awaitable,
        )
        if isinstance(built, list):
            return 400, {"errors": [_format_error(one) for one in built]}
        begun: Any = create_source_event_stream(built)
        source = await begun if _is_awaitable(begun) else begun
        if isinstance(source, ExecutionResult):
            return _once((200, {"errors": [_format_error(one) for one in source.errors or ()]}))
        return self._answers(prepared, built, source, caller)

    async def _answers(
        self, prepared: AskedDocument, built: Any, source: AsyncGenerator[Any, None], caller: Caller
    ) -> Answers:
        try:
            async for event in source:
                executor = built.build_per_event_executor(event)
                # New loaders for each event: earlier results are outdated.
                executor.context_value = self._context(prepared, caller)
                made: Any = execute_subscription_event(executor)
                yield _body(await made if _is_awaitable(made) else made)
        except Exception as error:
            yield {"errors": [_refusal(problem_for(error))]}
        finally:
            await source.aclose()

    def _prepare(self, request: GraphQLRequest, caller: Caller) -> AskedDocument | Answered:
        try:
            document, kept = self._document(request.query, caller)
            operation = self._operation(document, request.operation_name)
            variables = request.variables or {}
            check(self._schema, document, operation, variables)
        except Refused as refused:
            return 400, {"errors": [_refusal(problem_for(refused))]}
        except GraphQLError as error:
            return 400, {"errors": [_format_error(error)]}
        return AskedDocument(document, kept, operation, variables)

    def _context(self, prepared: AskedDocument, caller: Caller) -> GraphQLContext:
        plans = {} if prepared.plans is None else prepared.plans
        return GraphQLContext(self._dispatch, caller, plans)

    async def _run(
        self, prepared: AskedDocument, request: GraphQLRequest, caller: Caller
    ) -> Answered:
        made = execute(
            self._schema,
            prepared.document,
            context_value=self._context(prepared, caller),
            variable_values=prepared.variables,
            operation_name=request.operation_name,
            executor_class=PlainFieldsFirst,
            is_awaitable=_is_awaitable,
        )
        result = made if isinstance(made, ExecutionResult) else await made
        if result.data is None and result.errors and not any(e.path for e in result.errors):
            return 400, {"errors": [_format_error(one) for one in result.errors]}
        return 200, _body(result)

    def _document(self, query: str, caller: Caller) -> tuple[DocumentNode, Plans | None]:
        """The document of a query; parsing a new one counts as a request of its own."""
        documents = self._documents
        if (known := documents.get(query)) is not None:
            documents.move_to_end(query)
            return known
        self._dispatch.admit(caller)
        read = documents[query] = self._validate_query(query)
        self._kept_characters += len(query)
        while self._kept_characters > KEPT_CHARACTERS:
            self._kept_characters -= len(documents.popitem(last=False)[0])
        return read

    def _validate_query(self, query: str) -> tuple[DocumentNode, Plans | None]:
        """The document and its plans; with directives no plan can be cached."""
        if len(query) > QUERY_CHARACTERS:
            raise QueryRefused(f"The query has more than {QUERY_CHARACTERS} characters.")
        document = parse(query, max_tokens=QUERY_TOKENS)
        errors: Sequence[GraphQLError] = validate(self._schema, document, self._rules, max_errors=5)
        if errors:
            raise errors[0]
        return document, None if "@" in query else {}

    def _operation(self, document: DocumentNode, name: str | None) -> OperationDefinitionNode:
        operation = get_operation_ast(document, name)
        if operation is None:
            raise QueryRefused(
                "Name one operation of the query in operationName.", code="NO_OPERATION"
            )
        return operation


class GraphQLEndpoint:
    """GraphQL requests by POST, as an ASGI application; supports event streams."""

    def __init__(self, executor: Executor, tokens: Tokens | None) -> None:
        self._executor, self._tokens = executor, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        made: HttpAnswer | Answers
        try:
            body = await read_body(receive)
        except BodyTooLarge as refused:
            made = _refusal_answer(refused)
        except ClientDisconnect:
            return
        else:
            headers, address = headers_of(scope), address_of(scope)
            streamed = EVENT_STREAM in headers.get("accept", "")
            asked = self._stream if streamed else self.answer
            made = await asked(headers, body, address)
        if isinstance(made, HttpAnswer):
            await send_answer(send, made)
        else:
            scope[STREAMS] = True
            await send_events(receive, send, made)

    async def _stream(
        self, headers: Mapping[str, str], body: bytes, address: str
    ) -> HttpAnswer | Answers:
        try:
            request = read_request(headers, body)
            identity = await authenticate(self._tokens, headers.get("authorization"))
        except Refused as refused:
            return _refusal_answer(refused)
        found = await self._executor.stream(request, Caller(identity, address))
        if not isinstance(found, tuple):
            return found
        return HttpAnswer(found[0], orjson.dumps(found[1]), {"content-type": JSON})

    async def answer(
        self,
        headers: Mapping[str, str],
        body: bytes,
        address: str,
        identity: Identity | None = None,
    ) -> HttpAnswer:
        """The answer to a request; header names are lower case."""
        try:
            request = read_request(headers, body)
            if identity is None:
                identity = await authenticate(self._tokens, headers.get("authorization"))
        except Refused as refused:
            return _refusal_answer(refused)
        status, answered = await self._executor.run(request, Caller(identity, address))
        return HttpAnswer(status, orjson.dumps(answered), {"content-type": JSON})


def graphql_routes(
    dispatch: Dispatch,
    tokens: Tokens | None = None,
    *,
    introspection: bool = False,
    origins: Sequence[str] = (),
) -> list[BaseRoute]:
    """POST /graphql runs a request, a WebSocket several at once.

    With introspection enabled, GET /graphql/schema is the SDL.
    """
    executor = Executor(dispatch, introspection=introspection)

    async def sdl(http: Request) -> Response:
        for_appsync = http.query_params.get("for") == "appsync"
        text = appsync_schema(executor.sdl) if for_appsync else executor.sdl
        return Response(text, media_type="text/plain; charset=utf-8")

    routes: list[BaseRoute] = [
        Route("/graphql", GraphQLEndpoint(executor, tokens), methods=["POST"]),
        WebSocketRoute("/graphql", GraphQLSocket(executor, tokens, origins)),
    ]
    if introspection:
        routes.append(Route("/graphql/schema", sdl))
    return routes


async def _once(answered: Answered) -> Answers:
    yield answered[1]


def _body(result: ExecutionResult) -> dict[str, Any]:
    body: dict[str, Any] = {"data": result.data}
    if result.errors:
        body["errors"] = [_format_error(one) for one in result.errors]
    return body


def _is_awaitable(value: Any) -> TypeGuard[Awaitable[Any]]:
    # Resolvers here return values or coroutines; called for every field, so it must be fast.
    return isinstance(value, CoroutineType)


def read_request(headers: Mapping[str, str], body: bytes) -> GraphQLRequest:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise UnsupportedMedia(f"Send the query as {JSON}.")
    refuse_encoding(headers)
    try:
        return GraphQLRequest.model_validate_json(body)
    except ValidationError as wrong:
        raise invalid_json(wrong, body) from None


def _refusal_answer(refused: Refused) -> HttpAnswer:
    problem = problem_for(refused)
    body = {"errors": [_refusal(problem)]}
    headers = {**problem_answer(problem).headers, "content-type": JSON}
    return HttpAnswer(problem.status, orjson.dumps(body), headers)


def _refusal(problem: Problem) -> dict[str, Any]:
    return {"message": problem.detail, "extensions": problem.extensions(instance())}


def _format_error(error: GraphQLError) -> dict[str, Any]:
    formatted: dict[str, Any] = dict(error.formatted)
    original = error.original_error
    if original is None or isinstance(original, GraphQLError):
        formatted["extensions"] = {"code": "BAD_QUERY"}
        return formatted
    problem = problem_for(original)
    if problem.status >= 500 and len(error.path or ()) > 1:
        # An operation logs its own failure; this one occurred inside its result.
        log.error("a field failed: %s", error.path, exc_info=original)
    return {**formatted, **_refusal(problem)}
