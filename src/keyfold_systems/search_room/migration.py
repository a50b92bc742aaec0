"""The document's migration: a table from before its indexes and its TTL becomes this design's.

Both indexes are added online, one after the other, and listings that were there get their keys.
`ttl` is enabled last. What the document leaves out is done on the way: seen-by lists become sets,
duplicates are found by their unique markers, memberships get what their lists show.
"""

from __future__ import annotations

from typing import Any

from keyfold.migrations import (
    CreateIndex,
    EnableStream,
    EnableTtl,
    Migration,
    Rewrite,
    add_attribute,
    fill_indexes,
    rebuild,
    recount,
)
from keyfold_systems.search_room.design import Listing, design, table

NAME = table.name


def seen_by_set(item: dict[str, Any]) -> dict[str, Any]:
    """A list of people as a set; DynamoDB has no empty ones."""
    seen = item.get("seenBy", {})
    if "L" not in seen:
        return item
    people = sorted({one["S"] for one in seen["L"]})
    rest = {name: value for name, value in item.items() if name != "seenBy"}
    return {**rest, "seenBy": {"SS": people}} if people else rest


def seen_by_list(item: dict[str, Any]) -> dict[str, Any]:
    seen = item.get("seenBy", {})
    if "SS" not in seen:
        return item
    return {**item, "seenBy": {"L": [{"S": one} for one in seen["SS"]]}}


def first_version(item: dict[str, Any]) -> int | None:
    """Rooms and listings are edited by several people, so their edits are counted."""
    edited = item["SK"] == "ROOM" or item["SK"].startswith("LISTING#")
    return 1 if edited else None


def unknown_name(item: dict[str, Any]) -> str | None:
    """The place of the room's name in a membership; `keyfold repair` fills it in."""
    in_a_room = item["PK"].startswith("ROOM#") and item["SK"].startswith("MEMBER#")
    of_a_user = item["PK"].startswith("USER#") and item["SK"].startswith("ROOM#")
    return "" if in_a_room or of_a_user else None


migration = Migration(
    "search-room-indexes",
    [
        *(CreateIndex(NAME, index) for index in table.schema.indexes),
        EnableStream(NAME),
        Rewrite("turn the lists seenBy into sets", NAME, seen_by_set, seen_by_list),
        add_attribute(NAME, "version", first_version),
        add_attribute(NAME, "roomName", unknown_name),
        fill_indexes(Listing),
        rebuild(Listing),
        recount(design),
        EnableTtl(NAME, "ttl"),
    ],
    description="Both indexes with their keys on all listings, then expiry.",
)
