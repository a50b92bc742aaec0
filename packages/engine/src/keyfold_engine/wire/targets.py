"""The operations that `X-Amz-Target` can name, and how each runs."""

from __future__ import annotations

from typing import Final, NamedTuple

from keyfold_engine.operations import OPERATIONS, Runner, target


class Target(NamedTuple):
    """One operation of the API."""

    operation: str
    run: Runner
    slot: int
    """Its index in the metrics."""


TARGETS: Final = {
    target(row.name).encode(): Target(row.name, row.runner, slot)
    for slot, row in enumerate(OPERATIONS.values())
}
