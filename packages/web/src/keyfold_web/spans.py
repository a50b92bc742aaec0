"""OpenTelemetry: a span per operation, with a child span per request to the backend.

Imported only if tracing is enabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import context, propagate
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from starlette.types import ASGIApp, Receive, Scope, Send

from keyfold.runtime.flow import Answer, Call
from keyfold_web.asgi import headers_of
from keyfold_web.problems import problem_for


class Spans:
    """Records spans with a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def operation(self, service: str, operation: str, surface: str) -> Iterator[None]:
        """The span of an operation; only errors of the server mark it as failed."""
        attributes = {
            "keyfold.service": service,
            "keyfold.operation": operation,
            "keyfold.surface": surface,
        }
        with self._tracer.start_as_current_span(
            operation,
            kind=SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except Exception as error:
                problem = problem_for(error)
                span.set_attribute("keyfold.code", problem.code)
                if problem.status >= 500:
                    span.set_attribute("error.type", problem.code)
                    span.record_exception(error)
                    span.set_status(Status(StatusCode.ERROR, problem.title))
                raise
            span.set_attribute("keyfold.code", "OK")

    @contextmanager
    def request(self, call: Call) -> Iterator[Callable[[Answer], None]]:
        """The span of a request to the backend; what it returns is called with the answer."""
        tables = sorted(_tables(call.request))
        attributes = {
            "db.system.name": "aws.dynamodb",
            "db.operation.name": call.operation,
            "aws.dynamodb.table_names": tables,
        }
        with self._tracer.start_as_current_span(
            f"{call.operation} {tables[0]}" if len(tables) == 1 else call.operation,
            kind=SpanKind.CLIENT,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:

            def record_units(answer: Answer) -> None:
                consumed = answer.get("ConsumedCapacity", [])
                entries = consumed if isinstance(consumed, list) else [consumed]
                units = sum(one.get("CapacityUnits", 0.0) for one in entries)
                span.set_attribute("keyfold.consumed_units", units)

            try:
                yield record_units
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise


class Continued:
    """Middleware that continues the caller's trace from the `traceparent` header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        token = context.attach(propagate.extract(headers_of(scope)))
        try:
            await self._app(scope, receive, send)
        finally:
            context.detach(token)


def _tables(request: Mapping[str, Any]) -> set[str]:
    if "TableName" in request:
        return {request["TableName"]}
    if "TransactItems" in request:
        return {one["TableName"] for item in request["TransactItems"] for one in item.values()}
    return set(request.get("RequestItems", ()))
