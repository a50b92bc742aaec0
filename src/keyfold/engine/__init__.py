"""The embedded engine: DynamoDB's operations on an SQLite file, in process."""

from __future__ import annotations

from keyfold.engine.engine import Engine

__all__ = ["Engine"]
