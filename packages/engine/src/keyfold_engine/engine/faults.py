"""Fault injection: production faults on request, from a seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from keyfold_engine.clock import Clock
from keyfold_engine.engine.capacity import tables_of
from keyfold_engine.engine.places import HASH_BYTES
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import (
    CancellationReason,
    ReplicatedWriteConflict,
    RequestLimitExceeded,
    RequestRateExceeded,
    Throttled,
    ThrottlingError,
    ThrottlingReason,
    Timeout,
    TransactionCanceled,
    TransactionConflict,
)
from keyfold_engine.limits import PARTITION_READ_UNITS, PARTITION_WRITE_UNITS
from keyfold_engine.operations import READS, SINGLE_WRITES

Request = dict[str, Any]
Answer = dict[str, Any]

_REPLICATED = SINGLE_WRITES | {"BatchWriteItem"}
_TRANSACTIONS = frozenset(("TransactWriteItems", "ExecuteTransaction"))
_BATCHES = {"BatchGetItem": "UnprocessedKeys", "BatchWriteItem": "UnprocessedItems"}
_READS = READS - _BATCHES.keys() | {"ExecuteStatement"}
_READING = _READS | {"BatchGetItem"}
_ITEM_OPERATIONS = SINGLE_WRITES | _TRANSACTIONS | _READS | frozenset(_BATCHES)

_THROTTLED = (
    "The level of configured provisioned throughput for the table was exceeded. Consider "
    "increasing your provisioning level with the UpdateTable API."
)
_RATE_EXCEEDED = (
    "Throughput exceeds the maximum OnDemandThroughput configured on table or index. Adjust the "
    "maximum OnDemandThroughput or retry later."
)
_LIMIT_EXCEEDED = "Throughput exceeds the current throughput limit for your account."
_CONFLICT = "Transaction is ongoing for the item"
_REPLICA_CONFLICT = (
    "Request failed because one or more items in the request are being modified by a request in "
    "another Region"
)


class Faults:
    """How often item requests meet each fault. The same seed gives the same faults.

    `throttle`, `rate_exceeded` (ThrottlingException), `limit_exceeded` (RequestLimitExceeded, by
    the account), `conflict`, `replica_conflict`, `unprocessed` and `lose_answer` are probabilities.
    `hot_keys` throttles by DynamoDB's limits for one partition key. `latency` is a range of
    seconds. `replica_conflict` is what a write of a STRONG global table can meet in another region.
    A lost answer is the worst fault: the request was executed, and the caller sees a timeout.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        throttle: float = 0.0,
        rate_exceeded: float = 0.0,
        limit_exceeded: float = 0.0,
        hot_keys: bool = False,
        conflict: float = 0.0,
        unprocessed: float = 0.0,
        latency: tuple[float, float] | None = None,
        lose_answer: float = 0.0,
        replica_conflict: float = 0.0,
    ) -> None:
        for name, value in (
            ("throttle", throttle),
            ("rate_exceeded", rate_exceeded),
            ("limit_exceeded", limit_exceeded),
            ("conflict", conflict),
            ("unprocessed", unprocessed),
            ("lose_answer", lose_answer),
            ("replica_conflict", replica_conflict),
        ):
            if not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise ValueError(f"{name} is a probability, a number from 0 to 1: {value!r}")
        match latency:
            case None:
                pass
            case (float() | int() as shortest, float() | int() as longest) if (
                0 <= shortest <= longest
            ):
                pass
            case _:
                raise ValueError(f"latency is a (shortest, longest) pair of seconds: {latency!r}")
        from random import Random

        self._random = Random(seed)
        self._lock = Lock()
        self._refusals: tuple[tuple[float, type[ThrottlingError], str, str], ...] = (
            (throttle, Throttled, _THROTTLED, "ProvisionedThroughputExceeded"),
            (rate_exceeded, RequestRateExceeded, _RATE_EXCEEDED, "MaxOnDemandThroughputExceeded"),
            (limit_exceeded, RequestLimitExceeded, _LIMIT_EXCEEDED, "AccountLimitExceeded"),
        )
        self._conflict = conflict
        self._unprocessed, self._lose_answer = unprocessed, lose_answer
        self._latency = latency
        self._replica_conflict = replica_conflict
        self.hot_keys = hot_keys
        self._over = False

    def stop(self) -> None:
        """Stop injecting faults."""
        self._over = True

    def around(
        self,
        operation: str,
        request: Request,
        proceed: Callable[[Request], Answer],
        arn: Callable[[str], str],
    ) -> Answer:
        """Execute a request or inject a fault; `arn` names its tables."""
        if operation not in _ITEM_OPERATIONS:
            return proceed(request)
        if self._latency is not None:
            with self._lock:
                pause = self._random.uniform(*self._latency)
            time.sleep(pause)
        for probability, kind, message, limit in self._refusals:
            if self._strikes(probability):
                way = "Read" if operation in _READING else "Write"
                name = next(tables_of(request), "")
                of = name if name.startswith("arn:") else arn(f"table/{name}")
                raise kind(message, [ThrottlingReason(f"Table{way}{limit}", of)])
        if operation in _REPLICATED and self._strikes(self._replica_conflict):
            raise ReplicatedWriteConflict(_REPLICA_CONFLICT)
        if operation in SINGLE_WRITES and self._strikes(self._conflict):
            raise TransactionConflict(_CONFLICT)
        if operation in _TRANSACTIONS and self._strikes(self._conflict):
            raise self._cancellation(request)
        answer = self._leave_some_unprocessed(operation, request, proceed)
        if self._strikes(self._lose_answer):
            raise Timeout(f"no response to {operation} in time; the outcome is unknown")
        return answer

    def _strikes(self, probability: float) -> bool:
        if not probability or self._over:
            return False
        with self._lock:
            return self._random.random() < probability

    def _cancellation(self, request: Request) -> TransactionCanceled:
        parts = request.get("TransactItems") or request.get("TransactStatements") or ()
        with self._lock:
            victim = self._random.randrange(len(parts))
        return TransactionCanceled(
            reasons=[
                CancellationReason("TransactionConflict", _CONFLICT)
                if at == victim
                else CancellationReason()
                for at in range(len(parts))
            ]
        )

    def _leave_some_unprocessed(
        self, operation: str, request: Request, proceed: Callable[[Request], Answer]
    ) -> Answer:
        member = _BATCHES.get(operation)
        if member is None or not self._strikes(self._unprocessed):
            return proceed(request)
        name, left, right = self._split(request["RequestItems"])
        answer = proceed({**request, "RequestItems": {**request["RequestItems"], name: left}})
        if _entries(right):
            answer[member] = {**answer[member], name: right}
        return answer

    def _split(self, wishes: dict[str, Any]) -> tuple[str, Any, Any]:
        """Leave the end of one table's list unprocessed; at least one entry is executed."""
        name = max(wishes, key=lambda each: len(_entries(wishes[each])))
        entries = _entries(wishes[name])
        with self._lock:
            at = self._random.randint(1, len(entries))
        if isinstance(wishes[name], list):
            return name, entries[:at], entries[at:]
        return name, {**wishes[name], "Keys": entries[:at]}, {**wishes[name], "Keys": entries[at:]}


