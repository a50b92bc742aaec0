"""How a write changes index entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition, partition_of
from keyfold_engine.values import Item
from keyfold_engine.values.size import item_size
from keyfold_engine.values.units import entry_units

if TYPE_CHECKING:
    from keyfold_engine.engine.direct.writes import DirectWrite
    from keyfold_engine.engine.write import NewItem


class Entry:
    """An item's entry in an index; its place is computed on demand."""

    __slots__ = ("_index", "_item_place", "item", "size")

    def __init__(self, index: IndexDefinition, item_place: bytes, item: Item, size: int) -> None:
        self._index, self._item_place, self.item, self.size = index, item_place, item, size

    @property
    def place(self) -> bytes:
        return self._index.schema.place(self.item) + self._item_place

    @property
    def noted_size(self) -> int:
        """The size kept with it: 0 if the index is of whole items, which have their own."""
        return 0 if self._index.is_whole else self.size


class EntryChange:
    """The entry of one item in one index, before and after a write."""

    __slots__ = ("after", "before", "index")

    def __init__(self, index: IndexDefinition, before: Entry | None, after: Entry | None) -> None:
        self.index, self.before, self.after = index, before, after

    def is_move(self) -> bool:
        """Whether the entry exists before and after, in different places."""
        if self.before is None or self.after is None:
            return False
        old, new = self.before.item, self.after.item
        for name in self.index.schema.attributes:
            if old[name] != new[name]:
                # Two base64 texts can encode the same bytes.
                return self.before.place != self.after.place
        return False

    def growth(self) -> int:
        """The growth of the index in bytes."""
        before, after = self.before, self.after
        return (after.size if after else 0) - (before.size if before else 0)

    def units(self) -> float:
        before, after = self.before, self.after
        if before is None or after is None:
            sizes = (before.size if before else None, after.size if after else None)
            return entry_units(*sizes, moved=True, changed=True)
        return entry_units(
            before.size, after.size, moved=self.is_move(), changed=before.item != after.item
        )

    def store(self, session: Session, table: TableDefinition, row: int) -> None:
        before, after = self.before, self.after
        moved = self.is_move()
        if before is not None and (after is None or moved):
            session.delete_entry(table.id, self.index.number, before.place)
        if after is not None and (before is None or moved or before.noted_size != after.noted_size):
            session.insert_entry(table.id, self.index.number, after.place, after.noted_size, row)


def entry(index: IndexDefinition, place: bytes, item: Item, size: int) -> Entry | None:
    """The entry of an item, or None if the index cannot hold its keys."""
    if not index.schema.holds(item):
        return None
    if index.attributes is None:
        return Entry(index, place, item, size)
    projected = index.project(item)
    return Entry(index, place, projected, item_size(projected))


def changes(
    table: TableDefinition,
    place: bytes,
    old: Item | None,
    old_size: int,
    new: NewItem | DirectWrite | None,
    among: Sequence[IndexDefinition] | None = None,
) -> list[EntryChange]:
    """A change for each index, of all or `among` some, that holds the item before or after."""
    found = []
    for index in table.indexes if among is None else among:
        before = entry(index, place, old, old_size) if old is not None else None
        after = entry(index, place, new.item, new.size) if new is not None else None
        if before is not None or after is not None:
            found.append(EntryChange(index, before, after))
    return found


def moves(
    table: TableDefinition, place: bytes, old: Item | None, old_size: int, new: NewItem | None
) -> list[EntryChange]:
    """The same, without entries that certainly keep their place and size."""
    if old is None or new is None:
        return changes(table, place, old, old_size, new)
    grows = old_size != new.size
    moved = [each for each in table.indexes if _may_move(each, old, new.item, grows=grows)]
    return changes(table, place, old, old_size, new, moved) if moved else []


def _may_move(index: IndexDefinition, old: Item, new: Item, *, grows: bool) -> bool:
    if not index.is_whole and (grows or index.attributes is not None):
        return True
    return any(old.get(name) != new.get(name) for name in index.schema.attributes)


def enter(
    session: Session, table: TableDefinition, row: int, place: bytes, size: int, body: bytes
) -> None:
    """Make all entries of an item that was stored without them."""
    if not table.indexes and not table.further_indexes:
        return
    item, collected = orjson.loads(body), size
    for index in table.indexes:
        if (made := entry(index, place, item, size)) is not None:
            session.insert_entry(table.id, index.number, made.place, made.noted_size, row)
            collected += made.size if index.is_local else 0
    if table.local_indexes:
        session.grow_collection(table.id, partition_of(place), collected)
    for further in table.further_indexes:
        further.fill(session, table.id, row, item)
