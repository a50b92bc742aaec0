"""The design of Search Room: its entities and its access patterns."""

from __future__ import annotations

from keyfold_systems.search_room import patterns
from keyfold_systems.search_room.entities import design, table

__all__ = ["design", "patterns", "table"]
