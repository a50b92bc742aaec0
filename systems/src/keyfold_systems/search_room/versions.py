"""Edits of what several people edit: nobody overwrites what they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from keyfold.errors import VersionConflict
from keyfold_systems.search_room.entities import Listing, Room

Edited = TypeVar("Edited", Room, Listing)


def at_version(item: Edited, expected: int | None) -> Edited:
    """An item that was just read, if it is what the caller read."""
    if expected is not None and item.version != expected:
        raise VersionConflict(f"{item.ref()} has version {item.version}, not {expected}")
    return item


def changes_of(item: Edited, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What of it is not so already."""
    return {name: value for name, value in wanted.items() if getattr(item, name) != value}
