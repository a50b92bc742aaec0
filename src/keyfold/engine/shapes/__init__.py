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

# Compiled once: nearly every request is right, and it should not cost a walk over its shape.
_COMPILED = {
    operation: (types.reader(shape), constraints.fitting(shape))
    for operation, shape in REQUESTS.items()
}


def check(operation: str, request: object, dialect: Dialect) -> dict[str, Any]:
    """The request without nulls and unknown members; types are checked first, then constraints."""
    if operation not in _COMPILED:
        raise UnknownOperation()
    read, fits = _COMPILED[operation]
    typed = read(request)
    if fits is not None and not fits(typed):
        constraints.check(operation, REQUESTS[operation], typed, dialect)
    return typed
