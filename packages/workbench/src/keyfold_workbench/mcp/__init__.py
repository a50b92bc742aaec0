"""Tools over a design for assistants, by the Model Context Protocol: `keyfold mcp`."""

from __future__ import annotations

from keyfold_workbench.mcp.server import create_server
from keyfold_workbench.mcp.workspace import Workspace

__all__ = ["Workspace", "create_server"]
