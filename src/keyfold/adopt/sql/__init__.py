"""A relational schema as a draft of a design, with the questions that stay open."""

from __future__ import annotations

from keyfold.adopt.sql.design import design_from_sql

__all__ = ["design_from_sql"]
