"""A client that records requests, within limits, and can hold writes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold_engine.clients.protocol import Client
from keyfold_engine.errors import KeyfoldError
from keyfold_engine.operations import HARMLESS, READS, WRITES

_SINGLE: Final = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}


class WriteHeldBack(KeyfoldError):
    """A write that was not sent, as the client's last request."""


class LimitReached(KeyfoldError):
    """A read exceeded its limit."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one task may read from a backend."""

    requests: int = 100
    units: float = 1_000.0
    seconds: float = 20.0


@dataclass(slots=True)
class SentRequest:
    """One request, and the units its answer reported."""

    operation: str
    request: dict[str, Any]
    units: float = 0.0
    searched_bytes: float = 0.0
    """The bytes that a vector search examined, which are billed."""

    @property
    def entries(self) -> list[tuple[str, dict[str, Any]]]:
        """The single writes of a request: Put, Update, Delete or ConditionCheck, and its body."""
        if self.operation in _SINGLE:
            return [(_SINGLE[self.operation], self.request)]
        listed = self.request.get("TransactItems", ())
        return [(action, body) for one in listed for action, body in one.items()]


@dataclass(slots=True)
class RecordedClient:
    """Wraps another client. A write is recorded and refused with WriteHeldBack."""

    client: Client
    limits: ReadLimits = field(default_factory=ReadLimits)
    writes: bool = False
    approve: Callable[[SentRequest], None] | None = None
    """Called with each write before it is sent; raises to refuse it."""
    requests: list[SentRequest] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)

    @property
    def units(self) -> float:
        return sum(one.units for one in self.requests)

    @property
    def searched_bytes(self) -> float:
        return sum(one.searched_bytes for one in self.requests)

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        measured = operation in READS or operation in WRITES
        more = {"ReturnConsumedCapacity": "TOTAL"} if measured else {}
        sent = SentRequest(operation, {**request})
        self._check(operation)
        self.requests.append(sent)
        if operation not in HARMLESS and not self.writes:
            raise WriteHeldBack(f"{operation} was not sent: this backend is read-only here")
        if self.approve is not None and operation in WRITES:
            self.approve(sent)
        answer = self.client.call(operation, {**request, **more})
        consumed = answer.get("ConsumedCapacity") or []
        listed = consumed if isinstance(consumed, list) else [consumed]
        sent.units = sum(float(one.get("CapacityUnits", 0.0)) for one in listed)
        sent.searched_bytes = sum(float(one.get("VectorSearchRequestBytes", 0.0)) for one in listed)
        return answer

    def close(self) -> None:
        """Leaves the other client open."""

    def _check(self, operation: str) -> None:
        limits = self.limits
        for what, taken, most in (
            ("requests", len(self.requests), limits.requests),
            ("units", self.units, limits.units),
            ("seconds", time.monotonic() - self._started, limits.seconds),
        ):
            if taken >= most:
                raise LimitReached(
                    f"{operation} was not sent: this has taken {most:g} {what}, the limit. "
                    "Request less at once"
                )
