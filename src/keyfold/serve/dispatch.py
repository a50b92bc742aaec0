"""One way into every operation: authorise, call, measure, whatever surface the call came by."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from keyfold.errors import ValidationError
from keyfold.runtime.budget import OnLoop, Work, current_work
from keyfold.serve.identity import Identity
from keyfold.serve.metrics import Registry
from keyfold.serve.problems import NotAuthenticated, problem_for
from keyfold.serve.ratelimit import RateLimit
from keyfold.serve.service import Service
from keyfold.serve.signature import Operation
from keyfold.serve.tracing import Tracer, span

Surface = Literal["rest", "graphql", "lambda"]
log = logging.getLogger("keyfold.serve")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls and from where; anonymous callers are told apart by their address."""

    identity: Identity
    address: str = ""

    @property
    def bucket(self) -> str:
        return f"user:{self.identity.id}" if self.identity.id else f"address:{self.address}"


class OperationMetrics:
    """The figures kept for every operation."""

    def __init__(self, registry: Registry) -> None:
        labels = ("service", "operation", "surface")
        self.requests = registry.counter(
            "keyfold_operation_requests_total", "Calls of operations.", (*labels, "code")
        )
        self.seconds = registry.histogram(
            "keyfold_operation_seconds", "How long operations take.", labels
        )
        self.units = registry.counter(
            "keyfold_operation_consumed_units_total",
            "Read and write units that operations consume.",
            ("service", "operation", "kind"),
        )
        self.calls = registry.counter(
            "keyfold_design_calls_total",
            "Calls of access patterns, and writes by what they write.",
            ("service", "name"),
        )


class Dispatch:
    """The way into one service's operations."""

    def __init__(
        self,
        service: Service,
        *,
        metrics: OperationMetrics | None = None,
        limit: RateLimit | None = None,
        tracer: Tracer | None = None,
        on_loop: OnLoop = "log",
    ) -> None:
        self.service = service
        self._metrics = metrics or OperationMetrics(Registry())
        self._limit, self._tracer, self._on_loop = limit, tracer, on_loop

    async def call(
        self,
        operation: Operation,
        parse: Callable[[], dict[str, Any]],
        caller: Caller,
        surface: Surface,
    ) -> Any:
        """Run an operation; raises what it raises, after it was counted and logged."""
        started = time.perf_counter()
        code = "OK"
        try:
            with span(self._tracer, operation.name, {"keyfold.service": self.service.name}):
                return await self._run(operation, parse, caller)
        except Exception as error:
            problem = problem_for(error)
            code = problem.code
            if problem.status >= 500:
                log.error("%s failed", operation.name, exc_info=error)
            elif isinstance(error, ValidationError):
                # Mostly a value that no item can hold, but it may be a mistake of the service.
                log.warning("%s was refused by the store", operation.name, exc_info=error)
            raise
        finally:
            seconds = time.perf_counter() - started
            labels = (self.service.name, operation.name, surface)
            self._metrics.requests.add(1, *labels, code)
            self._metrics.seconds.observe(seconds, *labels)
            if log.isEnabledFor(logging.INFO):
                fields = {
                    "service": self.service.name,
                    "operation": operation.name,
                    "surface": surface,
                    "code": code,
                    "milliseconds": round(seconds * 1000, 3),
                    "caller": caller.identity.id or None,
                }
                log.info("%s %s", operation.name, code, extra={"fields": fields})

    async def _run(
        self, operation: Operation, parse: Callable[[], dict[str, Any]], caller: Caller
    ) -> Any:
        if self._limit is not None:
            self._limit.take(caller.bucket)
        # Who must sign in first hears that, and nothing about the input.
        if caller.identity.is_anonymous and not operation.allow.anonymous:
            raise NotAuthenticated()
        arguments = parse()
        request_id = arguments.get("request_id") if operation.takes_request_id else None
        if request_id is not None:
            arguments["request_id"] = self._scoped(operation, caller, request_id)
        with self._counting_units(operation):
            if operation.remembered:
                return await self._run_once(operation, arguments, caller)
            return await self._authorised(operation, arguments, caller)

    async def _run_once(
        self, operation: Operation, arguments: dict[str, Any], caller: Caller
    ) -> Any:
        request_id = arguments.pop("request_id")
        if request_id is None:
            return await self._authorised(operation, arguments, caller)

        async def work() -> Any:
            return await self._authorised(operation, dict(arguments), caller)

        # The id is looked at before the rule: who has deleted something may repeat it.
        return await self.service.db.once(
            request_id, work, result=operation.result, payload=arguments
        )

    async def _authorised(
        self, operation: Operation, arguments: dict[str, Any], caller: Caller
    ) -> Any:
        await operation.allow.require(self.service, caller.identity, arguments)
        if operation.caller is not None:
            arguments[operation.caller] = caller.identity
        return await operation.function(self.service, **arguments)

    def _scoped(self, operation: Operation, caller: Caller, request_id: str) -> str:
        """One caller's request id for one operation, which nobody else's can be equal to."""
        parts = [self.service.name, operation.name, caller.bucket, request_id]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()

    @contextmanager
    def _counting_units(self, operation: Operation) -> Iterator[None]:
        if current_work.get() is not None:
            # The caller counts for itself, with its own budget.
            yield
            return
        work = Work(operation.name, self._on_loop)
        token = current_work.set(work)
        try:
            yield
        finally:
            current_work.reset(token)
            for name, usage in work.usage.items():
                if usage.calls:
                    self._metrics.calls.add(usage.calls, self.service.name, name)
            total = work.total
            for kind, units in (("read", total.read_units), ("write", total.write_units)):
                if units:
                    self._metrics.units.add(units, self.service.name, operation.name, kind)
