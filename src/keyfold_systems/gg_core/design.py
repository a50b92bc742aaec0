"""The design of gg_core: its entities, its access patterns, and what follows a change."""

from __future__ import annotations

from keyfold_systems.gg_core import events, patterns, quests
from keyfold_systems.gg_core.entities import design, home, table

__all__ = ["design", "events", "home", "patterns", "quests", "table"]
