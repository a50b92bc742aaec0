"""The operations by wire name; each is imported on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.errors import UnknownOperation
from keyfold_engine.operations import OPERATIONS

Operation = Callable[[Database, dict[str, Any]], dict[str, Any]]

loaded: dict[str, Operation] = {}
"""Operations imported so far."""


def load(name: str) -> Operation:
    """The operation with this wire name."""
    known = OPERATIONS.get(name)
    if known is None:
        raise UnknownOperation(f"Unknown operation: {name}")
    function = re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()
    operation: Operation = getattr(import_module(f"keyfold_engine.{known.module}"), function)
    loaded[name] = operation
    return operation


def load_all() -> None:
    """Import all operations."""
    for name in OPERATIONS:
        load(name)
