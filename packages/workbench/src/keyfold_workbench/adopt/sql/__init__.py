"""Drafts a design from a relational schema, with open questions."""

from __future__ import annotations

from keyfold_workbench.adopt.sql.design import design_from_sql

__all__ = ["design_from_sql"]
