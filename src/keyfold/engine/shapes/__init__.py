"""The shapes of requests, as data, and the one checker that reads them."""

from __future__ import annotations

from functools import cache
from typing import Any

from keyfold.engine.dialects import Dialect
from keyfold.engine.shapes import (
    backups,
    batches,
    bulk,
    constraints,
    global_tables,
    insights,
    items,
    policies,
    searches,
    streams,
    tables,
    types,
)
from keyfold.engine.shapes.kinds import Structure
from keyfold.errors import UnknownOperation

REQUESTS: dict[str, Structure] = {
    **items.REQUESTS,
    **batches.REQUESTS,
    **tables.REQUESTS,
    **streams.REQUESTS,
    **backups.REQUESTS,
    **searches.REQUESTS,
    **global_tables.REQUESTS,
    **insights.REQUESTS,
    **bulk.REQUESTS,
    **policies.REQUESTS,
}


def check(
    operation: str, request: object, dialect: Dialect, body: bytes | None = None
) -> dict[str, Any]:
    """The request without nulls and unknown members; types are checked first, then constraints.

    `body` is the text it came in, if it did.
    """
    if operation not in REQUESTS:
        raise UnknownOperation(f"Unknown operation: {operation}")
    if operation == searches.OPERATION:
        searches.check_front(request, body)
    read, fits = _compiled(operation)
    typed: dict[str, Any] = read(request)
    if fits is not None and not fits(typed):
        constraints.check(operation, REQUESTS[operation], typed, dialect)
    return typed


# Nearly every request is right, and that should not cost a walk over its shape.
@cache
def _compiled(operation: str) -> tuple[types.Reader, constraints.Test | None]:
    shape = REQUESTS[operation]
    return types.reader(shape), constraints.fitting(shape)
