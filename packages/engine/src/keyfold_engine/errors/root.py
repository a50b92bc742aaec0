"""The root of all errors."""

from __future__ import annotations


class KeyfoldError(Exception):
    """The root of all errors raised by keyfold."""
