"""The one entry to every operation: authorise, call and measure, for every surface."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson
import pydantic

from keyfold.design.validation import complaints
from keyfold.errors import NotFound, ValidationError, ValueRefused
from keyfold.runtime.budget import OnLoop, Work, current_work
from keyfold.runtime.cursor import cursor_holder
from keyfold.streams import Change
from keyfold_web.identity import Identity
from keyfold_web.log import log, log_failure
from keyfold_web.metrics import MetricRegistry
from keyfold_web.parameters import Operation, RelatedField
from keyfold_web.problems import Missing, NotAuthenticated, problem_for
from keyfold_web.ratelimit import RateLimit
from keyfold_web.service import Service
from keyfold_web.subscriptions import Subscription
from keyfold_web.watchers import Watcher, Watchers

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from keyfold_web.spans import Spans

KEPT_CALLERS: Final = 100_000
Surface = Literal["rest", "graphql", "lambda"]
left_out: ContextVar[int] = ContextVar("left_out", default=0)
"""How many items the last call left out, because they cannot be read."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls and from where; anonymous callers are distinguished by address."""

    identity: Identity
    address: str = ""

    @property
    def bucket(self) -> str:
        return f"user:{self.identity.id}" if self.identity.id else f"address:{self.address}"

    @property
    def seconds_left(self) -> float | None:
        """How long the caller's token is still valid."""
        until = self.identity.claims.get("exp")
        return None if until is None else max(0.0, until - time.time())


class OperationMetrics:
    """The metrics of every operation."""

    def __init__(self, registry: MetricRegistry) -> None:
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
        self.undecodable = registry.counter(
            "keyfold_undecodable_items_total",
            "Items that operations met and could not read.",
            ("service", "operation"),
        )
        self.begun = registry.counter(
            "keyfold_subscriptions_begun_total", "Subscriptions begun.", ("service", "operation")
        )
        self.ended = registry.counter(
            "keyfold_subscriptions_ended_total", "Subscriptions ended.", ("service", "operation")
        )
        self.calls = registry.counter(
            "keyfold_design_calls_total",
            "Calls of access patterns, and writes by what they write.",
            ("service", "name"),
        )


