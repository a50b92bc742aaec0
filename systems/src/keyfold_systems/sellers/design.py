"""The proposed design: its entities, its access patterns, and what a change announces."""

from __future__ import annotations

from keyfold_systems.sellers import events, notices, oversight, patterns
from keyfold_systems.sellers.entities import design

__all__ = ["design", "events", "notices", "oversight", "patterns"]
