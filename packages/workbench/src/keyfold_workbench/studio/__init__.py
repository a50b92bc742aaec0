"""The studio: a design, its data and its consequences, in the browser."""

from __future__ import annotations

from keyfold_workbench.studio.app import create_studio
from keyfold_workbench.studio.gate import Gate
from keyfold_workbench.studio.system import StudioSystem

__all__ = ["Gate", "StudioSystem", "create_studio"]
