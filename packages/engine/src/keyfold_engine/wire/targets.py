"""The operations that `X-Amz-Target` can name, and how each runs."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from keyfold_engine.clients.target import STREAM_OPERATIONS, target
from keyfold_engine.engine import operations


class OperationRunner(Enum):
    """Where an operation runs."""

    INLINE = "on the event loop: a read of microseconds"
    COMMIT = "with the other writes of the moment, sharing their commit"
    THREAD = "in a thread: may take long, or changes tables"


class Target(NamedTuple):
    """One operation of the API."""

    operation: str
    run: OperationRunner
    slot: int
    """Its index in the metrics."""


_INLINE: Final = {
    "BatchGetItem",
    "GetItem",
    "ListTables",
    "Query",
    "TransactGetItems",
    *STREAM_OPERATIONS,
}
COMMITTED: Final = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


def _target(operation: str, slot: int) -> Target:
    if operation in _INLINE:
        return Target(operation, OperationRunner.INLINE, slot)
    return Target(
        operation,
        OperationRunner.COMMIT if operation in COMMITTED else OperationRunner.THREAD,
        slot,
    )


TARGETS: Final = {
    target(operation).encode(): _target(operation, slot)
    for slot, operation in enumerate(sorted(operations.NAMES))
}
