"""The design of Inviter: its entities and its access patterns."""

from __future__ import annotations

from keyfold_systems.inviter import patterns
from keyfold_systems.inviter.entities import design, table

__all__ = ["design", "patterns", "table"]
