"""The design: its entities, its access patterns and its domain events."""

from __future__ import annotations

from keyfold_systems.gg_core import events, patterns
from keyfold_systems.gg_core.entities import design, home, table

__all__ = ["design", "events", "home", "patterns", "table"]
