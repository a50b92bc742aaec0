"""Findings, hovers and completion in editors, by the Language Server Protocol: `keyfold lsp`."""

from __future__ import annotations
