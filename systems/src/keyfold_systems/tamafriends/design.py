"""The design: its entities and its access patterns."""

from __future__ import annotations

from keyfold_systems.tamafriends import patterns
from keyfold_systems.tamafriends.entities import design, table

__all__ = ["design", "patterns", "table"]
