"""How a write changes index entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keyfold.engine.storage import Session
from keyfold.engine.tables import Index, Table
from keyfold.values import Item
from keyfold.values.size import item_size
from keyfold.values.units import entry_units

if TYPE_CHECKING:
    from keyfold.engine.write import NewItem


class Entry:
    """Where an item stands in an index, and what the index holds of it."""

    __slots__ = ("item", "place", "size")

    def __init__(self, place: bytes, item: Item, size: int) -> None:
        self.place, self.item, self.size = place, item, size


class EntryChange:
    """The entry of one item in one index, before and after a write."""

    __slots__ = ("after", "before", "index")

    def __init__(self, index: Index, before: Entry | None, after: Entry | None) -> None:
        self.index, self.before, self.after = index, before, after

    def units(self) -> float:
        before, after = self.before, self.after
        if before is None or after is None:
            sizes = (before.size if before else None, after.size if after else None)
            return entry_units(*sizes, moved=True, changed=True)
        return entry_units(
            before.size,
            after.size,
            moved=before.place != after.place,
            changed=before.item != after.item,
        )

    def store(self, session: Session, table: Table, row: int) -> None:
        before, after = self.before, self.after
        if before is not None and (after is None or before.place != after.place):
            session.delete_entry(table.id, self.index.number, before.place)
        if after is not None and (
            before is None or before.place != after.place or before.size != after.size
        ):
            session.insert_entry(table.id, self.index.number, after.place, after.size, row)


def entry(index: Index, place: bytes, item: Item, size: int) -> Entry | None:
    """The entry of an item, or None where it lacks the index keys."""
    if not index.schema.has(item):
        return None
    projected = index.project(item)
    return Entry(
        index.schema.place(item) + place,
        projected,
        size if projected is item else item_size(projected),
    )


def changes(
    table: Table, place: bytes, old: Item | None, old_size: int, new: NewItem | None
) -> Iterator[EntryChange]:
    """Each index that holds the item before or after."""
    for index in table.indexes:
        before = entry(index, place, old, old_size) if old is not None else None
        after = entry(index, place, new.item, new.size) if new is not None else None
        if before is not None or after is not None:
            yield EntryChange(index, before, after)
