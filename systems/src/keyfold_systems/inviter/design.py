"""The design of Inviter: its entities, its access patterns, and what a change announces."""

from __future__ import annotations

from keyfold_systems.inviter import events, notices, oversight, patterns, removal
from keyfold_systems.inviter.entities import design, table

__all__ = ["design", "events", "notices", "oversight", "patterns", "removal", "table"]