class Dispatch:
    """The entry to one service's operations."""

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
        self._metrics = metrics or OperationMetrics(MetricRegistry())
        self._limit, self._on_loop = limit, on_loop
        self.watchers = Watchers(service)
        kind = type(service)
        self._welcomes = kind.welcome is not Service.welcome
        self._welcomed: OrderedDict[tuple[str, object], None] = OrderedDict()
        self._spans: Spans | None = None
        if tracer is not None:
            from keyfold_web.spans import Spans

            self._spans = Spans(tracer)

    async def call(
        self,
        operation: Operation,
        parse: Callable[[], dict[str, Any]],
        caller: Caller,
        surface: Surface,
    ) -> Any:
        """Run an operation; raises its error after counting and logging it."""
        started = time.perf_counter()
        code = "OK"
        holder = cursor_holder.set(caller.identity.id or "")
        try:
            if self._spans is None:
                return await self._run(operation, parse, caller)
            with self._spans.operation(self.service.name, operation.name, surface):
                return await self._run(operation, parse, caller)
        except Exception as error:
            code = problem_for(error).code
            log_failure(operation.name, error)
            if isinstance(error, ValidationError):
                # Usually a value that cannot be stored, but possibly a bug of the service.
                log.warning("%s was rejected by the backend", operation.name, exc_info=error)
            raise
        finally:
            cursor_holder.reset(holder)
            self.note(operation, code, caller, surface, time.perf_counter() - started)

    async def watch(
        self, subscription: Subscription, parse: Callable[[], dict[str, Any]], caller: Caller
    ) -> AsyncGenerator[Any, None]:
        """Begin a subscription; yields answers until the caller or the service ends it."""
        operation, started, code = subscription.operation, time.perf_counter(), "OK"
        try:
            self.admit(caller)
            await self._enter(operation, caller.identity)
            arguments = parse()
            await operation.allow.require(self.service, caller.identity, arguments)
            watcher = Watcher(subscription, arguments, caller.bucket)
            await self.watchers.add(watcher)
        except Exception as error:
            code = problem_for(error).code
            raise
        finally:
            self.note(operation, code, caller, "graphql", time.perf_counter() - started)
        return self._watch(watcher, caller)

    async def _watch(self, watcher: Watcher, caller: Caller) -> AsyncGenerator[Any, None]:
        labels = (self.service.name, watcher.subscription.operation.name)
        self._metrics.begun.add(1, *labels)
        try:
            while True:
                try:
                    change = await asyncio.wait_for(watcher.next(), caller.seconds_left)
                except TimeoutError:
                    raise NotAuthenticated("The token has expired.", code="TOKEN_EXPIRED") from None
                if change is None:
                    return
                if (answer := await self._message_for(watcher, change, caller)) is not None:
                    yield answer
        finally:
            self._metrics.ended.add(1, *labels)
            await self.watchers.remove(watcher)

    async def _message_for(self, watcher: Watcher, change: Change[Any], caller: Caller) -> Any:
        """A change as the caller's message; the caller may have lost access meanwhile."""
        subscription = watcher.subscription
        operation, arguments = subscription.operation, dict(watcher.arguments)
        work = Work(operation.name, self._on_loop)
        token = current_work.set(work)
        try:
            await self._enter(operation, caller.identity)
            await operation.allow.require(self.service, caller.identity, arguments)
            if operation.caller is not None:
                arguments[operation.caller] = caller.identity
            arguments[subscription.change] = change
            return await operation.function(self.service, **arguments)
        except Exception as error:
            log_failure(operation.name, error)
            raise
        finally:
            current_work.reset(token)
            self._count(work)

    async def relate(
        self, related: RelatedField, parents: Sequence[Any], caller: Caller
    ) -> Sequence[Any]:
        """The related field of each parent; counted like an operation."""
        given = {"caller": caller.identity} if related.takes_caller else {}
        work = Work(f"{related.parent.__name__}.{related.name}", self._on_loop)
        token = current_work.set(work)
        try:
            found: Sequence[Any] = await related.function(self.service, parents, **given)
            return found
        finally:
            current_work.reset(token)
            self._count(work)

    def admit(self, caller: Caller) -> None:
        """Count a request against the caller's rate limit."""
        if self._limit is not None:
            self._limit.take(caller.bucket)

    def note(
        self, operation: Operation, code: str, caller: Caller, surface: Surface, seconds: float
    ) -> None:
        """Count and log a call that ended with this code."""
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
        self.admit(caller)
        await self._enter(operation, caller.identity)
        arguments = parse()
        request_id = arguments.get("request_id") if operation.takes_request_id else None
        if request_id is not None:
            arguments["request_id"] = self._scoped_request_id(operation, caller, request_id)
        carry_out = self._run_once if operation.remembered else self._run_authorised
        if current_work.get() is not None:
            # The caller has its own count and budget.
            return await carry_out(operation, arguments, caller)
        watch = None if self._spans is None else self._spans.request
        work = Work(operation.name, self._on_loop, watch=watch)
        token = current_work.set(work)
        try:
            return await carry_out(operation, arguments, caller)
        finally:
            current_work.reset(token)
            self._count(work)

    async def _enter(self, operation: Operation, caller: Identity) -> None:
        """Ask callers who must sign in to do so before any input is validated."""
        if caller.is_anonymous:
            if not operation.allow.anonymous:
                raise NotAuthenticated()
            return
        # Who signs in again may have left for good since the last time.
        signed_in = caller.id, caller.claims.get("iat")
        if self._welcomes and signed_in not in self._welcomed:
            try:
                await self.service.welcome(caller)
            except pydantic.ValidationError as wrong:
                # The claims fit no profile; the caller may still make one.
                log.warning("no profile from the claims of a token: %s", complaints(wrong))
            self._welcomed[signed_in] = None
            if len(self._welcomed) > KEPT_CALLERS:
                self._welcomed.popitem(last=False)

    async def _run_once(
        self, operation: Operation, arguments: dict[str, Any], caller: Caller
    ) -> Any:
        request_id = arguments.pop("request_id")
        if request_id is None:
            return await self._run_authorised(operation, arguments, caller)

        async def work() -> Any:
            return await self._run_authorised(operation, dict(arguments), caller)

        # The request id is looked up before the rule: a caller who deleted something may repeat the
        # request.
        return await self.service.db.once(
            request_id, work, result=operation.result, payload=arguments
        )

    async def _run_authorised(
        self, operation: Operation, arguments: dict[str, Any], caller: Caller
    ) -> Any:
        identity = caller.identity
        await operation.allow.require(self.service, identity, arguments)
        if operation.caller is not None:
            arguments[operation.caller] = identity
        try:
            return await operation.function(self.service, **arguments)
        except NotFound as missing:
            # Name only what the caller named; other lookups stay private.
            values = list(missing.key.values())
            if len(values) != 1 or values[0] not in arguments.values():
                raise
            raise Missing.of(_words(missing.entity), str(values[0])) from missing
        except pydantic.ValidationError as wrong:
            if wrong.title not in self.service.db.context.design.entities:
                raise
            raise ValueRefused(str(wrong), complaints(wrong)) from wrong

    def _scoped_request_id(self, operation: Operation, caller: Caller, request_id: str) -> str:
        """A request id that is unique per caller and operation."""
        parts = [self.service.name, operation.name, caller.bucket, request_id]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()

    def _count(self, work: Work) -> None:
        metrics, service, operation = self._metrics, self.service.name, work.name
        left_out.set(work.undecodable)
        if work.undecodable:
            metrics.undecodable.add(work.undecodable, service, operation)
        for name, usage in work.usage.items():
            if usage.calls:
                metrics.calls.add(usage.calls, service, name)
            if usage.read_units:
                metrics.units.add(usage.read_units, service, operation, "read")
            if usage.write_units:
                metrics.units.add(usage.write_units, service, operation, "write")


def _words(name: str) -> str:
    """UserProfile becomes "user profile"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
