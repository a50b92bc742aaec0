"""The design of TamaFriends: its entities, its access patterns, and what follows a change."""

from __future__ import annotations

from keyfold_systems.tamafriends import departures, events, notices, patterns
from keyfold_systems.tamafriends.entities import design, home, table

__all__ = ["departures", "design", "events", "home", "notices", "patterns", "table"]
