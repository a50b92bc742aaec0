"""The embedded engine: DynamoDB's operations on an SQLite file, in process."""

from __future__ import annotations

from keyfold_engine.engine.engine import Engine
from keyfold_engine.engine.faults import Faults

__all__ = ["Engine", "Faults"]
