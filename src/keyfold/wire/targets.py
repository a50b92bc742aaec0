"""The operations a request can ask for in `X-Amz-Target`, and how each is run."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from keyfold.clients.target import STREAM_OPERATIONS, target
from keyfold.engine import operations


class OperationRunner(Enum):
    """Where the work of an operation is done."""

    INLINE = "on the event loop: a read of microseconds"
    COMMIT = "with the other writes of the moment, sharing their commit"
    THREAD = "in a thread: may take long, or changes tables"


class Target(NamedTuple):
    """One operation of the API."""

    operation: str
    run: OperationRunner
    slot: int
    """Its place in the metrics."""


_INLINE: Final = {"GetItem", "Query", "BatchGetItem", "TransactGetItems", *STREAM_OPERATIONS}
_COMMIT: Final = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


def _target(operation: str, slot: int) -> Target:
    if operation in _INLINE:
        return Target(operation, OperationRunner.INLINE, slot)
    return Target(
        operation, OperationRunner.COMMIT if operation in _COMMIT else OperationRunner.THREAD, slot
    )


TARGETS: Final = {
    target(operation).encode(): _target(operation, slot)
    for slot, operation in enumerate(sorted(operations.NAMES))
}