def _entries(wish: Any) -> list[Any]:
    return list(wish if isinstance(wish, list) else wish["Keys"])


class Heat:
    """The units each partition key consumed in the current second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._second = 0
        self._reads: dict[tuple[int, bytes], float] = {}
        self._writes: dict[tuple[int, bytes], float] = {}

    def read(self, table: TableDefinition, place: bytes, units: float) -> None:
        self._spend(self._reads, table, place, units, PARTITION_READ_UNITS)

    def write(self, table: TableDefinition, place: bytes, units: float) -> None:
        self._spend(self._writes, table, place, units, PARTITION_WRITE_UNITS)

    def _spend(
        self,
        spent: dict[tuple[int, bytes], float],
        table: TableDefinition,
        place: bytes,
        units: float,
        limit: int,
    ) -> None:
        key = table.id, place[: place.index(b"\0\0", HASH_BYTES)]
        with self._lock:
            second = int(self._clock.now())
            if second != self._second:
                self._second = second
                self._reads.clear()
                self._writes.clear()
            # As in DynamoDB, the request that crosses the limit passes and the next one does not.
            if spent.get(key, 0.0) >= limit:
                way = "Read" if spent is self._reads else "Write"
                reason = f"Table{way}KeyRangeThroughputExceeded"
                raise Throttled(_THROTTLED, [ThrottlingReason(reason, table.arn)])
            spent[key] = spent.get(key, 0.0) + units
