"""The embedded engine: DynamoDB's operations on an SQLite file, in process."""

from __future__ import annotations

from keyfold.engine.engine import Engine
from keyfold.engine.faults import Faults

__all__ = ["Engine", "Faults"]
