"""The document's migration notes: both indexes, their attributes on old listings, and the TTL.

A table from before its indexes becomes this design's while it is used. No key is rewritten.
"""

from __future__ import annotations

from keyfold.migrations import (
    CreateIndex,
    EnableStream,
    EnableTtl,
    Migration,
    fill_indexes,
    rebuild,
)
from keyfold_systems.search_room.entities import Listing, table

NAME = table.name

migration = Migration(
    "search-room-indexes",
    [
        *(CreateIndex(NAME, index) for index in table.schema.indexes),
        EnableStream(NAME),
        fill_indexes(Listing),
        rebuild(Listing),
        EnableTtl(NAME, "ttl"),
    ],
    description="Both indexes with their keys on all listings, then expiry.",
)
