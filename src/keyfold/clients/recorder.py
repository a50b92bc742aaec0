"""A client that keeps what was sent, within limits, and can hold writes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold.clients.protocol import Client
from keyfold.errors import KeyfoldError

READS: Final = frozenset(
    {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems", "SearchVectors"}
)
WRITES: Final = frozenset(
    {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
)
_SINGLE: Final = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
_LOOKS: Final = READS | {
    "DescribeTable", "DescribeTimeToLive", "ListTables",
    "DescribeStream", "GetRecords", "GetShardIterator", "ListStreams",
}  # fmt: skip


class WriteHeldBack(KeyfoldError):
    """A write that was not sent; it is the last of the client's requests."""


class LimitReached(KeyfoldError):
    """A read took more than it may."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one task may take from a backend."""

    requests: int = 100
    units: float = 1_000.0
    seconds: float = 20.0


@dataclass(slots=True)
class SentRequest:
    """One request, and the units that its answer named."""

    operation: str
    request: dict[str, Any]
    units: float = 0.0
    searched_bytes: float = 0.0
    """What a vector search looked at, which is paid for by bytes."""

    @property
    def entries(self) -> list[tuple[str, dict[str, Any]]]:
        """The single writes of a request: Put, Update, Delete or ConditionCheck, and its body."""
        if self.operation in _SINGLE:
            return [(_SINGLE[self.operation], self.request)]
        listed = self.request.get("TransactItems", ())
        return [(action, body) for one in listed for action, body in one.items()]


@dataclass(slots=True)
class RecordedClient:
    """Calls another client. A write is held back: recorded, and refused with WriteHeldBack."""

    client: Client
    limits: ReadLimits = field(default_factory=ReadLimits)
    writes: bool = False
    approve: Callable[[SentRequest], None] | None = None
    """Sees each write before it is sent, and raises what speaks against it."""
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
        if operation not in _LOOKS and not self.writes:
            raise WriteHeldBack(f"{operation} was not sent: nothing may be written here")
        if self.approve is not None and operation in WRITES:
            self.approve(sent)
        answer = self.client.call(operation, {**request, **more})
        consumed = answer.get("ConsumedCapacity") or []
        listed = consumed if isinstance(consumed, list) else [consumed]
        sent.units = sum(float(one.get("CapacityUnits", 0.0)) for one in listed)
        sent.searched_bytes = sum(float(one.get("VectorSearchRequestBytes", 0.0)) for one in listed)
        return answer

    def close(self) -> None:
        """The other client stays open: it was lent."""

    def _check(self, operation: str) -> None:
        limits = self.limits
        for what, taken, most in (
            ("requests", len(self.requests), limits.requests),
            ("units", self.units, limits.units),
            ("seconds", time.monotonic() - self._started, limits.seconds),
        ):
            if taken >= most:
                raise LimitReached(
                    f"{operation} was not sent: this has taken {most:g} {what}, and may not take "
                    "more. Ask for less at once"
                )
