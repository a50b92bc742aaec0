"""The proposed design: its entities and its access patterns."""

from __future__ import annotations

from keyfold_systems.sellers import patterns
from keyfold_systems.sellers.entities import design

__all__ = ["design", "patterns"]
