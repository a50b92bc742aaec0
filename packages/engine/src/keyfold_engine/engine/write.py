"""The one write path: old item, condition, new item, size, row, index entries, stream record.

Every write of every operation is prepared and then stored by this module, inside a transaction.
`prepare` only reads, so a request with many writes prepares all of them before it stores the first.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from keyfold_engine.engine import collections, indexes, streams
from keyfold_engine.engine.capacity import Capacity
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.lane import check
from keyfold_engine.engine.storage import Session, StoredItem
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import ConditionFailed, ValidationError
from keyfold_engine.limits import ITEM_BYTES, KB
from keyfold_engine.values import Item
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.units import write_units

# Smaller items are parsed within microseconds.
_SMALL_BODY = 4 * KB

Condition = Callable[[Item], bool]


class NewItem:
    """An item about to be stored: validated, measured and encoded."""

    __slots__ = ("body", "item", "size")

    def __init__(self, item: Item, size: int) -> None:
        self.item, self.body, self.size = item, orjson.dumps(item), size

    @classmethod
    def put(cls, item: NormalItem) -> NewItem:
        """An item as it came in a request."""
        if item.size > ITEM_BYTES:
            raise ValidationError("Item size has exceeded the maximum allowed size")
        return cls(item, item.size)

    def as_change(self, _old: NormalItem | None) -> NewItem:
        """The change that puts this item, regardless of the old one."""
        return self


Change = Callable[[NormalItem | None], NewItem | None]


class ItemWrite:
    """What a request does to one item.

    `change` computes the new item (None deletes) from the old one; without it only the condition is
    checked. `decodes` says whether the change or the answer uses the members of the old one.
    """

    __slots__ = (
        "change", "condition", "decodes", "identity", "origin", "place", "returns_item", "table",
    )  # fmt: skip

    def __init__(
        self,
        table: TableDefinition,
        place: bytes,
        change: Change | None,
        *,
        condition: Condition | None = None,
        returns_item: bool = False,
        decodes: bool = True,
        identity: dict[str, str] | None = None,
        origin: tuple[float, str] | None = None,
    ) -> None:
        """`origin` is the time and region of a change made in another region."""
        self.origin = origin
        self.table = table
        self.place = place
        self.change = change
        self.condition = condition
        self.returns_item = returns_item
        self.decodes = decodes or condition is not None or table.tracks_changes
        self.identity = identity


class Prepared:
    """A write whose condition holds, with the item before and after."""

    __slots__ = ("new", "old", "stored", "write")

    def __init__(
        self,
        write: ItemWrite,
        stored: StoredItem | None,
        old: Item | None,
        new: NewItem | None,
    ) -> None:
        self.write, self.stored, self.old, self.new = write, stored, old, new

    def capacity(self) -> Capacity:
        """The capacity that storing it consumes."""
        table = self.write.table
        before = self.stored.size if self.stored else 0
        after = self.new.size if self.new else 0
        billed = max(before, after)
        if table.further_indexes:
            new = self.new.item if self.new else None
            billed = max(before - table.saving(self.old), after - table.saving(new))
        consumed = Capacity(table.name, write_units(billed))
        if self.write.change is not None:
            for index in table.further_indexes:
                if size := index.billed(self.old, self.new.item if self.new else None):
                    consumed.further_indexes[index.name] = size
            for change in indexes.changes(table, self.write.place, self.old, before, self.new):
                consumed.add_index(change.index, change.units())
        return consumed

    def largest(self) -> tuple[str, int]:
        """The table, and the larger of the sizes before and after."""
        before = self.stored.size if self.stored else 0
        return self.write.table.name, max(before, self.new.size if self.new else 0)

    @property
    def item(self) -> Item:
        """The item that changed: as it is after, or if it was deleted before."""
        item = self.old if self.new is None else self.new.item
        assert item is not None, "a change has an item before or after"
        return item

    def is_change(self) -> bool:
        if self.old is None or self.new is None:
            return self.old is not None or self.new is not None
        return self.old != self.new.item


def execute(database: Database, session: Session, write: ItemWrite) -> Prepared:
    """Prepare one write and store it."""
    prepared = prepare(session, write)
    store(database, session, prepared)
    return prepared


def prepare(session: Session, write: ItemWrite) -> Prepared:
    """Read the old item, check the condition and compute the new one; stores nothing."""
    stored = session.find(write.table.id, write.place)
    old: NormalItem | None = None
    if stored is not None and write.decodes:
        if len(stored.body) > _SMALL_BODY:
            check(len(stored.body))
        old = NormalItem(orjson.loads(stored.body), stored.size)
    if write.condition is not None and not write.condition(old or {}):
        raise ConditionFailed(item=old if write.returns_item else None)
    new = write.change(old) if write.change is not None else None
    return Prepared(write, stored, old, new)


def store(database: Database, session: Session, prepared: Prepared) -> None:
    """Store the prepared write."""
    write, new, stored = prepared.write, prepared.new, prepared.stored
    if write.change is None:
        return
    table = write.table
    if table.local_indexes:
        # Only the item's collection can turn out to be too large after the change.
        session.guard()
    if database.heat is not None:
        database.heat.write(table, write.place, prepared.capacity().table)
    expires = table.expiry(new.item) if new is not None and table.ttl is not None else None
    row = 0 if stored is None else stored.row
    for precede in table.before:
        precede(database, session, prepared)
    if new is None:
        if stored is not None:
            session.delete(table.id, row)
    elif stored is None:
        row = session.insert(table.id, write.place, new.size, expires, new.body)
    else:
        session.replace(table.id, row, new.size, expires, new.body)
    if table.indexes:
        old_size = stored.size if stored is not None else 0
        changes = indexes.moves(table, write.place, prepared.old, old_size, new)
        if table.local_indexes:
            growth = (new.size if new is not None else 0) - old_size
            collections.grow(session, table, write.place, growth, changes)
        database.lag.note(table, write.place, stored.body if stored else None)
        for change in changes:
            change.store(session, table, row)
        if table.is_filling:
            database.backfills.note(table, row)
    elif table.further_indexes:
        database.lag.note(table, write.place, stored.body if stored else None)
    if (table.stream is not None or table.after) and prepared.is_change():
        if table.stream is not None:
            image = None if new is None else (new.size, new.body)
            streams.record(
                database, session, table, write.place, prepared.item, stored, image, write.identity
            )
        for follow in table.after:
            follow(database, session, prepared, row)


def deletion(_old: NormalItem | None) -> None:
    """The change that deletes an item."""
