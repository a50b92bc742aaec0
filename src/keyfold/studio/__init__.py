"""The studio: a design, its data and its consequences, in the browser."""

from __future__ import annotations

from keyfold.studio.app import create_studio
from keyfold.studio.gate import Gate
from keyfold.studio.system import StudioSystem, Trial

__all__ = ["Gate", "StudioSystem", "Trial", "create_studio"]
