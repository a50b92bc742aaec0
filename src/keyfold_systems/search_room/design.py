"""The design of Search Room: its entities, its access patterns, and what a change announces."""

from __future__ import annotations

from keyfold_systems.search_room import events, patterns
from keyfold_systems.search_room.entities import design, table

__all__ = ["design", "events", "patterns", "table"]
