"""Request shapes as data, and the one checker that reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from keyfold_engine.engine.dialects import Dialect
from keyfold_engine.engine.shapes import constraints, types
from keyfold_engine.engine.shapes.kinds import Structure
from keyfold_engine.errors import UnknownOperation
from keyfold_engine.operations import OPERATIONS

Front = Callable[[object, bytes | None], None]


def every() -> dict[str, Structure]:
    """All shapes, by operation."""
    return {operation: shape(operation) for operation in OPERATIONS}


def shape(operation: str) -> Structure:
    """The request shape of an operation."""
    found: Structure = _module(operation).REQUESTS[operation]
    return found


def _module(operation: str) -> Any:
    """The module of an operation's shape, imported on first use."""
    if operation not in OPERATIONS:
        raise UnknownOperation(f"Unknown operation: {operation}")
    return import_module(f"keyfold_engine.{OPERATIONS[operation].shapes}")


def check(
    operation: str, request: object, dialect: Dialect, body: bytes | None = None
) -> dict[str, Any]:
    """The request without nulls and unknown members; checks types first, then constraints.

    `body` is the text it came in, if any.
    """
    front, read, fits = _compiled(operation)
    if front is not None:
        front(request, body)
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
def _compiled(operation: str) -> tuple[Front | None, types.Reader, constraints.Test | None]:
    known = shape(operation)
    # What a module checks before all else, on the request as it came.
    front = getattr(_module(operation), "check_front", None)
    return front, types.reader(known), constraints.fitting(known)
