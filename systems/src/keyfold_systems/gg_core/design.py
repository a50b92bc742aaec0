"""The design of gg_core: its entities, its access patterns, and what follows a change."""

from __future__ import annotations

from keyfold_systems.gg_core import departure, events, notices, oversight, patterns, quests, rooms
from keyfold_systems.gg_core.entities import design, home, table

__all__ = [
    "departure",
    "design",
    "events",
    "home",
    "notices",
    "oversight",
    "patterns",
    "quests",
    "rooms",
    "table",
]
