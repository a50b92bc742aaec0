"""Request shapes as data, and the one checker that reads them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from keyfold_engine.engine.dialects import Dialect
from keyfold_engine.engine.shapes import constraints, types
from keyfold_engine.engine.shapes.kinds import Structure
from keyfold_engine.errors import UnknownOperation

# Each is imported when an operation is needed that the earlier ones lack.
_MODULES = (
    "items",
    "batches",
    "tables",
    "streams",
    "backups",
    "searches",
    "global_tables",
    "insights",
    "bulk",
    "policies",
)


def requests(module: str) -> dict[str, Structure]:
    """The shapes of one module, by operation."""
    found: dict[str, Structure] = import_module(f"{__name__}.{module}").REQUESTS
    return found


def every() -> dict[str, Structure]:
    """All shapes, by operation."""
    return {
        operation: shape for module in _MODULES for operation, shape in requests(module).items()
    }


def shape(operation: str) -> Structure:
    """The request shape of an operation."""
    for module in _MODULES:
        if operation in (known := requests(module)):
            return known[operation]
    raise UnknownOperation(f"Unknown operation: {operation}")


def check(
    operation: str, request: object, dialect: Dialect, body: bytes | None = None
) -> dict[str, Any]:
    """The request without nulls and unknown members; checks types first, then constraints.

    `body` is the text it came in, if any.
    """
    read, fits = _compiled(operation)
    if operation == "SearchVectors":
        from keyfold_engine.engine.shapes import searches

        searches.check_front(request, body)
    typed: dict[str, Any] = read(request)
    if fits is not None and not fits(typed):
        constraints.check(operation, shape(operation), typed, dialect)
    return typed


def compile_all() -> None:
    """Compile the checks of every operation, which otherwise happens at its first request."""
    for operation in every():
        _compiled(operation)


# Nearly every request is valid, and should not cost a walk over its shape.
@cache
def _compiled(operation: str) -> tuple[types.Reader, constraints.Test | None]:
    known = shape(operation)
    return types.reader(known), constraints.fitting(known)
