"""The shapes of requests, as data, and the one checker that reads them."""

from __future__ import annotations

from typing import Any

from keyfold.engine.dialects import Dialect
from keyfold.engine.shapes import backups, batches, constraints, items, streams, tables, types
from keyfold.engine.shapes.kinds import Structure
from keyfold.errors import UnknownOperation

REQUESTS: dict[str, Structure] = {
    **items.REQUESTS,
    **batches.REQUESTS,
    **tables.REQUESTS,
    **streams.REQUESTS,
    **backups.REQUESTS,
}


def check(operation: str, request: object, dialect: Dialect) -> dict[str, Any]:
    """The request without nulls and unknown members; types are checked first, then constraints."""
    shape = REQUESTS.get(operation)
    if shape is None:
        raise UnknownOperation()
    typed = types.read(shape, request)
    constraints.check(operation, shape, typed, dialect)
    return typed
