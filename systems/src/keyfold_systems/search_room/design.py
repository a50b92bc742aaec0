"""The design of Search Room: its entities, its access patterns, and what follows from a change."""

from __future__ import annotations

from keyfold_systems.search_room import events, notifications, oversight, patterns, removal
from keyfold_systems.search_room.entities import design, table

__all__ = ["design", "events", "notifications", "oversight", "patterns", "removal", "table"]
