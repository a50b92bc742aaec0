"""What the short way knows about a table; made once for each definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold_engine.engine.keys import are_plain
from keyfold_engine.values import Item
from keyfold_engine.values.normal import NormalItem, at_sight
from keyfold_engine.values.size import item_size

if TYPE_CHECKING:
    from keyfold_engine.engine.tables import IndexDefinition, TableDefinition

Entry = tuple[bytes, int]
"""The place of an index entry, and the size noted with it."""


class NotPlain(ValueError):
    """Something that only the general way can do."""


class DirectTable:
    """A table as the short way sees it."""

    __slots__ = (
        "definition", "expiry", "has_parts", "has_stream", "id", "index_names", "indexes",
        "is_blind", "is_text", "no_entries", "schema", "writes",
    )  # fmt: skip

    def __init__(self, table: TableDefinition) -> None:
        self.definition, self.id, self.schema = table, table.id, table.schema
        self.is_text = {*table.schema.types.values()} == {"S"}
        self.writes = not (
            table.before
            or table.after
            or table.further_indexes
            or table.local_indexes
            or table.is_filling
        )
        self.is_blind = not table.tracks_changes
        """Whether a write need not know what it replaces."""
        self.expiry = None if table.ttl is None else table.expiry
        self.has_stream = table.stream is not None
        self.indexes = table.global_indexes
        self.has_parts = any(not index.is_whole for index in self.indexes)
        """Whether an index holds parts of items, with their sizes."""
        self.index_names = frozenset(
            name for index in self.indexes for name in index.schema.attributes
        )
        self.no_entries: list[Entry | None] = [None] * len(self.indexes)

    def place_of_key(self, key: Any) -> bytes:
        """The place of a request's key."""
        if len(key) != len(self.schema.types):
            raise NotPlain
        if not self.is_text:
            key = at_sight(key)
        else:
            for value in key.values():
                if len(value) != 1:
                    raise NotPlain
        return self.place(key)

    def place(self, item: NormalItem) -> bytes:
        place = self.schema.plain_place(item)
        if place is None:
            raise NotPlain
        return place

    def entries(self, item: Item, place: bytes) -> list[Entry | None]:
        """The entries of an item in all indexes."""
        return [_entry(index, item, place) for index in self.indexes]

    def keeps_entries(self, old: Item, new: Item) -> bool:
        """Whether all entries certainly stay as they are."""
        if self.has_parts:
            return False
        return all(old.get(name) == new.get(name) for name in self.index_names)


def _entry(index: IndexDefinition, item: Item, place: bytes) -> Entry | None:
    found = index.schema.plain_place(item)
    if found is None:
        # Keys that are alone must be valid too.
        if index.schema.holds(item) or not are_plain(index.schema, item):
            raise NotPlain
        return None
    return found + place, 0 if index.is_whole else item_size(index.project(item))
