"""Conditions: what must hold before a write, or of what is read, and places inside an item."""

from keyfold.design import begins_with, between, contains, exists, missing, not_, one_of, size
from keyfold.runtime import at

__all__ = [
    "at",
    "begins_with",
    "between",
    "contains",
    "exists",
    "missing",
    "not_",
    "one_of",
    "size",
]
